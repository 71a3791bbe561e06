//! A branch over a dispatch made of memory, with a model that says what a test wrote.

use std::sync::Arc;

use haft_agent::{Agent, TurnOptions};
use haft_model::{ChatModel, Sampling};
use haft_protocol::{BranchId, ContentPart, UserMessage};
use haft_session::{Branch, BranchParts, NoKeeper, System, Transcript};
use haft_testkit::{Line, Rig, ScriptedModel};
use haft_tool::{BuildContext, Selection, Tool};

/// A model at work.
pub(crate) struct Work {
    pub(crate) rig: Rig,
    pub(crate) agent: Agent,
    pub(crate) branch: Branch,
    pub(crate) model: Arc<ScriptedModel>,
    pub(crate) options: TurnOptions,
}

impl Work {
    /// Sets up a model with its lines and tools.
    pub(crate) fn new(lines: impl IntoIterator<Item = Line>, tools: Vec<Arc<dyn Tool>>) -> Self {
        let rig = tools.into_iter().fold(Rig::builder(), |rig, tool| rig.tool(tool)).build();
        let model = ScriptedModel::new(lines);
        let registry = rig.registry.clone_for(BuildContext::default()).unwrap();
        let chat: Arc<dyn ChatModel> = model.clone();
        let parts = BranchParts {
            id: BranchId::from_parts(0, 1),
            registry: Arc::new(registry),
            shown: Selection::All,
            context: rig.context.clone(),
            model: chat,
            sampling: Sampling::default(),
            system: System::with_text("You are tested.", &[], Vec::new()),
            keeper: Arc::new(NoKeeper),
        };
        let agent = Agent::new(rig.dispatch.clone());
        let branch = Branch::new(parts, Transcript::new());
        Self { rig, agent, branch, model, options: TurnOptions::default() }
    }

    /// Says something and waits for the turn to stop.
    pub(crate) async fn say(&self, text: &str) -> haft_agent::TurnEnd {
        let ports = self.rig.dispatch.ports();
        let said = UserMessage {
            id: ports.message_id(),
            at: ports.clock.now(),
            content: vec![ContentPart::text(text)],
            notices: Vec::new(),
        };
        self.agent.turn(&self.branch, said, &self.options).await
    }
}
