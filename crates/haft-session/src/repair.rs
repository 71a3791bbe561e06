//! A transcript from entries that something may have happened to.

use haft_protocol::{Denial, Outcome, RunEntry};

use crate::transcript::{Transcript, TranscriptError};

/// A transcript that was put together again.
#[derive(Debug, Clone, Default)]
pub struct Mended {
    /// The transcript. Calls of its last reply may be open.
    pub transcript: Transcript,
    /// What did not fit, and what was made of it, one a line.
    pub remarks: Vec<String>,
}

/// Makes a transcript of what was kept of a run, whatever is missing.
///
/// A result without a call is left out. A call without a result, that another message follows, gets one that says so; the
/// calls of the last reply stay open, for somebody may know how they ended.
pub fn mend<'a>(entries: impl IntoIterator<Item = &'a RunEntry>) -> Mended {
    let mut mended = Mended::default();
    for entry in entries {
        if let Err(error) = mended.take(entry) {
            mended.remarks.push(error.to_string());
        }
    }
    mended
}

impl Mended {
    fn take(&mut self, entry: &RunEntry) -> Result<(), TranscriptError> {
        match entry {
            RunEntry::Said(message) => {
                self.close();
                self.transcript.say(message.clone())
            }
            RunEntry::Replied(reply) => {
                self.close();
                self.transcript.reply(reply.clone())
            }
            RunEntry::Ended { call, outcome } => {
                self.transcript.end(*call, std::sync::Arc::new((**outcome).clone()))
            }
            RunEntry::Summarised(summary) => {
                self.close();
                self.transcript.summarise(summary.clone())
            }
            RunEntry::Began(_)
            | RunEntry::Asked { .. }
            | RunEntry::Unanswered { .. }
            | RunEntry::Waits { .. }
            | RunEntry::Stopped(_)
            | RunEntry::Resumed { .. } => Ok(()),
        }
    }

    fn close(&mut self) {
        let open: Vec<_> = self.transcript.open_calls().map(|call| call.id).collect();
        for call in open {
            self.remarks.push(format!("call {call} has no recorded end"));
            let lost = Outcome::from(Denial::new(haft_protocol::Control::Stale, "interrupted"));
            // The call is open, so its end is taken.
            let _ = self.transcript.end(call, std::sync::Arc::new(lost));
        }
    }
}
