//! Ways of working with a branch, each a function.
//!
//! | Function | Tools | Recorded |
//! |---|---|---|
//! | [`chat`](fn@chat) | none | no |
//! | [`communicate`](fn@communicate) | none | yes |
//! | [`operate`](fn@operate) | those of the branch | yes |
//! | [`parse`](fn@parse) | none | no |
//! | [`act`](fn@act) | the calls that are given | yes |
//! | [`react`](fn@react) | those of the branch | yes |
//!
//! What any of them takes counts as taken by the branch, and its limits are those of the options.

mod act;
mod chat;
mod communicate;
mod extract;
mod operate;
mod parse;
mod react;

pub use act::{ActError, act};
pub use chat::chat;
pub use communicate::communicate;
pub use operate::{Operated, operate};
pub use parse::{ParseError, ParseFault, Parsed, parse};
pub use react::{Reacted, react};

use haft_protocol::{Notice, NoticeKind, StopCause, UserMessage};

use crate::agent::{Agent, TurnEnd};

/// A turn that stopped before the model had said what it had to say.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("the model did not get to its end ({})", in_words(.cause))]
pub struct Stopped {
    /// Why.
    pub cause: StopCause,
    /// What it had said last, where it had said anything.
    pub text: String,
}

/// Returns what a model said in a turn, or why it did not get that far.
fn said_in(end: &TurnEnd) -> Result<String, Stopped> {
    let text = end.reply.as_ref().map(|it| it.text()).unwrap_or_default();
    match &end.cause {
        StopCause::Done => Ok(text),
        cause => Err(Stopped { cause: cause.clone(), text }),
    }
}

/// Makes a message of the runtime alone.
fn remark(agent: &Agent, text: String) -> UserMessage {
    let ports = agent.dispatch().ports();
    UserMessage {
        id: ports.message_id(),
        at: ports.clock.now(),
        content: Vec::new(),
        notices: vec![Notice::new(NoticeKind::Remark, text)],
    }
}

fn in_words(cause: &StopCause) -> String {
    match cause {
        StopCause::Done => "done".to_owned(),
        StopCause::Empty => "it said nothing".to_owned(),
        StopCause::Length => "its replies were cut off".to_owned(),
        StopCause::Refused { text }
        | StopCause::Loop { text }
        | StopCause::Model { text, .. }
        | StopCause::Window { text }
        | StopCause::Unrecorded { text } => text.clone(),
        StopCause::Limit { limit, allowed } => {
            format!("the limit of {allowed} {} was reached", limit.as_str())
        }
        StopCause::Unpriced { model } => format!("nobody knows what `{model}` costs"),
        StopCause::Interrupted { by: None } => "somebody interrupted".to_owned(),
        StopCause::Interrupted { by: Some(signal) } => {
            format!("interrupted by {}", signal.as_str())
        }
        StopCause::Waits { ticket } => format!("a call waits as ticket {ticket}"),
    }
}
