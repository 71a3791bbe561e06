//! Calls that a program makes on a branch.

use haft_protocol::{Entrance, Outcome, RawArguments, StopCause, TicketId};
use haft_session::Branch;

use crate::agent::{Agent, TurnOptions};
use crate::calls::Called;
use crate::turn::{Doing, Happened};

/// Calls that could not be made, or have not all ended.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ActError {
    /// A call waits for a person who is not there.
    #[error("a call waits as ticket {ticket}")]
    Waits {
        /// The ticket.
        ticket: TicketId,
    },
    /// The record could not be kept, or the branch is not in a state to take calls.
    #[error("the calls could not be put on record: {text}")]
    Unrecorded {
        /// What happened.
        text: String,
    },
    /// A limit forbids to begin.
    #[error("a limit of the run forbids the calls")]
    Refused {
        /// Which.
        cause: StopCause,
    },
}

/// Makes calls on a branch as if its model had asked for them: through dispatch, side by side as far as they may. The calls
/// and their ends become a part of the conversation. They come in by the entrance of a program.
///
/// # Errors
///
/// Fails where a call waits for a person, and where the calls cannot be put on record.
///
/// ```
#[doc = include_str!("setup.txt")]
/// # use serde_json::json;
/// let (agent, branch) = set_up(vec![]);
/// let calls = [("echo".to_owned(), json!({ "text": "hello" }).into())];
/// let outcomes = act(&agent, &branch, calls, &options).await?;
/// assert_eq!(outcomes[0].model_text(), r#"{"text":"hello"}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub async fn act(
    agent: &Agent,
    branch: &Branch,
    calls: impl IntoIterator<Item = (String, RawArguments)>,
    options: &TurnOptions,
) -> Result<Vec<Outcome>, ActError> {
    let calls: Vec<_> = calls.into_iter().collect();
    if calls.is_empty() {
        return Ok(Vec::new());
    }
    let mut state = branch.turn().await;
    let mut doing = Doing::new(agent, &mut state, options);
    if let Some(cause) = doing.refusal() {
        return Err(ActError::Refused { cause });
    }
    let remark = super::remark(agent, "a program makes the next calls".to_owned());
    match doing.act(remark, calls, Entrance::Library).await {
        Happened::Called(Called::All(ends)) => Ok(ends.into_iter().map(|(_, it)| it).collect()),
        Happened::Called(Called::Waits(ticket)) => Err(ActError::Waits { ticket }),
        Happened::Called(Called::Unrecorded(error)) | Happened::Unrecorded(error) => {
            Err(ActError::Unrecorded { text: error.to_string() })
        }
        Happened::NotSummarised(text) => Err(ActError::Unrecorded { text }),
        Happened::NoReply(error) => Err(ActError::Unrecorded { text: error.text }),
        Happened::Unaffordable(cause) => Err(ActError::Refused { cause }),
        Happened::Begin
        | Happened::Reply(_)
        | Happened::Summarised
        | Happened::Interrupted
        | Happened::OutOfTime => {
            Err(ActError::Refused { cause: StopCause::Interrupted { by: None } })
        }
    }
}
