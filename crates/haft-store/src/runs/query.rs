//! Which run is meant.

use std::fmt;
use std::str::FromStr;

use haft_protocol::RunId;
use rusqlite::{Connection, Row, params};

use crate::StoreError;
use crate::show::{CANDIDATES, IdPart, Meant};

/// Which run is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunQuery {
    /// The run whose last entry is the latest, subagents aside; written `last`.
    Last,
    /// The run of this id.
    Id(RunId),
    /// The one run whose id, or the last eight letters of it, begins or ends with this.
    Part(IdPart),
}

impl FromStr for RunQuery {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        match Meant::of(text) {
            Some(Meant::Last) => Ok(Self::Last),
            Some(Meant::Id(id)) => Ok(Self::Id(id)),
            Some(Meant::ByPart(part)) => Ok(Self::Part(part)),
            None => Err(StoreError::NotARun { query: text.trim().chars().take(40).collect() }),
        }
    }
}

impl From<RunId> for RunQuery {
    fn from(id: RunId) -> Self {
        Self::Id(id)
    }
}

impl fmt::Display for RunQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Last => f.write_str("last"),
            Self::Id(id) => id.fmt(f),
            Self::Part(part) => part.fmt(f),
        }
    }
}

/// Returns the ids that fit, newest first, at most one more than are named.
pub(super) fn find(
    connection: &Connection,
    query: &RunQuery,
) -> Result<Vec<String>, rusqlite::Error> {
    let id = |row: &Row<'_>| row.get(0);
    match query {
        RunQuery::Last => connection
            .prepare_cached("SELECT id FROM runs WHERE parent IS NULL ORDER BY last_at DESC, seq DESC LIMIT 1")?
            .query_map([], id)?
            .collect(),
        RunQuery::Id(run) => connection
            .prepare_cached("SELECT id FROM runs WHERE id = ?1")?
            .query_map([run.to_string()], id)?
            .collect(),
        RunQuery::Part(part) => connection
            .prepare_cached(
                "SELECT id FROM runs WHERE substr(id, 1, length(?1)) = ?1 OR substr(id, -length(?1)) = ?1
                    OR substr(id, -8, length(?1)) = ?1
                 ORDER BY id DESC LIMIT ?2",
            )?
            .query_map(params![part.as_str(), (CANDIDATES + 1) as u32], id)?
            .collect(),
    }
}
