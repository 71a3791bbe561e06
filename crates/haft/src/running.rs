//! Models that work with the tools.

mod done;

use std::sync::Arc;

use haft_agent::{Agent, Fate, Fates, OpenCall, open_calls};
use haft_model::{ChatModel, Sampling};
use haft_protocol::{BranchId, ContentPart, Entrance, RunEntry, RunFacts, UserMessage};
use haft_session::{Branch, BranchParts, Keeper, KeeperError, NoKeeper, System, Transcript};
use haft_store::{CallFate, EndedCall, RunWriter, Store, StoreError};
use haft_tool::{BoxFuture, CallContext, ReadLedger, Selection, SharedLedger};

use crate::Haft;

impl Haft {
    /// Returns what lets models work, over this dispatch.
    pub fn agent(&self) -> Agent {
        Agent::new(self.dispatch().clone())
    }

    /// Starts a branch for a model: all tools, this policy, a ledger of its own, and nothing kept.
    pub fn branch(&self, model: Arc<dyn ChatModel>) -> BranchBuilder<'_> {
        let id = self.dispatch().ports().branch_id();
        let name = model.facts().id.to_string();
        let mut context = self.context(self.caller(Entrance::Model, name));
        context.caller.branch = Some(id);
        context.ledger = Some(SharedLedger::new(ReadLedger::new()));
        BranchBuilder {
            haft: self,
            id,
            context,
            model,
            shown: Selection::All,
            sampling: Sampling::default(),
            system: System::standard(&self.place(), Vec::new()),
            keeper: Arc::new(NoKeeper),
            transcript: Transcript::new(),
        }
    }

    /// Returns what a model should know of the place it works in, one sentence a line.
    pub fn place(&self) -> Vec<String> {
        let roots = self.workspace().recorded_roots();
        let mut lines = Vec::new();
        match roots.as_slice() {
            [root] => {
                lines.push(format!("Paths are relative to `{root}`, the only place you see."));
            }
            [first, rest @ ..] => {
                let rest: Vec<String> = rest.iter().map(|root| format!("`{root}`")).collect();
                lines.push(format!(
                    "Paths are relative to `{first}`. You also see {}.",
                    rest.join(" and ")
                ));
            }
            [] => {}
        }
        lines
    }

    /// Makes what somebody says to a model now.
    pub fn said(&self, content: Vec<ContentPart>) -> UserMessage {
        let ports = self.dispatch().ports();
        UserMessage { id: ports.message_id(), at: ports.clock.now(), content, notices: Vec::new() }
    }

    /// Returns what a run of a branch is begun with.
    pub fn run_facts(&self, title: &str, model: &dyn ChatModel, system: &System) -> RunFacts {
        let ports = self.dispatch().ports();
        let presets: Vec<&str> = self.policy().presets().map(haft_policy::Preset::as_str).collect();
        RunFacts {
            run: self.caller(Entrance::Model, "").run,
            at: ports.clock.now(),
            title: title.to_owned(),
            model: model.facts().id.clone(),
            roots: self.workspace().recorded_roots(),
            preset: presets.join(" and "),
            tools: None,
            toolset: None,
            policy: self.policy().digest(),
            system: system.digest(),
            forked_from: None,
            parent: None,
            branch: None,
            within: None,
        }
    }
}

/// A branch in the making.
#[derive(Debug)]
pub struct BranchBuilder<'a> {
    haft: &'a Haft,
    id: BranchId,
    context: CallContext,
    model: Arc<dyn ChatModel>,
    shown: Selection,
    sampling: Sampling,
    system: System,
    keeper: Arc<dyn Keeper>,
    transcript: Transcript,
}

impl BranchBuilder<'_> {
    /// Sets which tools the model is shown.
    pub fn shown(mut self, shown: Selection) -> Self {
        self.shown = shown;
        self
    }

    /// Sets how the model picks its words.
    pub fn sampling(mut self, sampling: Sampling) -> Self {
        self.sampling = sampling;
        self
    }

    /// Sets what its operator tells the model.
    pub fn system(mut self, system: System) -> Self {
        self.system = system;
        self
    }

    /// Sets what keeps what is done.
    pub fn keeper(mut self, keeper: Arc<dyn Keeper>) -> Self {
        self.keeper = keeper;
        self
    }

    /// Sets what was said before.
    pub fn transcript(mut self, transcript: Transcript) -> Self {
        self.transcript = transcript;
        self
    }

    /// Changes what surrounds the branch's calls.
    pub fn context(mut self, change: impl FnOnce(&mut CallContext)) -> Self {
        change(&mut self.context);
        self
    }

    /// Makes the branch.
    pub fn open(self) -> Branch {
        let parts = BranchParts {
            id: self.id,
            registry: Arc::clone(self.haft.registry()),
            shown: self.shown,
            context: self.context,
            model: self.model,
            sampling: self.sampling,
            system: self.system,
            keeper: self.keeper,
        };
        Branch::new(parts, self.transcript)
    }
}

/// Looks up what became of the calls of a run that have no end in its record.
///
/// # Errors
///
/// Fails when the database cannot be read.
pub fn fates(store: &Store, entries: &[RunEntry]) -> Result<Fates, StoreError> {
    let known = open_calls(entries).into_iter().map(|OpenCall { call, made_as }| {
        let fate = match store.fate(made_as)? {
            CallFate::NeverStarted => Fate::NeverStarted,
            CallFate::Waiting(_) => Fate::Waiting,
            CallFate::Started(started) => Fate::Started {
                can_be_repeated: started.can_be_repeated(),
                is_running: started.is_running,
                done: done::by_call(store, made_as)?,
            },
            CallFate::Ended(ended) => {
                let EndedCall { record, left_out } = *ended;
                let mut outcome = record.outcome;
                outcome.content.extend(left_out.into_iter().map(ContentPart::text));
                Fate::Ended(Arc::new(outcome))
            }
        };
        Ok((call, fate))
    });
    Ok(Fates::new(known.collect::<Result<Vec<_>, StoreError>>()?))
}

/// Keeps a run in the state directory.
#[derive(Debug)]
pub struct RunKeeper {
    writer: RunWriter,
    roots: Vec<String>,
}

impl RunKeeper {
    /// Keeps what is done in a run beneath these roots, and runs that calls of it begin.
    pub fn new(writer: RunWriter, roots: Vec<String>) -> Self {
        Self { writer, roots }
    }
}

fn not_kept(error: StoreError) -> KeeperError {
    KeeperError { text: error.to_string(), source: Some(Box::new(error)) }
}

impl Keeper for RunKeeper {
    fn keep<'a>(&'a self, entry: &'a RunEntry) -> BoxFuture<'a, Result<(), KeeperError>> {
        Box::pin(async move { self.writer.append(entry).await.map_err(not_kept) })
    }

    fn begin_beneath(
        &self,
        mut facts: RunFacts,
    ) -> BoxFuture<'_, Result<Arc<dyn Keeper>, KeeperError>> {
        if facts.roots.is_empty() {
            facts.roots.clone_from(&self.roots);
        }
        Box::pin(async move {
            let writer = self.writer.begin_beneath(facts).await.map_err(not_kept)?;
            Ok(Arc::new(Self::new(writer, self.roots.clone())) as Arc<dyn Keeper>)
        })
    }
}
