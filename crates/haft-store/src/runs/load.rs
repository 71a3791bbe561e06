//! Reading the entries of a run back.

use std::fmt;

use haft_protocol::{Digest, RECORD_VERSION, RunEntry, RunId};
use haft_tool::SystemClock;
use haft_tool::ports::Clock as _;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, params};
use serde::Serialize;

use super::{Runs, row};
use crate::StoreError;
use crate::objects::Objects;
use crate::record::time;

/// What is on record of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRecord {
    /// Its entries from the first one on, up to the first that cannot be read.
    pub entries: Vec<RunEntry>,
    /// The one that cannot be read, where there is one.
    pub unreadable: Option<UnreadableEntry>,
}

/// An entry of a run that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnreadableEntry {
    /// Which entry, counted from 1.
    pub entry: u64,
    /// What is wrong with it, as the end of a sentence.
    pub problem: String,
    /// How many entries stand behind it. Nobody can tell what they mean without it.
    pub behind: u64,
}

impl fmt::Display for UnreadableEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entry, problem, behind } = self;
        write!(f, "entry {entry} of the run {problem}; ")?;
        match behind {
            0 => f.write_str("it is left out"),
            1 => f.write_str("it and the one behind it are left out"),
            behind => write!(f, "it and the {behind} behind it are left out"),
        }
    }
}

/// Entries that were read, and how far.
pub(super) struct Loaded {
    pub(super) record: RunRecord,
    /// The place of the last one that could be read.
    pub(super) read_to: i64,
}

/// An entry as it lies there.
struct Stored {
    seq: i64,
    version: i64,
    kind: String,
    json: Option<Vec<u8>>,
    digest: Option<String>,
    bytes: i64,
}

impl Runs {
    /// Reads a run as far as it can be read.
    pub(super) fn load(&self, run: RunId) -> Result<Loaded, StoreError> {
        let inner = &self.store.inner;
        let stored = inner.read(move |connection| {
            let tx = connection.unchecked_transaction()?;
            row::find(&tx, run)?.map(|run| all(&tx, run)).transpose()
        })?;
        let stored = stored.ok_or_else(|| StoreError::NoSuchRun { query: run.to_string() })?;
        let count = stored.len();
        let mut loaded =
            Loaded { record: RunRecord { entries: Vec::new(), unreadable: None }, read_to: -1 };
        for (place, entry) in stored.into_iter().enumerate() {
            let seq = entry.seq;
            let first = place == 0;
            let read = entry.read(&inner.objects).and_then(|entry| match &entry {
                RunEntry::Began(_) if !first => Err("is a second begin".to_owned()),
                _ if first && !matches!(entry, RunEntry::Began(_)) => {
                    Err("is not the begin of a run".to_owned())
                }
                _ => Ok(entry),
            });
            match read {
                Ok(entry) => loaded.record.entries.push(entry),
                Err(problem) => {
                    let behind = (count - place - 1) as u64;
                    loaded.record.unreadable =
                        Some(UnreadableEntry { entry: place as u64 + 1, problem, behind });
                    break;
                }
            }
            loaded.read_to = seq;
        }
        Ok(loaded)
    }

    /// Sets aside what stands behind a place. It stays on record and is not read any more.
    pub(super) fn set_aside(&self, run: i64, behind: i64) -> Result<(), StoreError> {
        let now = time(SystemClock.now());
        self.work(move |connection| {
            connection.execute(
                "UPDATE run_entries SET set_aside_at = ?3 WHERE run = ?1 AND seq > ?2 AND set_aside_at IS NULL",
                params![run, behind, now],
            )
        })?;
        Ok(())
    }
}

fn all(connection: &Connection, run: i64) -> Result<Vec<Stored>, rusqlite::Error> {
    connection
        .prepare_cached(
            "SELECT seq, version, kind, json, digest, bytes FROM run_entries
             WHERE run = ?1 AND set_aside_at IS NULL ORDER BY seq",
        )?
        .query_map([run], |row| {
            Ok(Stored {
                seq: row.get("seq")?,
                version: row.get("version")?,
                kind: text(row, "kind")?,
                json: bytes(row, "json")?,
                digest: row.get("digest").unwrap_or(None),
                bytes: row.get("bytes")?,
            })
        })?
        .collect()
}

/// Reads a column that may have been cut within a letter.
fn bytes(row: &Row<'_>, column: &str) -> Result<Option<Vec<u8>>, rusqlite::Error> {
    Ok(match row.get_ref(column)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes.to_vec()),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => None,
    })
}

fn text(row: &Row<'_>, column: &str) -> Result<String, rusqlite::Error> {
    let bytes = bytes(row, column)?.unwrap_or_default();
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

impl Stored {
    /// Reads the entry, or says what is wrong with it.
    fn read(self, objects: &Objects) -> Result<RunEntry, String> {
        if self.version < 1 || self.version > i64::from(RECORD_VERSION) {
            return Err(format!(
                "has form {}, and this haft knows forms up to {RECORD_VERSION}",
                self.version
            ));
        }
        let json = match (self.json, self.digest) {
            (Some(json), _) => json,
            (None, Some(digest)) => {
                let digest: Option<Digest> = digest.parse().ok();
                let content = digest.and_then(|digest| objects.read(digest));
                content.ok_or("lies in a file that is gone or was changed")?.to_vec()
            }
            (None, None) => return Err("is empty".to_owned()),
        };
        if i64::try_from(json.len()).is_ok_and(|bytes| bytes != self.bytes) {
            return Err(format!("is damaged: it has {} bytes, and had {}", json.len(), self.bytes));
        }
        serde_json::from_slice(&json).map_err(|_| match self.kind.as_str() {
            kind if KINDS.contains(&kind) => "cannot be read".to_owned(),
            kind => {
                let kind: String = kind.chars().take(40).collect();
                format!("is of a kind that this haft does not know, `{}`", kind.escape_debug())
            }
        })
    }
}

/// The kinds of entries that this haft knows.
const KINDS: &[&str] = &[
    "began",
    "said",
    "asked",
    "unanswered",
    "replied",
    "waits",
    "made_again",
    "ended",
    "summarised",
    "stopped",
    "resumed",
];
