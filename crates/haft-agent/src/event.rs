//! What people see of a turn.

use std::fmt;
use std::sync::Arc;

use haft_protocol::{CallId, Notice, Outcome, Reply, RequestedCall, RunLimit, Stopped, Summary};
use serde::Serialize;

/// What happens in a turn, as it happens.
///
/// What stands in an event has been kept before, but for pieces of a reply that is not whole yet.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RunEvent {
    /// The model is asked.
    Asked {
        /// Which request of the branch's turn, from 1.
        step: u64,
        /// Tokens of the prompt, as they are estimated.
        estimated_tokens: u64,
        /// Tokens of the window, where they are known.
        window_tokens: Option<u64>,
    },
    /// More text.
    Text {
        /// The piece.
        text: String,
    },
    /// More reasoning.
    Reasoning {
        /// The piece.
        text: String,
    },
    /// The model begins to ask for a call.
    CallBegins {
        /// The wire name, as it came.
        tool: String,
    },
    /// The whole reply.
    Replied {
        /// The reply.
        reply: Arc<Reply>,
    },
    /// The model did not reply.
    NoReply {
        /// What happened.
        text: String,
    },
    /// A call is made.
    CallStarted {
        /// The call.
        call: RequestedCall,
    },
    /// A call ended.
    CallEnded {
        /// The call.
        call: CallId,
        /// The wire name.
        tool: String,
        /// How.
        outcome: Arc<Outcome>,
    },
    /// The model is told something beside.
    Told {
        /// What.
        notice: Notice,
    },
    /// A person should know something; the model is not told.
    Noted {
        /// What.
        notice: Notice,
    },
    /// The definitions of the tools take more than their share of the model's window.
    ToolsWeigh {
        /// How many tools.
        tools: u64,
        /// Tokens of their definitions, as they are estimated.
        tokens: u64,
        /// Tokens of the window.
        window_tokens: u64,
    },
    /// More was taken than allowed: the provider counted more than was estimated.
    Overran {
        /// Of which limit.
        limit: RunLimit,
        /// How much was allowed, in the limit's unit.
        allowed: u64,
        /// How much was taken.
        taken: u64,
    },
    /// A subagent is at work.
    Subagent {
        /// The call that started it.
        call: CallId,
        /// What happens in its turn.
        what: Box<RunEvent>,
    },
    /// A summary took the place of older messages.
    Summarised {
        /// The summary.
        summary: Summary,
    },
    /// The turn stopped.
    Stopped(Stopped),
}

type See = Arc<dyn Fn(&RunEvent) + Send + Sync>;

/// Somebody who watches a turn.
#[derive(Clone, Default)]
pub struct Watcher(Option<See>);

impl Watcher {
    /// Makes a watcher of a function, which must not block.
    pub fn new(see: impl Fn(&RunEvent) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(see)))
    }

    pub(crate) fn see(&self, event: &RunEvent) {
        if let Some(see) = &self.0 {
            see(event);
        }
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Watcher(somebody)" } else { "Watcher(nobody)" })
    }
}
