//! What to do with calls that were under way when a run was stopped.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use haft_protocol::{
    CallId, ContentPart, Outcome, RECORD_VERSION, RawArguments, RequestedCall, RunEntry,
    TicketRecord, Timestamp, limits,
};
use haft_session::unknown_end;
use haft_tool::ports::Question;
use haft_tool::{Answer, CallContext, Dispatch};
use serde_json::{Map, Value};

/// What became of a call of a reply, as far as a journal knows.
#[derive(Debug, Clone, PartialEq)]
pub enum Fate {
    /// Its body never started. Making it is safe, whatever it does.
    NeverStarted,
    /// It waits for a person.
    Waiting,
    /// Its body started, and nobody knows how it ended.
    Started {
        /// Whether making it again does no harm.
        can_be_repeated: bool,
        /// Whether a process is still at it.
        is_running: bool,
        /// What it had done by then, as far as that is on record, one thing a line.
        done: Vec<String>,
    },
    /// It ended in this way.
    Ended(Arc<Outcome>),
}

/// What became of the open calls of a run. Of a call that is not in it, the worst is taken: that its body started, that
/// it cannot be repeated, and that nobody knows its end.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fates(HashMap<CallId, Fate>);

/// The worst that can have become of a call.
static UNKNOWN: Fate =
    Fate::Started { can_be_repeated: false, is_running: false, done: Vec::new() };

impl Fates {
    /// Makes them of what became of each call, by the id that stands in the reply.
    pub fn new(fates: impl IntoIterator<Item = (CallId, Fate)>) -> Self {
        Self(fates.into_iter().collect())
    }

    /// Returns what became of a call.
    pub fn of(&self, call: CallId) -> &Fate {
        self.0.get(&call).unwrap_or(&UNKNOWN)
    }
}

/// A call of a run's last reply of which no end is in the run's record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenCall {
    /// The call, as it stands in the reply.
    pub call: CallId,
    /// The id that it was made under last: that is what the journal knows it by.
    pub made_as: CallId,
}

/// Returns the open calls of the last reply of a run, in order.
pub fn open_calls<'a>(entries: impl IntoIterator<Item = &'a RunEntry>) -> Vec<OpenCall> {
    let mut open: Vec<OpenCall> = Vec::new();
    for entry in entries {
        match entry {
            RunEntry::Replied(reply) => {
                open = reply.calls().map(|it| OpenCall { call: it.id, made_as: it.id }).collect();
            }
            RunEntry::MadeAgain { call, made_as } => {
                if let Some(it) = open.iter_mut().find(|it| it.call == *call) {
                    it.made_as = *made_as;
                }
            }
            RunEntry::Ended { call, .. } => open.retain(|it| it.call != *call),
            RunEntry::Said(_) | RunEntry::Summarised(_) => open.clear(),
            RunEntry::Began(_)
            | RunEntry::Asked { .. }
            | RunEntry::Unanswered { .. }
            | RunEntry::Waits { .. }
            | RunEntry::Stopped(_)
            | RunEntry::Resumed { .. } => {}
        }
    }
    open
}

/// What to do with a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Verdict {
    /// Take its end.
    Take(Arc<Outcome>),
    /// Make it, under its own id.
    Make,
    /// Make it again: the journal has one start of each id, so it gets another.
    MakeAgain,
    /// Ask a person.
    Ask,
}

/// Decides what to do with a call.
pub(crate) fn verdict(fate: &Fate) -> Verdict {
    match fate {
        Fate::Ended(outcome) => Verdict::Take(Arc::clone(outcome)),
        // The question is asked anew: what it was about is looked at again on the way.
        Fate::NeverStarted | Fate::Waiting => Verdict::Make,
        Fate::Started { can_be_repeated: true, is_running: false, .. } => Verdict::MakeAgain,
        Fate::Started { .. } => Verdict::Ask,
    }
}

/// Asks a person whether a call may be made again that started and whose end nobody knows.
///
/// # Errors
///
/// Where the answer is not yes, returns what the model is told.
pub(crate) async fn ask_about(
    dispatch: &Dispatch,
    context: &CallContext,
    call: &RequestedCall,
    fate: &Fate,
) -> Result<(), Outcome> {
    let done = done_by(fate);
    let told = |text: &str| {
        let mut outcome = unknown_end();
        outcome.content.extend(done.clone().map(ContentPart::text));
        outcome.content.push(ContentPart::text(text));
        outcome
    };
    let nobody = "Nobody was there to say whether it may be made again.";
    let Some(question) = question(dispatch, context, call, fate) else {
        return Err(told("There is no such tool any more."));
    };
    let answer = {
        let _for_a_person = context.waits.begin();
        let limit = Duration::from_millis(limits::APPROVAL_MS);
        tokio::select! {
            biased;
            () = context.cancellation.cancelled() => return Err(told(nobody)),
            answer = tokio::time::timeout(limit, dispatch.ports().approver.ask(&question)) => answer.ok(),
        }
    };
    match answer {
        Some(Answer::Approve { .. }) => Ok(()),
        Some(Answer::Refuse { by, reason }) => {
            let why = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
            Err(told(&format!("Do not make it again, said {by}{why}.")))
        }
        Some(Answer::Nobody { .. } | Answer::Later) | None => Err(told(nobody)),
    }
}

/// Says what a call had done before nobody knows how it went on.
fn done_by(fate: &Fate) -> Option<String> {
    let Fate::Started { done, .. } = fate else { return None };
    (!done.is_empty()).then(|| format!("What it had done by then:\n- {}", done.join("\n- ")))
}

fn question(
    dispatch: &Dispatch,
    context: &CallContext,
    call: &RequestedCall,
    fate: &Fate,
) -> Option<Question> {
    let tool = context.tools.find(&call.tool)?;
    let ports = dispatch.ports();
    let arguments: Map<String, Value> = match &call.arguments {
        RawArguments::Json(Value::Object(map)) => map.clone(),
        RawArguments::Json(other) => Map::from_iter([("arguments".to_owned(), other.clone())]),
        RawArguments::Text(text) => serde_json::from_str(text)
            .unwrap_or_else(|_| Map::from_iter([("arguments".to_owned(), text.clone().into())])),
    };
    let is_running = matches!(fate, Fate::Started { is_running: true, .. });
    let because = if is_running {
        "it was started before, and another process is still at it: running it again would do it twice"
    } else {
        "it was started before the run was stopped, and nobody knows how it ended: running it again may do it twice"
    };
    let because = match done_by(fate) {
        Some(done) => format!("{because}. {done}"),
        None => because.to_owned(),
    };
    let ticket = TicketRecord {
        version: RECORD_VERSION,
        ticket: ports.ticket_id(),
        call: call.id,
        tool: tool.descriptor.name().clone(),
        fingerprint: tool.descriptor.fingerprint(),
        arguments_digest: haft_protocol::Digest::of_object(&arguments),
        bindings: Vec::new(),
        because,
        expires: Timestamp::from_unix_ms(ports.clock.now().unix_ms() + limits::APPROVAL_MS),
    };
    Some(Question { ticket, arguments: Arc::new(arguments), commands: Vec::new() })
}
