//! A branch over a dispatch made of memory, with a model that says what a test wrote.

use std::sync::Arc;

use haft_agent::{Agent, TurnOptions};
use haft_model::{CallResult, ChatModel, RequestMessage, Sampling};
use haft_protocol::{BranchId, ContentPart, Entrance, Outcome, RunEntry, RunFacts, UserMessage};
use haft_session::{Branch, BranchParts, Keeper, KeeperError, System, Transcript};
use haft_testkit::{Line, Rig, RigBuilder, ScriptedModel};
use haft_tool::{BoxFuture, BuildContext, Selection, Tool};
use std::sync::Mutex;

/// A model at work.
pub(crate) struct Work {
    pub(crate) rig: Rig,
    pub(crate) agent: Agent,
    pub(crate) branch: Branch,
    pub(crate) model: Arc<ScriptedModel>,
    pub(crate) kept: Arc<Kept>,
    pub(crate) options: TurnOptions,
}

/// Keeps a run in memory, and those beneath it.
#[derive(Debug, Default)]
pub(crate) struct Kept(Mutex<Vec<RunEntry>>, Mutex<Vec<Arc<Kept>>>);

impl Kept {
    pub(crate) fn entries(&self) -> Vec<RunEntry> {
        self.0.lock().unwrap().clone()
    }

    /// Returns the runs that calls of this one began, in order.
    pub(crate) fn beneath(&self) -> Vec<Arc<Kept>> {
        self.1.lock().unwrap().clone()
    }
}

impl Kept {
    /// Returns how the call ended that ended last.
    pub(crate) fn last_end(&self) -> Outcome {
        let ended = self.entries().into_iter().rev().find_map(|it| match it {
            RunEntry::Ended { outcome, .. } => Some(*outcome),
            _ => None,
        });
        ended.unwrap()
    }
}

/// Sets up a branch of a model over a rig.
pub(crate) fn over(rig: &Rig, model: Arc<ScriptedModel>) -> (Agent, Branch, Arc<Kept>) {
    let registry = rig.registry.clone_for(BuildContext::default()).unwrap();
    let chat: Arc<dyn ChatModel> = model;
    let kept: Arc<Kept> = Arc::default();
    let mut context = rig.context.clone();
    context.caller.entrance = Entrance::Model;
    let parts = BranchParts {
        id: BranchId::from_parts(0, 1),
        registry: Arc::new(registry),
        shown: Selection::All,
        context,
        model: chat,
        sampling: Sampling::default(),
        system: System::with_text("You are tested.", &[], Vec::new()),
        keeper: kept.clone(),
    };
    (Agent::new(rig.dispatch.clone()), Branch::new(parts, Transcript::new()), kept)
}

impl Keeper for Kept {
    fn keep<'a>(&'a self, entry: &'a RunEntry) -> BoxFuture<'a, Result<(), KeeperError>> {
        self.0.lock().unwrap().push(entry.clone());
        Box::pin(std::future::ready(Ok(())))
    }

    fn begin_beneath(
        &self,
        facts: RunFacts,
    ) -> BoxFuture<'_, Result<Arc<dyn Keeper>, KeeperError>> {
        let child = Arc::new(Self(Mutex::new(vec![RunEntry::Began(facts)]), Mutex::default()));
        self.1.lock().unwrap().push(Arc::clone(&child));
        Box::pin(std::future::ready(Ok(child as Arc<dyn Keeper>)))
    }
}

impl Work {
    /// Sets up a model with its lines and tools.
    pub(crate) fn new(lines: impl IntoIterator<Item = Line>, tools: Vec<Arc<dyn Tool>>) -> Self {
        let rig = tools.into_iter().fold(Rig::builder(), RigBuilder::tool).build();
        Self::of(rig, ScriptedModel::new(lines))
    }

    /// Sets up a model over a rig.
    pub(crate) fn of(rig: Rig, model: Arc<ScriptedModel>) -> Self {
        let (agent, branch, kept) = over(&rig, Arc::clone(&model));
        Self { rig, agent, branch, model, kept, options: TurnOptions::default() }
    }

    /// Makes what a person says.
    pub(crate) fn message(rig: &Rig, text: &str) -> UserMessage {
        let ports = rig.dispatch.ports();
        UserMessage {
            id: ports.message_id(),
            at: ports.clock.now(),
            content: vec![ContentPart::text(text)],
            notices: Vec::new(),
        }
    }

    /// Says something and waits for the turn to stop.
    pub(crate) async fn say(&self, text: &str) -> haft_agent::TurnEnd {
        self.agent.turn(&self.branch, Self::message(&self.rig, text), &self.options).await
    }

    /// Returns the results that stand last in a request, by its number from 0.
    pub(crate) fn results(&self, request: usize) -> Vec<CallResult> {
        let asked = self.model.asked();
        let results = asked[request].messages.iter().rev().find_map(|it| match it.message() {
            RequestMessage::Results(results) => Some(results.to_vec()),
            RequestMessage::User(_) | RequestMessage::Reply(_) => None,
        });
        results.unwrap_or_default()
    }

    /// Returns the notices at the end of a request, by its number from 0.
    pub(crate) fn told_in(&self, request: usize) -> String {
        let asked = self.model.asked();
        let Some(RequestMessage::User(parts)) =
            asked[request].messages.last().map(|it| it.message())
        else {
            return String::new();
        };
        let texts = parts.iter().filter_map(ContentPart::as_text);
        texts.filter(|it| it.starts_with("[notice")).collect::<Vec<_>>().join("\n")
    }
}
