//! Calls that wait for an answer.

use std::sync::Arc;

use haft_protocol::{Outcome, RawArguments, TicketRecord, ToolCall};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Answer;
use crate::ports::Question;

/// How a dispatched call stands.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub enum Dispatched {
    /// It ended.
    Done(Box<Outcome>),
    /// It waits for an answer, and holds nothing meanwhile.
    Waiting(Box<Ticket>),
}

impl Dispatched {
    /// Returns the outcome of a call that ended.
    pub fn outcome(&self) -> Option<&Outcome> {
        match self {
            Self::Done(outcome) => Some(outcome),
            Self::Waiting(_) => None,
        }
    }

    /// Returns the outcome of a call that ended.
    pub fn into_outcome(self) -> Option<Outcome> {
        match self {
            Self::Done(outcome) => Some(*outcome),
            Self::Waiting(_) => None,
        }
    }
}

impl From<Outcome> for Dispatched {
    fn from(outcome: Outcome) -> Self {
        Self::Done(Box::new(outcome))
    }
}

/// A call that waits for an answer: what was asked, in a form that outlives the process.
///
/// It was journalled before anybody was asked. An answer counts once, and only for the same tool, arguments and
/// bindings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ticket {
    pub(super) record: TicketRecord,
    pub(super) ways_out: Vec<String>,
    pub(super) call: ToolCall,
    pub(super) arguments: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) commands: Vec<String>,
}

impl Ticket {
    /// Makes the ticket of a call that its caller sends again, together with the answer, to somebody who kept nothing but
    /// the record.
    ///
    /// The call goes by the id it had. Resumed, it has to come to the arguments and bindings of the record, and the
    /// journal takes one answer for each ticket, so that making a ticket twice gives nothing away.
    pub fn of_call_made_again(record: TicketRecord, call: ToolCall) -> Self {
        let arguments = match &call.arguments {
            RawArguments::Json(Value::Object(arguments)) => arguments.clone(),
            RawArguments::Json(_) | RawArguments::Text(_) => Map::new(),
        };
        let call = ToolCall { id: record.call, ..call };
        Self { record, ways_out: Vec::new(), call, arguments, commands: Vec::new() }
    }

    /// Returns what was asked.
    pub fn record(&self) -> &TicketRecord {
        &self.record
    }

    /// Returns the arguments that were asked about, whole.
    pub fn arguments(&self) -> &Map<String, Value> {
        &self.arguments
    }

    /// Returns the commands that the call would run, and what of them is not clear, each on one line.
    pub fn commands(&self) -> &[String] {
        &self.commands
    }

    /// Returns the question, as an approver gets it.
    pub fn question(&self) -> Question {
        Question {
            ticket: self.record.clone(),
            arguments: Arc::new(self.arguments.clone()),
            commands: self.commands.clone(),
        }
    }
}

/// A ticket with its answer.
pub(super) struct Approved {
    pub(super) ticket: Ticket,
    pub(super) answer: Answer,
}
