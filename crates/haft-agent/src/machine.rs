//! What a turn does next.

use haft_model::{ModelError, ModelErrorKind};
use haft_protocol::{
    Notice, NoticeKind, Outcome, Reply, RequestedCall, StopCause, StopReason, TicketId, limits,
};

use crate::guard::{LoopGuard, Seen};
use crate::limits::{RunLimits, Spent};

/// What happened, as the machine hears of it.
#[derive(Debug)]
pub enum Heard<'a> {
    /// The turn begins, or is taken up again with nothing open.
    Begin,
    /// The model replied.
    Reply(&'a Reply),
    /// The model did not reply.
    NoReply(&'a ModelError),
    /// The calls of the last reply ended.
    Ended(&'a [(RequestedCall, Outcome)]),
    /// A call of the last reply waits for a person.
    Waits(TicketId),
    /// Older messages were summarised, and the request is smaller now.
    Summarised,
    /// They were not, or it did not help.
    NotSummarised(String),
    /// Somebody interrupted.
    Interrupted,
    /// The record could not be kept.
    Unrecorded(String),
}

/// What the turn does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Ask the model.
    Ask {
        /// What it has to be told beside.
        notices: Vec<Notice>,
    },
    /// Make the calls of the last reply.
    Call,
    /// Summarise older messages.
    Summarise,
    /// Stop.
    Stop(StopCause),
}

/// What a turn does next, decided without doing anything: a value with one method.
#[derive(Debug, Clone)]
pub struct TurnMachine {
    limits: RunLimits,
    guard: LoopGuard,
    cut_replies: u32,
    empty_replies: u32,
    overflows: u32,
}

impl TurnMachine {
    /// Makes the machine of one turn.
    pub fn new(limits: RunLimits) -> Self {
        Self { limits, guard: LoopGuard::default(), cut_replies: 0, empty_replies: 0, overflows: 0 }
    }

    /// Decides what to do after what happened.
    pub fn next(&mut self, heard: Heard<'_>, spent: &Spent) -> Next {
        match heard {
            Heard::Begin => self.ask(Vec::new(), spent),
            Heard::Reply(reply) => self.after_reply(reply, spent),
            Heard::NoReply(error) => self.after_error(error),
            Heard::Ended(ends) => self.after_calls(ends, spent),
            Heard::Waits(ticket) => Next::Stop(StopCause::Waits { ticket }),
            Heard::Summarised => self.ask(Vec::new(), spent),
            Heard::NotSummarised(text) => Next::Stop(StopCause::Window { text }),
            Heard::Interrupted => Next::Stop(StopCause::Interrupted),
            Heard::Unrecorded(text) => Next::Stop(StopCause::Unrecorded { text }),
        }
    }

    fn ask(&self, notices: Vec<Notice>, spent: &Spent) -> Next {
        match self.limits.reached(spent) {
            Some(cause) => Next::Stop(cause),
            None => Next::Ask { notices },
        }
    }

    fn after_reply(&mut self, reply: &Reply, spent: &Spent) -> Next {
        self.overflows = 0;
        if reply.calls().next().is_some() {
            return Next::Call;
        }
        match &reply.stop {
            StopReason::Length | StopReason::CutShort | StopReason::Window => {
                self.cut_replies += 1;
                if self.cut_replies > limits::CUT_REPLIES {
                    return Next::Stop(StopCause::Length);
                }
                self.ask(
                    vec![notice("your last reply was cut off; go on from there, briefly")],
                    spent,
                )
            }
            StopReason::Filtered | StopReason::Refused => {
                Next::Stop(StopCause::Refused { text: reply.text() })
            }
            StopReason::End | StopReason::Calls | StopReason::Other(_) => {
                if !reply.text().trim().is_empty() {
                    return Next::Stop(StopCause::Done);
                }
                self.empty_replies += 1;
                if self.empty_replies > limits::EMPTY_REPLIES {
                    return Next::Stop(StopCause::Done);
                }
                let text =
                    "your last reply was empty; call a tool, or say what you did and what is left";
                self.ask(vec![notice(text)], spent)
            }
        }
    }

    fn after_error(&mut self, error: &ModelError) -> Next {
        if error.kind == ModelErrorKind::Overflow && self.overflows == 0 {
            self.overflows += 1;
            return Next::Summarise;
        }
        Next::Stop(match error.kind {
            ModelErrorKind::Overflow => StopCause::Window { text: error.text.clone() },
            ModelErrorKind::Refused => StopCause::Refused { text: error.text.clone() },
            kind => StopCause::Model { kind: kind.as_str().to_owned(), text: error.text.clone() },
        })
    }

    fn after_calls(&mut self, ends: &[(RequestedCall, Outcome)], spent: &Spent) -> Next {
        self.empty_replies = 0;
        if ends.iter().any(|(call, _)| call.is_whole) {
            self.cut_replies = 0;
        } else {
            self.cut_replies += 1;
            if self.cut_replies > limits::CUT_REPLIES {
                return Next::Stop(StopCause::Length);
            }
        }
        let mut notices = Vec::new();
        for (call, outcome) in ends {
            match self.guard.see(call, outcome) {
                Seen::Fresh => {}
                Seen::Repeated { times } => notices.push(notice(&format!(
                    "you have made this call of `{}` {times} times with the same result; do something else, or say what is missing",
                    call.tool
                ))),
                Seen::Stop { text } => return Next::Stop(StopCause::Loop { text }),
            }
        }
        self.ask(notices, spent)
    }
}

fn notice(text: &str) -> Notice {
    Notice::new(NoticeKind::Remark, text)
}
