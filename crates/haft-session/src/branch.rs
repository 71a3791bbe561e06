//! One conversation, and what goes with it.

use std::fmt;
use std::sync::Arc;

use haft_model::{ChatModel, Sampling, ToolSpec};
use haft_protocol::{BranchId, UsageTotal};
use haft_tool::{
    BuildContext, CallContext, Cancellation, Recipe, Registry, RegistryError, Selection,
    SharedLedger, Snapshot,
};
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::compact::Compaction;
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
    /// When room is made in it.
    pub compaction: Compaction,
    /// What all requests took.
    pub usage: UsageTotal,
    /// How its tools are built, where that has not been done.
    recipe: Option<(Recipe, BuildContext)>,
}

/// The right to work on a branch. While it is held, other turns of the branch wait in line.
pub type Turn = OwnedMutexGuard<State>;

impl Branch {
    /// Makes a branch of its parts, with what was said before.
    pub fn new(parts: BranchParts, transcript: Transcript) -> Self {
        let gauge = Gauge::new(parts.model.facts());
        Self::of(State {
            parts,
            transcript,
            gauge,
            compaction: Compaction::default(),
            usage: UsageTotal::default(),
            recipe: None,
        })
    }

    fn of(state: State) -> Self {
        let id = state.parts.id;
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
        let mut state = Arc::clone(&self.state).lock_owned().await;
        state.build();
        state
    }

    /// Makes another branch, as [`State::fork`] does, when no turn is under way.
    ///
    /// # Errors
    ///
    /// Fails naming the tools that belong to one branch.
    pub async fn fork(&self, id: BranchId) -> Result<Self, RegistryError> {
        self.state.lock().await.fork(id)
    }
}

impl State {
    /// Makes another branch that shares what was said so far, and goes its own way from here.
    ///
    /// Carried over: messages, model, system text, policy, hooks and budgets. Copied: what was seen of files. Built again
    /// when its first turn begins: the tools. Begun anew: usage. Not kept anywhere: what it does, until it is given a
    /// keeper.
    ///
    /// It costs the same however long the conversation is. In a turn of the branch, this is the way to fork it:
    /// [`Branch::fork`] waits for the turn to end.
    ///
    /// # Errors
    ///
    /// Fails naming the tools that belong to one branch.
    pub fn fork(&self, id: BranchId) -> Result<Branch, RegistryError> {
        let parts = &self.parts;
        let recipe = match &self.recipe {
            Some((recipe, _)) => recipe.clone(),
            None => parts.registry.recipe()?,
        };
        let mut context = parts.context.clone();
        context.caller.branch = Some(id);
        context.ledger = parts.context.ledger.as_ref().map(|it| SharedLedger::new(it.value()));
        context.cancellation = Cancellation::new();
        let parts = BranchParts {
            id,
            registry: Arc::clone(&parts.registry),
            shown: parts.shown.clone(),
            context,
            model: Arc::clone(&parts.model),
            sampling: parts.sampling.clone(),
            system: parts.system.clone(),
            keeper: Arc::new(NoKeeper),
        };
        Ok(Branch::of(State {
            parts,
            transcript: self.transcript.clone(),
            gauge: self.gauge.clone(),
            compaction: self.compaction,
            usage: UsageTotal::default(),
            recipe: Some((recipe, BuildContext { branch: Some(id), ..BuildContext::default() })),
        }))
    }

    /// Builds the tools of a fork, once. Where that fails, whoever asks for the tools is told.
    fn build(&mut self) {
        let Some((recipe, context)) = &self.recipe else { return };
        if let Ok(registry) = recipe.build(context.clone()) {
            self.parts.context.tools = registry.snapshot();
            self.parts.registry = Arc::new(registry);
            self.recipe = None;
        }
    }

    /// Returns the tools that the model is told of as they are now, and how it is told of them. It can call no others.
    ///
    /// # Errors
    ///
    /// Fails where the selection names a tool that is not there, and where a fork's tools cannot be built.
    pub fn tools(&self) -> Result<(Arc<Snapshot>, Arc<[ToolSpec]>), RegistryError> {
        if let Some((recipe, context)) = &self.recipe {
            recipe.build(context.clone())?;
        }
        let snapshot = self.parts.registry.snapshot().only(&self.parts.shown)?;
        let specs = snapshot.tools().map(|it| ToolSpec {
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
