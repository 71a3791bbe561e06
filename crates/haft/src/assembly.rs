//! Putting the parts together.

use std::path::PathBuf;
use std::sync::Arc;

use haft_coding::{Bash, CodingTools, Toolset};
use haft_policy::Policy;
use haft_protocol::{Caller, Entrance, Outcome, QualifiedName, RawArguments, RunId, ToolCall};
use haft_store::{Redaction, Retention, Store, StoreConfig, StoreError};
use haft_tool::ports::none::{
    NoApprover, NoArtifacts, NoCapture, NoCheckpoints, NoEffects, NoExclusion, NoJournal,
};
use haft_tool::ports::{
    Approver, Artifacts, Capture, Checkpoints, Effects, Exclusion, Journal, PortError,
};
use haft_tool::{
    Alias, BuildContext, CallContext, Dispatch, DispatchLimits, Dispatched, DrawnIds, Hooks,
    OnConflict, Ports, Registry, RegistryError, Selection, SystemClock, ToolSource,
};
use haft_workspace::{
    Protection, Repaired, TreeScan, Workspace, WorkspaceBinder, WorkspaceConfig, WorkspaceError,
    repair,
};

/// Where records go.
#[derive(Debug, Clone, Default)]
pub enum State {
    /// Nowhere: calls leave no record.
    #[default]
    None,
    /// Into memory, gone with the value.
    Memory,
    /// Into a state directory, which tools are kept out of.
    Directory(StoreConfig),
}

/// A set of parts that could not be put together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// A root cannot be opened.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The state directory cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Two tools share a name, or a source cannot build.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// An alias cannot be shown.
    #[error("the alias `{name}` cannot be shown")]
    Alias {
        /// The alias.
        name: QualifiedName,
        /// Why.
        #[source]
        source: Box<RegistryError>,
    },
}

/// A set of parts that could not be put together, or a policy that could not be made for it.
#[derive(Debug, thiserror::Error)]
pub enum OpenWithError<E> {
    /// The parts.
    #[error(transparent)]
    Open(OpenError),
    /// The policy.
    #[error(transparent)]
    Policy(E),
}

/// Everything a program needs to make calls: a workspace, tools, a policy, a dispatch and its records.
#[derive(Debug)]
pub struct Haft {
    dispatch: Dispatch,
    registry: Arc<Registry>,
    workspace: Workspace,
    policy: Arc<Policy>,
    hooks: Arc<Hooks>,
    store: Option<Store>,
    repaired: Vec<Repaired>,
    run: RunId,
    calls_per_step: u64,
    calls_per_run: u64,
}

/// A [`Haft`] in the making.
pub struct HaftBuilder {
    roots: Vec<PathBuf>,
    protection: Protection,
    own: Vec<(PathBuf, &'static str)>,
    policy: Policy,
    hooks: Hooks,
    state: State,
    approver: Arc<dyn Approver>,
    limits: DispatchLimits,
    calls_per_step: u64,
    calls_per_run: u64,
    toolset: Toolset,
    bash: Option<Bash>,
    sources: Vec<Arc<dyn ToolSource>>,
    aliases: Vec<(Alias, String)>,
}

impl Haft {
    /// Starts with the built-in tools, the standard protection list, the preset `edit`, no records and nobody to ask.
    pub fn builder() -> HaftBuilder {
        HaftBuilder {
            roots: Vec::new(),
            protection: Protection::standard(),
            own: Vec::new(),
            policy: Policy::default(),
            hooks: Hooks::none(),
            state: State::default(),
            approver: Arc::new(NoApprover),
            limits: DispatchLimits::default(),
            calls_per_step: haft_protocol::limits::CALLS_PER_STEP as u64,
            calls_per_run: haft_protocol::limits::CALLS_PER_RUN,
            toolset: Toolset::default(),
            bash: None,
            sources: Vec::new(),
            aliases: Vec::new(),
        }
    }

    /// Makes one call as a program that uses the library, in a step of its own.
    ///
    /// A call that needs a person's answer and gets none is refused, and the outcome says so.
    pub async fn call(&self, tool: &str, arguments: impl Into<RawArguments>) -> Outcome {
        let context = self.context(self.caller(Entrance::Library, "library"));
        let call = ToolCall::new(self.dispatch.ports().call_id(), tool, arguments);
        match self.dispatch.dispatch(&context, call).await {
            Dispatched::Done(outcome) => *outcome,
            Dispatched::Waiting(ticket) => {
                let nobody = haft_tool::Answer::Nobody { ways_out: Vec::new() };
                match self.dispatch.resume(&context, *ticket, nobody).await {
                    Dispatched::Done(outcome) => *outcome,
                    Dispatched::Waiting(ticket) => Outcome::from(haft_protocol::Denial::new(
                        haft_protocol::Control::Approval,
                        ticket.record().because.clone(),
                    )),
                }
            }
        }
    }

    /// Names somebody who makes calls in this run.
    pub fn caller(&self, entrance: Entrance, principal: impl Into<Arc<str>>) -> Caller {
        Caller { entrance, principal: principal.into(), run: self.run, branch: None, parent: None }
    }

    /// Makes the context of somebody's calls: the tools as they are now, this policy, these hooks, fresh budgets.
    pub fn context(&self, caller: Caller) -> CallContext {
        let mut context =
            CallContext::new(caller, self.registry.snapshot(), Arc::clone(&self.policy));
        context.hooks = Arc::clone(&self.hooks);
        context.step = haft_tool::Budget::new(self.calls_per_step);
        context.run = haft_tool::Budget::new(self.calls_per_run);
        context
    }

    /// Returns the one path of calls.
    pub fn dispatch(&self) -> &Dispatch {
        &self.dispatch
    }

    /// Returns the tools.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// Returns the workspace.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Returns the policy, which is pinned for the life of this value.
    pub fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }

    /// Returns the changes that a process before this one was ended in the middle of, and what was made of each when this
    /// value was opened.
    pub fn repaired(&self) -> &[Repaired] {
        &self.repaired
    }

    /// Returns the records, where they are kept.
    pub fn store(&self) -> Option<&Store> {
        self.store.as_ref()
    }
}

impl HaftBuilder {
    /// Adds a root; relative paths begin at the first.
    pub fn root(mut self, root: impl Into<PathBuf>) -> Self {
        self.roots.push(root.into());
        self
    }

    /// Names the directory of the user's configuration, which tools are kept out of: who writes there makes the rules.
    pub fn config_dir(self, dir: impl Into<PathBuf>) -> Self {
        self.own_directory(dir, "the rules of haft's user are there")
    }

    /// Names a further directory that haft lives in, and says what is there. Tools are kept out of it, as they are of the
    /// [state](Self::state) directory in any case.
    pub fn own_directory(mut self, dir: impl Into<PathBuf>, why: &'static str) -> Self {
        let dir = dir.into();
        if self.own.iter().all(|(own, _)| *own != dir) {
            self.own.push((dir, why));
        }
        self
    }

    /// Sets the protection list.
    pub fn protection(mut self, protection: Protection) -> Self {
        self.protection = protection;
        self
    }

    /// Sets the policy.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets the hooks.
    pub fn hooks(mut self, hooks: Hooks) -> Self {
        self.hooks = hooks;
        self
    }

    /// Says where records go.
    pub fn state(mut self, state: State) -> Self {
        if let State::Directory(config) = &state {
            self = self.own_directory(&config.dir, "haft's records are there");
        }
        self.state = state;
        self
    }

    /// Says who is asked.
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = approver;
        self
    }

    /// Sets the limits of dispatch.
    pub fn limits(mut self, limits: DispatchLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the budgets of calls.
    pub fn budgets(mut self, calls_per_step: u64, calls_per_run: u64) -> Self {
        self.calls_per_step = calls_per_step;
        self.calls_per_run = calls_per_run;
        self
    }

    /// Sets the shape in which the built-in tools are shown.
    pub fn toolset(mut self, toolset: Toolset) -> Self {
        self.toolset = toolset;
        self
    }

    /// Adds the tool that runs commands, which needs to be told how.
    pub fn bash(mut self, bash: Bash) -> Self {
        self.bash = Some(bash);
        self
    }

    /// Shows a tool with some arguments fixed under a name of its own, beside the tool itself.
    pub fn alias(mut self, alias: Alias, tool: impl Into<String>) -> Self {
        self.aliases.push((alias, tool.into()));
        self
    }

    /// Adds a source of tools beside the built-in ones.
    pub fn source(mut self, source: Arc<dyn ToolSource>) -> Self {
        self.sources.push(source);
        self
    }

    /// Opens the roots and the state, and registers the tools.
    ///
    /// # Errors
    ///
    /// Fails when a root or the state directory cannot be used, or two tools share a name.
    pub fn open(mut self) -> Result<Haft, OpenError> {
        let workspace = self.open_workspace()?;
        self.assemble(workspace)
    }

    /// Opens as [`open`](Self::open) does, under a policy that is made for the opened workspace, whose roots its
    /// patterns may name.
    ///
    /// # Errors
    ///
    /// Fails as `open` does, and with the error of `policy`.
    pub fn open_with<E>(
        mut self,
        policy: impl FnOnce(&Workspace) -> Result<Policy, E>,
    ) -> Result<Haft, OpenWithError<E>> {
        let workspace = self.open_workspace().map_err(OpenWithError::Open)?;
        self.policy = policy(&workspace).map_err(OpenWithError::Policy)?;
        self.assemble(workspace).map_err(OpenWithError::Open)
    }

    fn open_workspace(&mut self) -> Result<Workspace, OpenError> {
        let roots = std::mem::take(&mut self.roots);
        let protection = std::mem::replace(&mut self.protection, Protection::standard());
        let own = std::mem::take(&mut self.own).into_iter();
        let protection =
            own.fold(protection, |protection, (dir, why)| protection.keeping_out_of(dir, why));
        Ok(Workspace::open(WorkspaceConfig { roots, protection })?)
    }

    fn assemble(self, workspace: Workspace) -> Result<Haft, OpenError> {
        let tools = match self.bash {
            Some(bash) => CodingTools::new().bash(bash),
            None => CodingTools::new(),
        };
        let registry = registry(tools, self.toolset, self.sources, self.aliases)?;
        let store = match self.state {
            State::None => None,
            State::Memory => Some(Store::in_memory(Retention::default(), Redaction::new([])?)?),
            State::Directory(config) => Some(Store::open(config)?),
        };
        let store = store.map(|store| store.of_workspace(workspace.real_roots()));
        let repaired =
            store.as_ref().map_or_else(Vec::new, |store| put_in_order(&workspace, store));
        let effects = port(
            store.as_ref(),
            || Arc::new(NoEffects) as Arc<dyn Effects>,
            |it| Arc::new(it.clone()),
        );
        let ports = Ports {
            journal: port(
                store.as_ref(),
                || Arc::new(NoJournal) as Arc<dyn Journal>,
                |it| Arc::new(it.clone()),
            ),
            artifacts: port(
                store.as_ref(),
                || Arc::new(NoArtifacts) as Arc<dyn Artifacts>,
                |it| Arc::new(it.clone()),
            ),
            exclusion: port(
                store.as_ref(),
                || Arc::new(NoExclusion) as Arc<dyn Exclusion>,
                Store::exclusion,
            ),
            binder: Arc::new(WorkspaceBinder::new(workspace.clone()).with_effects(effects)),
            checkpoints: port(
                store.as_ref(),
                || Arc::new(NoCheckpoints) as Arc<dyn Checkpoints>,
                |_| Arc::new(TreeScan),
            ),
            capture: port(
                store.as_ref(),
                || Arc::new(NoCapture) as Arc<dyn Capture>,
                |_| Arc::new(TreeScan),
            ),
            approver: self.approver,
            clock: Arc::new(SystemClock),
            ids: Arc::new(DrawnIds::default()),
        };
        let run = ports.run_id();
        Ok(Haft {
            dispatch: Dispatch::new(ports, self.limits),
            registry: Arc::new(registry),
            workspace,
            policy: Arc::new(self.policy),
            hooks: Arc::new(self.hooks),
            store,
            repaired,
            run,
            calls_per_step: self.calls_per_step,
            calls_per_run: self.calls_per_run,
        })
    }
}

/// Looks after changes that were cut short. What cannot be done now can at the next opening.
fn put_in_order(workspace: &Workspace, store: &Store) -> Vec<Repaired> {
    let unfinished = |error: PortError| {
        tracing::error!(%error, source = ?error.source, "changes that were cut short were not looked after");
        Vec::new()
    };
    repair(workspace, store).unwrap_or_else(unfinished)
}

/// Registers the tools.
fn registry(
    tools: CodingTools,
    toolset: Toolset,
    sources: Vec<Arc<dyn ToolSource>>,
    aliases: Vec<(Alias, String)>,
) -> Result<Registry, OpenError> {
    let registry = Registry::new(BuildContext::default());
    registry.register(Arc::new(tools), OnConflict::Reject)?;
    for source in sources {
        registry.register(source, OnConflict::Reject)?;
    }
    // Before the built-in tools take another shape, so that an alias means the same in both.
    for (alias, tool) in aliases {
        let name = alias.name.clone();
        let wrong = |source| OpenError::Alias { name: name.clone(), source: Box::new(source) };
        let of = registry.snapshot().select(&Selection::Named(vec![tool])).map_err(wrong)?;
        for of in of {
            let of = of.descriptor.name();
            registry.register_alias(alias.clone(), of, OnConflict::Reject).map_err(wrong)?;
        }
    }
    toolset.arrange(&registry)?;
    Ok(registry)
}

/// Takes a port from the store, or the deliberate nothing where there is none.
fn port<P: ?Sized>(
    store: Option<&Store>,
    nothing: impl FnOnce() -> Arc<P>,
    of_store: impl FnOnce(&Store) -> Arc<P>,
) -> Arc<P> {
    store.map_or_else(nothing, of_store)
}
