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
    /// The next request does not fit into what is left of a limit.
    Unaffordable(StopCause),
    /// Somebody interrupted.
    Interrupted,
    /// The turn's time was up while something was under way.
    OutOfTime,
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
    /// Ask the model the same, once more, in another form.
    AskAgain(Changed),
    /// Make the calls of the last reply.
    Call,
    /// End the calls of the last reply without making any: it is not whole.
    PassOver,
    /// Summarise older messages.
    Summarise,
    /// Stop.
    Stop(StopCause),
}

/// What is different when a request is made once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changed {
    /// Earlier replies are shown without reasoning, and without what only their provider understands.
    NoReasoning,
    /// The reply may have half as many tokens.
    ShorterReply,
}

/// What a turn does next, decided without doing anything: a value with one method.
///
/// - It never asks once a limit has been reached.
/// - It never makes calls of a reply that is not whole.
/// - It stops: what it does again without a limit of steps, it does a bounded number of times.
#[derive(Debug, Clone)]
pub struct TurnMachine {
    limits: RunLimits,
    guard: LoopGuard,
    cut_replies: u32,
    empty_replies: u32,
    overflows: u32,
    shorter_replies: u32,
    is_without_reasoning: bool,
}

impl TurnMachine {
    /// Makes the machine of one turn.
    pub fn new(limits: RunLimits) -> Self {
        Self {
            limits,
            guard: LoopGuard::default(),
            cut_replies: 0,
            empty_replies: 0,
            overflows: 0,
            shorter_replies: 0,
            is_without_reasoning: false,
        }
    }

    /// Decides what to do after what happened.
    pub fn next(&mut self, heard: Heard<'_>, spent: &Spent) -> Next {
        match heard {
            Heard::Begin | Heard::Summarised => self.ask(Vec::new(), spent),
            Heard::Reply(reply) => self.after_reply(reply, spent),
            Heard::NoReply(error) => self.after_error(error, spent),
            Heard::Ended(ends) => self.after_calls(ends, spent),
            Heard::Waits(ticket) => Next::Stop(StopCause::Waits { ticket }),
            Heard::NotSummarised(text) => Next::Stop(StopCause::Window { text }),
            Heard::Unaffordable(cause) => Next::Stop(cause),
            Heard::Interrupted => Next::Stop(StopCause::Interrupted { by: None }),
            Heard::OutOfTime => {
                Next::Stop(self.limits.out_of_time().unwrap_or(StopCause::Interrupted { by: None }))
            }
            Heard::Unrecorded(text) => Next::Stop(StopCause::Unrecorded { text }),
        }
    }

    fn ask(&self, notices: Vec<Notice>, spent: &Spent) -> Next {
        self.unless_reached(Next::Ask { notices }, spent)
    }

    fn unless_reached(&self, next: Next, spent: &Spent) -> Next {
        self.limits.reached(spent).map_or(next, Next::Stop)
    }

    fn after_reply(&mut self, reply: &Reply, spent: &Spent) -> Next {
        self.overflows = 0;
        self.shorter_replies = 0;
        if reply.calls().next().is_some() {
            return if reply.stop.lets_calls_run() { Next::Call } else { Next::PassOver };
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
                    return Next::Stop(StopCause::Empty);
                }
                let text = "your last reply was empty; call a tool, answer what you were asked, or say what you did and what is left";
                self.ask(vec![notice(text)], spent)
            }
        }
    }

    fn after_error(&mut self, error: &ModelError, spent: &Spent) -> Next {
        let text = error.text.clone();
        match error.kind {
            ModelErrorKind::Overflow if self.overflows == 0 => {
                self.overflows += 1;
                self.unless_reached(Next::Summarise, spent)
            }
            ModelErrorKind::Reasoning if !self.is_without_reasoning => {
                self.is_without_reasoning = true;
                self.unless_reached(Next::AskAgain(Changed::NoReasoning), spent)
            }
            ModelErrorKind::OutputOverflow if self.shorter_replies < limits::SHORTER_REPLIES => {
                self.shorter_replies += 1;
                self.unless_reached(Next::AskAgain(Changed::ShorterReply), spent)
            }
            ModelErrorKind::Overflow | ModelErrorKind::OutputOverflow => {
                Next::Stop(StopCause::Window { text })
            }
            ModelErrorKind::Refused => Next::Stop(StopCause::Refused { text }),
            kind => Next::Stop(StopCause::Model { kind: kind.as_str().to_owned(), text }),
        }
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
        let mut notices: Vec<Notice> = Vec::new();
        let mut take = |seen: Seen| match seen {
            Seen::Fresh => None,
            Seen::Repeated { text } => {
                let told = notice(&text);
                if !notices.contains(&told) {
                    notices.push(told);
                }
                None
            }
            Seen::Stop { text } => Some(Next::Stop(StopCause::Loop { text })),
        };
        for (call, outcome) in ends.iter().filter(|(call, _)| call.is_whole) {
            if let Some(stop) = take(self.guard.see(call, outcome)) {
                return stop;
            }
        }
        if let Some(stop) = take(self.guard.see_step(ends)) {
            return stop;
        }
        self.ask(notices, spent)
    }
}

fn notice(text: &str) -> Notice {
    Notice::new(NoticeKind::Remark, text)
}
