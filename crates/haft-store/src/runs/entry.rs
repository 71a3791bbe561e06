//! An entry on its way on record.

use std::sync::Arc;

use haft_protocol::limits::{RUN_ENTRY_BYTES, RUN_ENTRY_INLINE_BYTES};
use haft_protocol::{Digest, RECORD_VERSION, RunEntry, Timestamp};
use haft_tool::SystemClock;
use haft_tool::ports::Clock as _;
use rusqlite::Connection;

use super::row::{EntryRow, Totals};
use crate::StoreError;
use crate::objects::{Objects, Staged};
use crate::record::{Recorder, time};
use crate::store::Inner;

/// An entry in its stored form. A large one is in a file that has no name yet.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) row: EntryRow,
    staged: Option<(Staged, Digest)>,
}

impl Prepared {
    /// Brings an entry into the form in which it is kept, and makes sure that it comes back as it is.
    pub(super) fn of(inner: &Inner, entry: &RunEntry) -> Result<Self, StoreError> {
        let refused = |text: String| StoreError::Refused { text };
        let kind = kind(entry);
        let json = serde_json::to_string(entry).map_err(|error| {
            refused(format!("a run's entry `{kind}` has no JSON form: {error}"))
        })?;
        if json.len() > RUN_ENTRY_BYTES {
            let bytes = json.len();
            return Err(refused(format!(
                "a run's entry `{kind}` has {bytes} bytes; it may have {RUN_ENTRY_BYTES}"
            )));
        }
        // Only what is nested too deeply for a reader of JSON does not; better told now than when it is needed.
        if !serde_json::from_str(&json).is_ok_and(|back: RunEntry| back == *entry) {
            return Err(refused(format!(
                "a run's entry `{kind}` would not come back as it is: its data is nested too deeply"
            )));
        }
        let mut row = EntryRow {
            at: time(at(entry)),
            version: RECORD_VERSION,
            kind,
            bytes: i64::try_from(json.len()).unwrap_or(i64::MAX),
            json: None,
            digest: None,
            totals: Totals::of(entry),
            stopped: match entry {
                RunEntry::Stopped(stopped) => {
                    Some(Recorder::new(&inner.redaction).stop_cause(&stopped.cause)?)
                }
                _ => None,
            },
            ended: match entry {
                RunEntry::Ended { call, .. } => Some(call.to_string()),
                _ => None,
            },
        };
        if json.len() <= RUN_ENTRY_INLINE_BYTES {
            row.json = Some(json);
            return Ok(Self { row, staged: None });
        }
        let bytes: Arc<[u8]> = json.into_bytes().into();
        let digest = Digest::of_bytes(&bytes);
        row.digest = Some(digest.to_string());
        let staged = inner.objects.stage(&bytes)?;
        Ok(Self { row, staged: Some((staged, digest)) })
    }

    /// Tells whether the row has all of it.
    pub(super) fn is_inline(&self) -> bool {
        self.staged.is_none()
    }

    /// Puts the entry behind the others of its run, and its content in its place. The outer error is the database's.
    ///
    /// Whoever calls commits. The content outlasts a power failure from then on, as what follows from the entry may.
    pub(super) fn put(
        &self,
        tx: &Connection,
        objects: &Objects,
        run: i64,
        lease: &str,
    ) -> Result<Result<(), StoreError>, rusqlite::Error> {
        if let Err(text) = self.row.insert(tx, run, lease)? {
            return Ok(Err(StoreError::Refused { text }));
        }
        // Within the transaction: nobody can find the content unused, and remove it, between here and the commit.
        Ok(match &self.staged {
            Some((staged, digest)) => objects.place_lasting(staged, *digest),
            None => Ok(()),
        })
    }
}

/// Returns when an entry was made. What does not say so is made now.
fn at(entry: &RunEntry) -> Timestamp {
    match entry {
        RunEntry::Began(it) => it.at,
        RunEntry::Said(it) => it.at,
        RunEntry::Replied(it) => it.at,
        RunEntry::Summarised(it) => it.at,
        RunEntry::Stopped(it) => it.at,
        RunEntry::Asked { at, .. } | RunEntry::Unanswered { at, .. } | RunEntry::Resumed { at } => {
            *at
        }
        RunEntry::Waits { .. } | RunEntry::MadeAgain { .. } | RunEntry::Ended { .. } => {
            SystemClock.now()
        }
    }
}

/// Returns the kind of an entry, as its serde form names it.
fn kind(entry: &RunEntry) -> &'static str {
    match entry {
        RunEntry::Began(_) => "began",
        RunEntry::Said(_) => "said",
        RunEntry::Asked { .. } => "asked",
        RunEntry::Unanswered { .. } => "unanswered",
        RunEntry::Replied(_) => "replied",
        RunEntry::Waits { .. } => "waits",
        RunEntry::MadeAgain { .. } => "made_again",
        RunEntry::Ended { .. } => "ended",
        RunEntry::Summarised(_) => "summarised",
        RunEntry::Stopped(_) => "stopped",
        RunEntry::Resumed { .. } => "resumed",
    }
}
