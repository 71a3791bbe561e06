//! The journal of dispatch.

use std::sync::atomic::Ordering;

use haft_protocol::limits::RUN_ENTRY_BYTES;
use haft_protocol::{Capabilities, IntentRecord};
use haft_tool::BoxFuture;
use haft_tool::ports::{Entry, Journal, PortError};

use crate::StoreError;
use crate::record::{Recorder, time};
use crate::store::{Inner, Store};
use crate::writer::Write;

impl Journal for Store {
    fn append<'a>(&'a self, entry: Entry<'a>) -> BoxFuture<'a, Result<(), PortError>> {
        Box::pin(async move { Ok(self.inner.append(entry, &self.roots).await?) })
    }
}

/// Whether anybody waits for an entry to be committed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waiting {
    Yes,
    /// Not now: it is in line before the outcome, for which somebody will.
    No,
}

impl Inner {
    async fn append(&self, entry: Entry<'_>, roots: &[String]) -> Result<(), StoreError> {
        let waiting = self.waiting_for(&entry);
        let write = self.stored(entry, roots)?;
        if waiting == Waiting::No {
            return self.writer.append_quietly(write);
        }
        self.writer.append(write)?.await.map_err(|_| StoreError::Stopped)?
    }

    /// Redacts, bounds and serialises, on the task of whoever appends: the one thread that writes only writes.
    fn stored(&self, entry: Entry<'_>, roots: &[String]) -> Result<Write, StoreError> {
        let recorder = Recorder::new(&self.redaction);
        Ok(match entry {
            Entry::Intent(record) => Write::Intent(Box::new(recorder.intent(record, roots)?)),
            Entry::Ticket(record) => Write::Ticket(recorder.ticket(record)?),
            Entry::Answered { ticket, answer, at } => Write::Answered {
                ticket: ticket.to_string(),
                answer: recorder.answer(answer),
                at: time(at),
            },
            Entry::Started(record) => Write::Started {
                call: record.call.to_string(),
                attempt: record.attempt,
                at: time(record.at),
                must_last: record.must_last,
            },
            Entry::Outcome(record) => {
                let mut row = recorder.outcome(record)?;
                if !row.is_whole && self.open_runs.load(Ordering::Relaxed) > 0 {
                    let whole = serde_json::to_string(&record.outcome).ok();
                    row.whole = whole.filter(|whole| whole.len() <= RUN_ENTRY_BYTES);
                }
                Write::Outcome(row)
            }
        })
    }

    /// Of a call that changes nothing, only the end is waited for; a lost begin of it is worth nothing.
    fn waiting_for(&self, entry: &Entry<'_>) -> Waiting {
        match entry {
            Entry::Intent(record) if changes_nothing(record) => {
                self.quiet().insert(record.call);
                Waiting::No
            }
            Entry::Intent(record) => {
                self.quiet().remove(&record.call);
                Waiting::Yes
            }
            Entry::Started(record) if !record.must_last && self.quiet().contains(&record.call) => {
                Waiting::No
            }
            Entry::Started(_) | Entry::Answered { .. } => Waiting::Yes,
            Entry::Ticket(record) => {
                self.quiet().remove(&record.call);
                Waiting::Yes
            }
            Entry::Outcome(record) => {
                self.quiet().remove(&record.call);
                Waiting::Yes
            }
        }
    }
}

fn changes_nothing(record: &IntentRecord) -> bool {
    record.effects.as_ref().is_some_and(Capabilities::is_read_only)
}
