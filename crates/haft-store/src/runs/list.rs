//! Listing runs.

use std::num::NonZeroU32;
use std::path::PathBuf;

use haft_protocol::{CallId, ModelId, RunId, StopCause, Timestamp, UsageTotal, limits};
use rusqlite::{Connection, Row, ToSql, named_params};
use serde::Serialize;

use super::Runs;
use crate::StoreError;
use crate::lease::Leases;
use crate::query::{CANDIDATES, RunQuery, Table};
use crate::record::time;
use crate::row::{json_if_any, parsed, parsed_if_any, timestamp};

/// Where runs are, and which one is the last.
const RUNS: Table =
    Table { name: "runs", last: "WHERE parent IS NULL ORDER BY last_at DESC, seq DESC" };

/// A run that stopped before anything was asked is nothing to go on with: it was refused.
const ASKED: &str = "(stopped IS NULL OR EXISTS (
    SELECT 1 FROM run_entries WHERE run = runs.seq AND kind IN ('asked', 'replied')))";

/// Which runs to list. What is left out does not narrow.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunFilter {
    /// How many at most: by default [`limits::LOG_RUNS`], never more than [`limits::LOG_RUNS_MAX`].
    pub limit: Option<NonZeroU32>,
    /// Runs of the workspace whose first root this is, by its real path.
    pub root: Option<PathBuf>,
    /// Runs that had an entry at this time or later.
    pub since: Option<Timestamp>,
    /// Runs that a call started, too: those of subagents.
    pub with_subagents: bool,
    /// Only runs that can be gone on with: not those that stopped before a model was asked.
    pub asked: bool,
}

/// How a run stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum RunState {
    /// A process has it open.
    Running {
        /// The number of the process.
        pid: u32,
        /// Since when.
        since: Timestamp,
    },
    /// It stopped, and can be gone on with.
    Stopped(StopCause),
    /// Its process is gone and said nothing of an end. It can be gone on with.
    CutShort,
}

/// One run of a listing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunSummary {
    /// The run.
    pub id: RunId,
    /// When it began.
    pub at: Timestamp,
    /// When its last entry was made.
    pub last_at: Timestamp,
    /// What it is for, in one line, redacted.
    pub title: String,
    /// The model it began with.
    pub model: ModelId,
    /// The preset it began with.
    pub preset: String,
    /// The shape of the built-in tools that it began with, by its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub toolset: Option<String>,
    /// The real paths of the roots of its workspace, the first one first.
    pub roots: Vec<String>,
    /// The call that started it, for a subagent's run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<CallId>,
    /// The run that this call belongs to, where the call is on record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_run: Option<RunId>,
    /// The run whose first entries it shares, and how many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<(RunId, u64)>,
    /// How it stands. What a cause says is redacted.
    #[serde(flatten)]
    pub state: RunState,
    /// What its requests took.
    pub usage: UsageTotal,
    /// Calls of it that ended.
    pub calls: u64,
    /// Its entries.
    pub entries: u64,
    /// Bytes of its entries.
    pub bytes: u64,
}

impl Runs {
    /// Lists runs, the one whose last entry is the latest first.
    ///
    /// # Errors
    ///
    /// Fails when the database cannot be read.
    pub fn list(&self, filter: &RunFilter) -> Result<Vec<RunSummary>, StoreError> {
        let inner = &self.store.inner;
        let root = filter.root.as_deref().map(|root| inner.root(root));
        let limit = filter.limit.map_or(limits::LOG_RUNS, NonZeroU32::get);
        let limit = limit.min(limits::LOG_RUNS_MAX);
        let (leases, since) = (inner.leases.clone(), filter.since.map(time));
        let (all, asked) = (filter.with_subagents, filter.asked);
        inner.read(move |connection| {
            let choice = format!(
                "(:root IS NULL OR root = :root) AND (:since IS NULL OR last_at >= :since)
                AND (:all OR parent IS NULL) AND (NOT :asked OR {ASKED})"
            );
            let values = named_params! {
                ":root": root, ":since": since, ":all": all, ":asked": asked, ":limit": limit,
            };
            select(connection, &leases, &choice, values)
        })
    }

    /// Returns the run that is meant.
    ///
    /// # Errors
    ///
    /// Fails when no run or more than one is meant, naming the candidates, and when the database cannot be read.
    pub fn find(&self, query: &RunQuery) -> Result<RunSummary, StoreError> {
        let (leases, asked) = (self.store.inner.leases.clone(), query.clone());
        let (mut ids, found) = self.store.inner.read(move |connection| {
            let tx = connection.unchecked_transaction()?;
            let ids = asked.find(&tx, &RUNS)?;
            let found = match ids.as_slice() {
                [id] => select(&tx, &leases, "id = :id", named_params! { ":id": id, ":limit": 1 })?,
                _ => Vec::new(),
            };
            Ok((ids, found.into_iter().next()))
        })?;
        match found {
            Some(run) => Ok(run),
            None if ids.is_empty() => Err(StoreError::NoSuchRun { query: query.to_string() }),
            None => {
                ids.truncate(CANDIDATES);
                Err(StoreError::AmbiguousRun { query: query.to_string(), candidates: ids })
            }
        }
    }

    /// Returns the runs that calls of a run began, the one whose last entry is the latest first.
    ///
    /// # Errors
    ///
    /// Fails when the database cannot be read.
    pub fn beneath(&self, run: RunId) -> Result<Vec<RunSummary>, StoreError> {
        let choice = "parent IN (SELECT id FROM calls WHERE run = :it)";
        self.chosen_by(choice, run.to_string())
    }

    /// Returns the run that a call began, where it began one.
    ///
    /// # Errors
    ///
    /// Fails when the database cannot be read.
    pub fn begun_by(&self, call: CallId) -> Result<Option<RunSummary>, StoreError> {
        Ok(self.chosen_by("parent = :it", call.to_string())?.into_iter().next())
    }

    fn chosen_by(&self, choice: &'static str, id: String) -> Result<Vec<RunSummary>, StoreError> {
        let leases = self.store.inner.leases.clone();
        self.store.inner.read(move |connection| {
            let values = named_params! { ":it": id, ":limit": limits::LOG_RUNS_MAX };
            select(connection, &leases, choice, values)
        })
    }

    /// Returns the run of this store's workspace that had the latest entry, where there is one. Runs of subagents do not
    /// count, nor those that stopped before a model was asked.
    ///
    /// # Errors
    ///
    /// Fails when the database cannot be read.
    pub fn last_of_workspace(&self) -> Result<Option<RunSummary>, StoreError> {
        let (leases, root) = (self.store.inner.leases.clone(), self.store.roots.first().cloned());
        let found = self.store.inner.read(move |connection| {
            let values = named_params! { ":root": root, ":limit": 1 };
            let choice = format!("root IS :root AND parent IS NULL AND {ASKED}");
            select(connection, &leases, &choice, values)
        })?;
        Ok(found.into_iter().next())
    }
}

fn select(
    connection: &Connection,
    leases: &Leases,
    choice: &str,
    values: &[(&str, &dyn ToSql)],
) -> Result<Vec<RunSummary>, rusqlite::Error> {
    let mut found: Vec<(RunSummary, Holder)> = connection
        .prepare_cached(&format!(
            "SELECT id, began_at, last_at, title, model, preset, root, further_roots, parent,
                (SELECT run FROM calls WHERE calls.id = runs.parent) AS parent_run,
                (SELECT json ->> '$.toolset' FROM run_entries WHERE run = runs.seq AND run_entries.seq = 0) AS toolset,
                forked_from, forked_entries,
                lease, pid, since, stopped, usage, calls, entries, bytes
             FROM runs WHERE {choice} ORDER BY last_at DESC, seq DESC LIMIT :limit"
        ))?
        .query_map(values, |row| Ok((summary(row)?, holder(row)?)))?
        .collect::<Result<_, _>>()?;
    let alive = leases.alive(found.iter().filter_map(|(_, holder)| holder.lease.clone()));
    for (run, holder) in &mut found {
        if holder.lease.as_ref().is_some_and(|lease| alive.contains(lease)) {
            run.state = RunState::Running { pid: holder.pid, since: holder.since };
        }
    }
    Ok(found.into_iter().map(|(run, _)| run).collect())
}

/// Who has a run open, if they are still there.
struct Holder {
    lease: Option<String>,
    pid: u32,
    since: Timestamp,
}

fn holder(row: &Row<'_>) -> Result<Holder, rusqlite::Error> {
    Ok(Holder {
        lease: row.get("lease")?,
        pid: row.get::<_, Option<u32>>("pid")?.unwrap_or_default(),
        since: timestamp(row.get::<_, Option<i64>>("since")?.unwrap_or_default()),
    })
}

fn summary(row: &Row<'_>) -> Result<RunSummary, rusqlite::Error> {
    let unsigned = |column: &str| row.get::<_, i64>(column).map(i64::unsigned_abs);
    let root: Option<String> = row.get("root")?;
    let further: Vec<String> = json_if_any(row, "further_roots")?.unwrap_or_default();
    let forked_from: Option<RunId> = parsed_if_any(row, "forked_from")?;
    let forked_entries = row.get::<_, Option<i64>>("forked_entries")?.unwrap_or_default();
    // A later haft may know causes that this one does not.
    let stopped: Option<StopCause> = json_if_any(row, "stopped").unwrap_or_default();
    Ok(RunSummary {
        id: parsed(row, "id")?,
        at: timestamp(row.get("began_at")?),
        last_at: timestamp(row.get("last_at")?),
        title: row.get("title")?,
        model: parsed(row, "model")?,
        preset: row.get("preset")?,
        toolset: row.get("toolset")?,
        roots: root.into_iter().chain(further).collect(),
        parent: parsed_if_any(row, "parent")?,
        parent_run: parsed_if_any(row, "parent_run")?,
        forked_from: forked_from.map(|run| (run, forked_entries.unsigned_abs())),
        state: stopped.map_or(RunState::CutShort, RunState::Stopped),
        usage: json_if_any(row, "usage")?.unwrap_or_default(),
        calls: unsigned("calls")?,
        entries: unsigned("entries")?,
        bytes: unsigned("bytes")?,
    })
}
