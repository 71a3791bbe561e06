//! What the state takes up.

use std::fs;
use std::path::{Path, PathBuf};

use haft_protocol::Timestamp;
use rusqlite::Row;
use serde::Serialize;

use crate::StoreError;
use crate::database::{damaged_log_of, log_of};
use crate::row::timestamp;
use crate::store::{Inner, Store};

/// What the state takes up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StateUsage {
    /// The state directory; none for a store in memory.
    pub dir: Option<PathBuf>,
    /// Bytes of the database.
    pub database_bytes: u64,
    /// Bytes of the database's log of latest writes.
    pub log_bytes: u64,
    /// Stored contents.
    pub objects: u64,
    /// Bytes of stored contents.
    pub object_bytes: u64,
    /// Calls on record.
    pub calls: u64,
    /// Changes to files on record.
    pub changes: u64,
    /// Runs on record.
    pub runs: u64,
    /// Bytes of their entries, which are among those of the database and of stored contents.
    pub run_bytes: u64,
    /// When the oldest call was made.
    pub oldest: Option<Timestamp>,
    /// What is left of a log that was damaged or missing when the state was opened: records were lost. It is there until
    /// somebody removes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damaged_log: Option<PathBuf>,
}

impl Store {
    /// Returns what the state takes up.
    ///
    /// # Errors
    ///
    /// Fails when the database cannot be read.
    pub fn usage(&self) -> Result<StateUsage, StoreError> {
        let (calls, oldest, changes, (runs, run_bytes), objects, object_bytes, pages) =
            self.inner.read(|connection| {
                let unsigned = |number: i64| u64::try_from(number).unwrap_or(0);
                let (calls, oldest) = connection.query_row(
                "SELECT (SELECT count(*) FROM calls), (SELECT at FROM calls ORDER BY seq LIMIT 1)",
                [],
                |row| Ok((unsigned(row.get(0)?), row.get::<_, Option<i64>>(1)?)),
            )?;
                let count_and_sum =
                    |row: &Row<'_>| Ok((unsigned(row.get(0)?), unsigned(row.get(1)?)));
                let (objects, bytes) = connection.query_row(
                    "SELECT count(*), coalesce(sum(bytes), 0) FROM (
                        SELECT digest, bytes FROM objects
                        UNION SELECT digest, bytes FROM run_entries WHERE digest IS NOT NULL)",
                    [],
                    count_and_sum,
                )?;
                let runs = connection.query_row(
                    "SELECT count(*), coalesce(sum(bytes), 0) FROM runs",
                    [],
                    count_and_sum,
                )?;
                let page = |name: &str| -> Result<u64, rusqlite::Error> {
                    connection.pragma_query_value(None, name, |row| Ok(unsigned(row.get(0)?)))
                };
                let changes = unsigned(Inner::changes(connection)?);
                Ok((
                    calls,
                    oldest,
                    changes,
                    runs,
                    objects,
                    bytes,
                    page("page_count")? * page("page_size")?,
                ))
            })?;
        let directory = self.inner.directory.as_ref();
        Ok(StateUsage {
            dir: directory.map(|directory| directory.path().to_owned()),
            database_bytes: directory.map_or(pages, |directory| bytes_of(&directory.database())),
            log_bytes: directory.map_or(0, |directory| bytes_of(&log_of(&directory.database()))),
            objects,
            object_bytes,
            calls,
            changes,
            runs,
            run_bytes,
            oldest: oldest.map(timestamp),
            damaged_log: directory
                .map(|directory| damaged_log_of(&directory.database()))
                .filter(|path| path.exists()),
        })
    }
}

fn bytes_of(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |facts| facts.len())
}
