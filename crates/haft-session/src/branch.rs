//! One conversation, and what goes with it.

use std::fmt;
use std::sync::Arc;

use haft_model::{ChatModel, Sampling, ToolSpec};
use haft_protocol::{BranchId, UsageTotal};
use haft_tool::{
    BuildContext, CallContext, Registry, RegistryError, Selection, SharedLedger, Snapshot,
};
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::gauge::Gauge;
use crate::keeper::{Keeper, NoKeeper};
use crate::system::System;
use crate::transcript::Transcript;

/// What a branch is made of.
#[derive(Debug)]
pub struct BranchParts {
    /// The branch.
    pub id: BranchId,
    /// The tools it sees.
    pub registry: Arc<Registry>,
    /// Which of them its model is shown.
    pub shown: Selection,
    /// What surrounds its calls: who asks, the policy, the hooks, the budgets of the run, what was seen of files. The
    /// tools in it are taken from the registry at each turn.
    pub context: CallContext,
    /// The model.
    pub model: Arc<dyn ChatModel>,
    /// How the model picks its words.
    pub sampling: Sampling,
    /// What its operator tells the model.
    pub system: System,
    /// Keeps what is done.
    pub keeper: Arc<dyn Keeper>,
}

/// One conversation with its messages, tools, policy and model.
///
/// A handle: clones of it are the same branch. [`fork`](Self::fork) makes another one.
#[derive(Clone)]
pub struct Branch {
    state: Arc<Mutex<State>>,
    id: BranchId,
}

/// What a turn works on.
#[derive(Debug)]
pub struct State {
    /// What the branch is made of.
    pub parts: BranchParts,
    /// What was said and done.
    pub transcript: Transcript,
    /// How full the window is.
    pub gauge: Gauge,
    /// What all requests took.
    pub usage: UsageTotal,
}

/// The right to work on a branch. While it is held, other turns of the branch wait in line.
pub type Turn = OwnedMutexGuard<State>;

impl Branch {
    /// Makes a branch of its parts, with what was said before.
    pub fn new(parts: BranchParts, transcript: Transcript) -> Self {
        let id = parts.id;
        let gauge = Gauge::new(parts.model.facts());
        let state = State { parts, transcript, gauge, usage: UsageTotal::default() };
        Self { state: Arc::new(Mutex::new(state)), id }
    }

    /// Returns the branch's id.
    pub fn id(&self) -> BranchId {
        self.id
    }

    /// Waits until no other turn is under way, in the order of asking, and begins one.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the place in line and nothing else.
    pub async fn turn(&self) -> Turn {
        Arc::clone(&self.state).lock_owned().await
    }

    /// Makes another branch that shares what was said so far, and goes its own way from here.
    ///
    /// Carried over: messages, model, system text, policy, hooks and budgets. Copied: what was seen of files. Built
    /// again: the tools. Begun anew: usage. Not kept anywhere: what it does, until it is given a keeper.
    ///
    /// # Errors
    ///
    /// Fails naming the tools that belong to one branch.
    pub async fn fork(&self, id: BranchId) -> Result<Self, RegistryError> {
        let state = self.turn().await;
        let State { parts, transcript, gauge, .. } = &*state;
        let build = BuildContext { branch: Some(id), ..BuildContext::default() };
        let registry = Arc::new(parts.registry.clone_for(build)?);
        let mut context = parts.context.clone();
        context.caller.branch = Some(id);
        context.tools = registry.snapshot();
        context.ledger = parts.context.ledger.as_ref().map(|it| SharedLedger::new(it.value()));
        context.cancellation = haft_tool::Cancellation::new();
        let parts = BranchParts {
            id,
            registry,
            shown: parts.shown.clone(),
            context,
            model: Arc::clone(&parts.model),
            sampling: parts.sampling.clone(),
            system: parts.system.clone(),
            keeper: Arc::new(NoKeeper),
        };
        let state = State {
            parts,
            transcript: transcript.clone(),
            gauge: gauge.clone(),
            usage: UsageTotal::default(),
        };
        Ok(Self { state: Arc::new(Mutex::new(state)), id })
    }
}

impl State {
    /// Returns the tools as they are now, and as the model is told of them.
    ///
    /// # Errors
    ///
    /// Fails where the selection names a tool that is not there.
    pub fn tools(&self) -> Result<(Arc<Snapshot>, Arc<[ToolSpec]>), RegistryError> {
        let snapshot = self.parts.registry.snapshot();
        let shown = snapshot.select(&self.parts.shown)?;
        let specs = shown.iter().map(|it| ToolSpec {
            name: it.wire.clone(),
            description: Arc::from(it.descriptor.description()),
            schema: Arc::clone(it.descriptor.input().schema()),
        });
        let specs = specs.collect();
        Ok((snapshot, specs))
    }
}

impl fmt::Debug for Branch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Branch({})", self.id)
    }
}
