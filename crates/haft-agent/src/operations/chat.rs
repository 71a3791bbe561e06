//! One exchange that leaves no trace in the conversation.

use std::sync::Arc;

use haft_protocol::UserMessage;
use haft_session::{Branch, BranchParts, NoKeeper, State};
use haft_tool::{BuildContext, Registry, Selection};

use super::{Stopped, said_in};
use crate::agent::{Agent, TurnEnd, TurnOptions};

/// Says something to a branch's model and returns what it says, without tools, and without either becoming a part of the
/// conversation.
///
/// # Errors
///
/// Fails where the model does not get to its end.
///
/// ```
#[doc = include_str!("setup.txt")]
/// let (agent, branch) = set_up(vec![Line::say("Four.")]);
/// let text = chat(&agent, &branch, said(&agent, "What is two and two?"), &options).await?;
/// assert_eq!(text, "Four.");
/// assert!(branch.turn().await.transcript.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub async fn chat(
    agent: &Agent,
    branch: &Branch,
    said: UserMessage,
    options: &TurnOptions,
) -> Result<String, Stopped> {
    let mut state = branch.turn().await;
    let transcript = state.transcript.clone();
    let end = aside(agent, &mut state, transcript, said, options).await;
    said_in(&end)
}

/// Lets a branch's model reply to something beside the conversation: without tools, and kept nowhere.
pub(super) async fn aside(
    agent: &Agent,
    state: &mut State,
    transcript: haft_session::Transcript,
    said: UserMessage,
    options: &TurnOptions,
) -> TurnEnd {
    let parts = &state.parts;
    let mut context = parts.context.clone();
    context.tools = Arc::default();
    let parts = BranchParts {
        id: parts.id,
        registry: Arc::new(Registry::new(BuildContext::default())),
        shown: Selection::None,
        context,
        model: Arc::clone(&parts.model),
        sampling: parts.sampling.clone(),
        system: parts.system.clone(),
        keeper: Arc::new(NoKeeper),
    };
    let beside = Branch::new(parts, transcript);
    // The limits of a run are about all that it takes.
    beside.turn().await.usage = state.usage;
    let options = TurnOptions { without_tools: true, ..options.clone() };
    let end = agent.turn(&beside, said, &options).await;
    state.usage = end.usage;
    end
}
