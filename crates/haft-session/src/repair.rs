//! A transcript from entries that something may have happened to.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use std::sync::Arc;

use haft_protocol::{CallId, ContentPart, Outcome, RunEntry, Status};

use crate::transcript::{Transcript, TranscriptError};

/// A transcript that was put together again.
#[derive(Debug, Clone, Default)]
pub struct Mended {
    /// The transcript. Calls of its last reply may be open.
    pub transcript: Transcript,
    /// What did not fit, and what was made of it, one a line.
    pub remarks: Vec<String>,
}

/// Makes a transcript of what was kept of a run, whatever is missing, doubled or out of order.
///
/// An end is put where its call is, wherever it was kept. A call without an end, that another message follows, gets one
/// that says so ([`unknown_end`]); the calls of the last reply stay open, for somebody may know how they ended. What has
/// no place is left out and named.
pub fn mend<'a>(entries: impl IntoIterator<Item = &'a RunEntry>) -> Mended {
    let mut mending = Mending::default();
    let mut messages = Vec::new();
    for entry in entries {
        match entry {
            RunEntry::Ended { call, outcome } => mending.know(*call, outcome),
            RunEntry::Said(_) | RunEntry::Replied(_) | RunEntry::Summarised(_) => {
                messages.push(entry);
            }
            RunEntry::Began(_)
            | RunEntry::Asked { .. }
            | RunEntry::Unanswered { .. }
            | RunEntry::Waits { .. }
            | RunEntry::MadeAgain { .. }
            | RunEntry::Stopped(_)
            | RunEntry::Resumed { .. } => {}
        }
    }
    for entry in messages {
        let (before, remarks) = (mending.mended.transcript.clone(), mending.mended.remarks.len());
        if let Err(error) = mending.take(entry) {
            // What has no place does not end the calls before it either.
            mending.mended.transcript = before;
            mending.mended.remarks.truncate(remarks);
            mending.mended.remarks.push(format!("left out {}: {error}", what(entry)));
        }
    }
    mending.finish()
}

/// Makes the end of a call of which nobody knows how it ended: it was begun, and what began it is gone.
pub fn unknown_end() -> Outcome {
    let mut outcome = Outcome::new(Status::Cancelled);
    outcome.content.push(ContentPart::text(
        "The run was interrupted during this call. Whether it took effect is not known: look at what is there before you make it again.",
    ));
    outcome
}

#[derive(Default)]
struct Mending<'a> {
    mended: Mended,
    ends: HashMap<CallId, &'a Outcome>,
    /// The calls of the ends, in the order in which they were kept.
    order: Vec<CallId>,
}

impl<'a> Mending<'a> {
    fn know(&mut self, call: CallId, outcome: &'a Outcome) {
        match self.ends.entry(call) {
            Slot::Vacant(slot) => {
                slot.insert(outcome);
                self.order.push(call);
            }
            Slot::Occupied(_) => {
                let remark = format!("left out a second end of call {call}");
                self.mended.remarks.push(remark);
            }
        }
    }

    fn take(&mut self, entry: &RunEntry) -> Result<(), TranscriptError> {
        match entry {
            RunEntry::Said(message) => {
                self.close();
                self.mended.transcript.say(message.clone())
            }
            RunEntry::Replied(reply) => {
                self.close();
                self.mended.transcript.reply(reply.clone())?;
                let calls: Vec<CallId> = reply.calls().map(|call| call.id).collect();
                for call in calls {
                    if let Some(outcome) = self.ends.remove(&call) {
                        self.mended.transcript.end(call, Arc::new(outcome.clone()))?;
                    }
                }
                Ok(())
            }
            RunEntry::Summarised(summary) => {
                self.close();
                self.mended.transcript.summarise(summary.clone())
            }
            RunEntry::Ended { .. }
            | RunEntry::Began(_)
            | RunEntry::Asked { .. }
            | RunEntry::Unanswered { .. }
            | RunEntry::Waits { .. }
            | RunEntry::MadeAgain { .. }
            | RunEntry::Stopped(_)
            | RunEntry::Resumed { .. } => Ok(()),
        }
    }

    /// Ends the calls that are open and that something follows.
    fn close(&mut self) {
        let open: Vec<_> = self.mended.transcript.open_calls().cloned().collect();
        for call in open {
            let remark = format!(
                "call {} of `{}` has no end: nobody knows how it ended",
                call.id, call.tool
            );
            self.mended.remarks.push(remark);
            // The call is open, so its end is taken.
            let _ = self.mended.transcript.end(call.id, Arc::new(unknown_end()));
        }
    }

    fn finish(self) -> Mended {
        let Self { mut mended, ends, order } = self;
        let lost = order.iter().filter(|call| ends.contains_key(call));
        let remarks =
            lost.map(|call| format!("left out the end of call {call}: nobody asked for it"));
        mended.remarks.extend(remarks);
        mended
    }
}

/// Returns what an entry is, in words.
fn what(entry: &RunEntry) -> String {
    match entry {
        RunEntry::Said(message) => format!("what was said in {}", message.id),
        RunEntry::Replied(reply) => format!("reply {}", reply.id),
        RunEntry::Summarised(summary) => format!("summary {}", summary.id),
        RunEntry::Ended { call, .. } => format!("the end of call {call}"),
        RunEntry::Began(_)
        | RunEntry::Asked { .. }
        | RunEntry::Unanswered { .. }
        | RunEntry::Waits { .. }
        | RunEntry::MadeAgain { .. }
        | RunEntry::Stopped(_)
        | RunEntry::Resumed { .. } => "a line of the record".to_owned(),
    }
}
