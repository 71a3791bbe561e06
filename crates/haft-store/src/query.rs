//! Which one is meant, of calls and of runs.

use std::fmt;
use std::str::FromStr;

use haft_protocol::{CallId, RunId};
use rusqlite::{Connection, Row, params};

use crate::StoreError;

/// Characters that part of an id has at least.
const PART_CHARS: usize = 4;

/// Characters of an id.
const ID_CHARS: usize = 26;

/// How many are named when a part of an id fits several.
pub(crate) const CANDIDATES: usize = 10;

/// Which one is meant, of a kind that has ids `I`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Query<I> {
    /// The last one; written `last`. Of calls that is the one that was recorded last, of runs the one whose last entry is
    /// the latest, subagents aside.
    Last,
    /// The one of this id.
    Id(I),
    /// The only one whose id, or the last eight letters of it, begins or ends with this.
    Part(IdPart),
}

/// Which call is meant.
pub type IdQuery = Query<CallId>;

/// Which run is meant.
pub type RunQuery = Query<RunId>;

/// The begin or the end of an id: at least four of its letters and digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdPart(String);

/// A table of what has ids, and the end of the statement that finds the last one.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) last: &'static str,
}

impl<I: FromStr> Query<I> {
    /// Reads `last`, an id or part of one. `None` for what can be none of these.
    fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.eq_ignore_ascii_case("last") {
            return Some(Self::Last);
        }
        let lower = text.to_ascii_lowercase();
        if let Ok(id) = lower.parse() {
            return Some(Self::Id(id));
        }
        let fits = lower.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && (PART_CHARS..ID_CHARS).contains(&lower.len());
        fits.then_some(Self::Part(IdPart(lower)))
    }
}

impl<I: fmt::Display> Query<I> {
    /// Returns the ids that fit, newest first, at most one more than are named.
    pub(crate) fn find(
        &self,
        connection: &Connection,
        table: &Table,
    ) -> Result<Vec<String>, rusqlite::Error> {
        let Table { name, last } = table;
        let id = |row: &Row<'_>| row.get(0);
        match self {
            Self::Last => connection
                .prepare_cached(&format!("SELECT id FROM {name} {last} LIMIT 1"))?
                .query_map([], id)?
                .collect(),
            Self::Id(meant) => connection
                .prepare_cached(&format!("SELECT id FROM {name} WHERE id = ?1"))?
                .query_map([meant.to_string()], id)?
                .collect(),
            // Ids sort by time, and in their order the index alone answers. The last eight letters are how ids are listed,
            // so their first ones are what people type.
            Self::Part(IdPart(part)) => connection
                .prepare_cached(&format!(
                    "SELECT id FROM {name} WHERE substr(id, 1, length(?1)) = ?1 OR substr(id, -length(?1)) = ?1
                        OR substr(id, -8, length(?1)) = ?1
                     ORDER BY id DESC LIMIT ?2"
                ))?
                .query_map(params![part, (CANDIDATES + 1) as u32], id)?
                .collect(),
        }
    }
}

impl FromStr for Query<CallId> {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        Self::read(text).ok_or_else(|| StoreError::NotAnId { query: shown(text) })
    }
}

impl FromStr for Query<RunId> {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        Self::read(text).ok_or_else(|| StoreError::NotARun { query: shown(text) })
    }
}

impl From<CallId> for Query<CallId> {
    fn from(id: CallId) -> Self {
        Self::Id(id)
    }
}

impl From<RunId> for Query<RunId> {
    fn from(id: RunId) -> Self {
        Self::Id(id)
    }
}

impl<I: fmt::Display> fmt::Display for Query<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Last => f.write_str("last"),
            Self::Id(id) => id.fmt(f),
            Self::Part(IdPart(part)) => f.write_str(part),
        }
    }
}

fn shown(text: &str) -> String {
    text.trim().chars().take(40).collect()
}
