//! One exchange.

use haft_protocol::UserMessage;
use haft_session::Branch;

use super::{Stopped, said_in};
use crate::agent::{Agent, TurnOptions};

/// Says something to a branch's model and returns what it says, without tools. Both become a part of the conversation.
///
/// # Errors
///
/// Fails where the model does not get to its end.
///
/// ```
#[doc = include_str!("setup.txt")]
/// let (agent, branch) = set_up(vec![Line::say("Hello.")]);
/// let text = communicate(&agent, &branch, said(&agent, "Hello?"), &options).await?;
/// assert_eq!(text, "Hello.");
/// assert_eq!(branch.turn().await.transcript.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub async fn communicate(
    agent: &Agent,
    branch: &Branch,
    said: UserMessage,
    options: &TurnOptions,
) -> Result<String, Stopped> {
    let options = TurnOptions { without_tools: true, ..options.clone() };
    said_in(&agent.turn(branch, said, &options).await)
}
