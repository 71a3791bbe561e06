//! A dispatch over doors made of memory.

use std::sync::Arc;

use haft_policy::{Policy, Preset, Rule};
use haft_protocol::{BranchId, Caller, Entrance, Outcome, QualifiedName, RunId, ToolCall};
use haft_tool::{
    BuildContext, CallContext, Dispatch, DispatchLimits, Dispatched, FunctionTool, Hooks,
    OnConflict, Output, Ports, Registry, Tool,
};
use serde_json::{Value, json};

use crate::doors::{
    CountedIds, MemoryArtifacts, MemoryJournal, Oracle, SteppingClock, Steps, TreeBinder,
};

/// A dispatch over doors made of memory, with a registry and a policy.
pub struct Rig {
    /// The dispatch.
    pub dispatch: Dispatch,
    /// The registry.
    pub registry: Registry,
    /// The context that [`Rig::call`] uses.
    pub context: CallContext,
    /// The journal.
    pub journal: Arc<MemoryJournal>,
    /// The tree of names.
    pub tree: Arc<TreeBinder>,
    /// Checkpoints, capture and exclusion.
    pub steps: Arc<Steps>,
    /// The store of artifacts.
    pub artifacts: Arc<MemoryArtifacts>,
    /// The approver.
    pub oracle: Arc<Oracle>,
    /// The clock.
    pub clock: Arc<SteppingClock>,
}

/// A rig in the making.
pub struct RigBuilder {
    tools: Vec<Arc<dyn Tool>>,
    preset: Preset,
    rules: Vec<Rule>,
    hooks: Hooks,
    limits: DispatchLimits,
}

impl Rig {
    /// Starts a rig with preset `full`, without tools, rules or hooks.
    pub fn builder() -> RigBuilder {
        RigBuilder {
            tools: Vec::new(),
            preset: Preset::Full,
            rules: Vec::new(),
            hooks: Hooks::none(),
            limits: DispatchLimits::default(),
        }
    }

    /// Makes a call with a new id.
    pub fn tool_call(&self, tool: &str, arguments: Value) -> ToolCall {
        ToolCall::new(self.dispatch.ports().call_id(), tool, arguments)
    }

    /// Calls a tool and returns how the call stands.
    pub async fn dispatch(&self, tool: &str, arguments: Value) -> Dispatched {
        self.dispatch.dispatch(&self.context, self.tool_call(tool, arguments)).await
    }

    /// Calls a tool and returns its outcome.
    ///
    /// # Panics
    ///
    /// Panics when the call waits for an answer.
    pub async fn call(&self, tool: &str, arguments: Value) -> Outcome {
        self.dispatch(tool, arguments).await.into_outcome().expect("the call should have ended")
    }

    /// Returns the journal's entries, each in a word.
    pub fn words(&self) -> Vec<&'static str> {
        self.journal.entries().iter().map(crate::doors::Kept::word).collect()
    }
}

impl RigBuilder {
    /// Adds a tool.
    pub fn tool(mut self, tool: Arc<dyn Tool>) -> Self {
        self.tools.push(tool);
        self
    }

    /// Sets the preset.
    pub fn preset(mut self, preset: Preset) -> Self {
        self.preset = preset;
        self
    }

    /// Adds a rule.
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Sets the hooks.
    pub fn hooks(mut self, hooks: Hooks) -> Self {
        self.hooks = hooks;
        self
    }

    /// Changes the limits.
    pub fn limits(mut self, change: impl FnOnce(&mut DispatchLimits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// Makes the rig.
    ///
    /// # Panics
    ///
    /// Panics when two tools have one name or the rules do not hold together.
    pub fn build(self) -> Rig {
        let journal = Arc::new(MemoryJournal::default());
        let tree = Arc::new(TreeBinder::default());
        let steps = Arc::new(Steps::default());
        let artifacts = Arc::new(MemoryArtifacts::default());
        let oracle = Arc::new(Oracle::default());
        let clock = Arc::new(SteppingClock::default());
        let ports = Ports {
            journal: journal.clone(),
            binder: tree.clone(),
            checkpoints: steps.clone(),
            capture: steps.clone(),
            artifacts: artifacts.clone(),
            approver: oracle.clone(),
            exclusion: steps.clone(),
            clock: clock.clone(),
            ids: Arc::new(CountedIds::default()),
        };
        let registry = Registry::new(BuildContext::default());
        for tool in self.tools {
            registry.register_tool(tool, OnConflict::Reject).unwrap();
        }
        let caller = Caller {
            entrance: Entrance::Library,
            principal: "test".into(),
            run: RunId::from_parts(0, 1),
            branch: Some(BranchId::from_parts(0, 1)),
            parent: None,
        };
        let policy = Arc::new(Policy::new(self.preset, self.rules, false).unwrap());
        let mut context = CallContext::new(caller, registry.snapshot(), policy);
        context.hooks = Arc::new(self.hooks);
        let dispatch = Dispatch::new(ports, self.limits);
        Rig { dispatch, registry, context, journal, tree, steps, artifacts, oracle, clock }
    }
}

/// Makes a pure tool that takes any object and runs a closure over it.
///
/// # Panics
///
/// Panics when the name breaks the grammar.
pub fn pure_tool(
    name: &str,
    body: impl Fn(Value) -> Result<Output, haft_protocol::Failure> + Send + Sync + 'static,
) -> Arc<dyn Tool> {
    let name: QualifiedName = name.parse().unwrap();
    FunctionTool::new(
        name,
        "A tool of a test.",
        json!({ "type": "object", "additionalProperties": true }),
    )
    .unwrap()
    .body(move |_call, args| {
        let result = body(Value::Object(args));
        async move { result }
    })
    .unwrap()
}

/// Makes a pure tool that answers with its arguments.
pub fn echo() -> Arc<dyn Tool> {
    pure_tool("local/echo", |args| Ok(Output::text(args.to_string())))
}
