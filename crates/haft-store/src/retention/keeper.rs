//! The part of a clean-up that runs on the thread that writes.

use std::path::PathBuf;

use haft_protocol::{CallId, Digest, Timestamp};
use haft_tool::SystemClock;
use haft_tool::ports::Clock as _;
use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};
use serde_json::Value;

use super::{GcReport, runs};
use crate::directory::Directory;
use crate::effects;
use crate::exclusion;
use crate::lease::Leases;
use crate::objects::Objects;
use crate::record::time;
use crate::store::{Inner, Retention};

/// Calls removed in one transaction, so that whoever wants to write does not wait long.
const STEP_CALLS: usize = 500;

/// Runs removed in one transaction.
const STEP_RUNS: usize = 20;

/// Files looked at for being orphans in one go.
const STEP_FILES: usize = 10_000;

/// Pages given back to the file system in one go.
const STEP_PAGES: i64 = 1_000;

/// Milliseconds of a day; also how often an open store tidies up by itself.
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// When an open store last tidied up.
const TIDIED: &str = "tidied_at";

/// Removes things, on the thread that writes.
#[derive(Debug, Clone)]
pub(crate) struct Keeper {
    pub(crate) retention: Retention,
    pub(crate) objects: Objects,
    pub(crate) leases: Leases,
    locks: Option<PathBuf>,
}

/// What one transaction removed.
#[derive(Debug, Default)]
pub(crate) struct Removed {
    runs: usize,
    calls: usize,
    artifacts: usize,
    changes: usize,
    /// Contents whose files go when the transaction is committed.
    pub(crate) objects: Vec<(Digest, u64)>,
}

impl Removed {
    pub(super) fn report(&self) -> GcReport {
        GcReport {
            runs: self.runs as u64,
            calls: self.calls as u64,
            artifacts: self.artifacts as u64,
            changes: self.changes as u64,
            objects: self.objects.len() as u64,
            object_bytes: self.objects.iter().map(|(_, bytes)| bytes).sum(),
            orphans: 0,
        }
    }
}

impl Keeper {
    pub(crate) fn of(inner: &Inner) -> Self {
        Self {
            retention: inner.retention,
            objects: inner.objects.clone(),
            leases: inner.leases.clone(),
            locks: inner.directory.as_ref().map(Directory::locks),
        }
    }

    /// Takes one step if the last clean-up was a day ago. The next opening goes on where this one had enough.
    pub(crate) fn step_if_due(&self, connection: &mut Connection) {
        let now = SystemClock.now();
        let mut step = || -> Result<(), rusqlite::Error> {
            let last: Option<i64> = connection
                .query_row("SELECT value FROM facts WHERE name = ?1", [TIDIED], |row| row.get(0))
                .optional()?;
            let due = last.map(|last| last.saturating_add(DAY_MS));
            match due {
                None => mark_tidied(connection, now),
                Some(due) if time(now) < due => Ok(()),
                Some(_) => {
                    let (_, more) = self.step(connection, now)?;
                    if more { Ok(()) } else { self.finish(connection, now).map(|_| ()) }
                }
            }
        };
        if let Err(error) = step() {
            tracing::warn!(%error, "old records were not removed");
        }
    }

    /// Removes some runs, some calls and what goes with them. Tells whether there are more.
    pub(super) fn step(
        &self,
        connection: &mut Connection,
        now: Timestamp,
    ) -> Result<(GcReport, bool), rusqlite::Error> {
        let tx = immediate(connection)?;
        let removed = self.remove(&tx, now, STEP_RUNS, STEP_CALLS)?;
        tx.commit()?;
        self.remove_files(connection, removed.objects.iter().map(|(digest, _)| *digest))?;
        let more = removed.runs >= STEP_RUNS || removed.calls >= STEP_CALLS;
        Ok((removed.report(), more))
    }

    /// Removes what steps do not: files that nothing leads to, and pages that nothing is on.
    pub(super) fn finish(
        &self,
        connection: &mut Connection,
        now: Timestamp,
    ) -> Result<GcReport, rusqlite::Error> {
        let orphans = self.orphans(connection)?;
        let mut files = orphans.len();
        self.remove_files(connection, orphans.into_iter())?;
        self.objects.sweep_staged();
        files += self.leases.sweep();
        files += self.locks.as_deref().map_or(0, exclusion::sweep);
        give_back_pages(connection)?;
        mark_tidied(connection, now)?;
        Ok(GcReport { orphans: files as u64, ..GcReport::default() })
    }

    /// Lets the oldest runs go until as many are left, and as many bytes of them, as are kept.
    pub(crate) fn hold_runs(&self, connection: &mut Connection) -> Result<(), rusqlite::Error> {
        let bounds = runs::Bounds { oldest: i64::MIN, most: STEP_RUNS };
        loop {
            let tx = immediate(connection)?;
            if runs::fit(&tx, &self.retention)? {
                return Ok(());
            }
            let needed = self.needed(&tx, SystemClock.now())?;
            let (gone, contents) =
                runs::remove(&tx, &self.retention, &self.leases, &needed.rows(), bounds)?;
            tx.commit()?;
            tracing::info!(runs = gone, "old runs made room");
            self.remove_files(connection, contents.iter().map(|(digest, _)| *digest))?;
            if gone < STEP_RUNS {
                return Ok(());
            }
        }
    }

    pub(super) fn remove(
        &self,
        tx: &Transaction<'_>,
        now: Timestamp,
        most_runs: usize,
        most: usize,
    ) -> Result<Removed, rusqlite::Error> {
        let needed = self.needed(tx, now)?;
        let oldest = time(now) - i64::from(self.retention.days.get()) * DAY_MS;
        let bounds = runs::Bounds { oldest, most: most_runs };
        let (runs, objects) =
            runs::remove(tx, &self.retention, &self.leases, &needed.rows(), bounds)?;
        let count: i64 = tx.query_row(
            "SELECT (SELECT count(*) FROM calls) - (SELECT count(*) FROM calls WHERE run IN (SELECT id FROM runs))",
            [],
            |row| row.get(0),
        )?;
        let surplus = count - i64::try_from(self.retention.calls.get()).unwrap_or(i64::MAX);
        let surplus = usize::try_from(surplus).unwrap_or(0);
        let doomed = doomed(tx, &needed, oldest, surplus, most)?;
        let mut removed = Removed { runs, calls: doomed.len(), objects, ..Removed::default() };
        let mut loose: Vec<String> = Vec::new();
        for (seq, id) in &doomed {
            let digests = tx
                .prepare_cached("DELETE FROM artifacts WHERE call = ?1 RETURNING digest")?
                .query_map([id], |row| row.get(0))?
                .collect::<Result<Vec<String>, _>>()?;
            removed.artifacts += digests.len();
            loose.extend(digests);
            let (changes, digests) = effects::remove_of_call(tx, id)?;
            removed.changes += changes;
            loose.extend(digests);
            tx.prepare_cached("DELETE FROM calls WHERE seq = ?1")?.execute([seq])?;
        }
        let strays = tx
            .prepare_cached(
                "DELETE FROM artifacts WHERE at < ?1 AND NOT EXISTS (SELECT 1 FROM calls WHERE id = artifacts.call)
                 RETURNING digest",
            )?
            .query_map([oldest], |row| row.get(0))?
            .collect::<Result<Vec<String>, _>>()?;
        removed.artifacts += strays.len();
        loose.extend(strays);
        let (changes, strays) = effects::remove_strays(tx, oldest)?;
        removed.changes += changes;
        loose.extend(strays);
        for digest in loose {
            removed.objects.extend(forget_object(tx, &digest)?);
        }
        self.evict(tx, now, &needed, &mut removed)?;
        Ok(removed)
    }

    /// Lets the oldest artifacts, and what the oldest changes took away, go until all that is left fits under the cap.
    /// Tells whether it does.
    pub(crate) fn evict(
        &self,
        tx: &Transaction<'_>,
        now: Timestamp,
        needed: &Needed,
        removed: &mut Removed,
    ) -> Result<bool, rusqlite::Error> {
        let cap = i64::try_from(self.retention.artifact_bytes_total.get()).unwrap_or(i64::MAX);
        let sum = "SELECT coalesce(sum(bytes), 0) FROM objects";
        let mut total: i64 = tx.prepare_cached(sum)?.query_row([], |row| row.get(0))?;
        if total <= cap {
            return Ok(true);
        }
        let oldest: Vec<Evicted> = tx
            .prepare_cached(
                "SELECT at, seq, NULL AS call, digest, NULL AS after FROM artifacts
                 WHERE evicted_at IS NULL AND call NOT IN (SELECT value FROM json_each(?1))
                 UNION ALL
                 SELECT at, number, call, before, after FROM effects
                 WHERE evicted_at IS NULL AND coalesce(before, after) IS NOT NULL
                   AND call NOT IN (SELECT value FROM json_each(?1))
                 ORDER BY at, seq",
            )?
            .query_map([needed.ids()], |row| {
                Ok(Evicted {
                    number: row.get(1)?,
                    call: row.get(2)?,
                    digests: [row.get(3)?, row.get(4)?],
                })
            })?
            .collect::<Result<_, _>>()?;
        for Evicted { number, call, digests } in oldest {
            if total <= cap {
                break;
            }
            if let Some(call) = call {
                tx.prepare_cached(
                    "UPDATE effects SET evicted_at = ?3, before = NULL, after = NULL WHERE call = ?1 AND number = ?2",
                )?
                .execute(params![call, number, time(now)])?;
                removed.changes += 1;
            } else {
                tx.prepare_cached("UPDATE artifacts SET evicted_at = ?2 WHERE seq = ?1")?
                    .execute(params![number, time(now)])?;
                removed.artifacts += 1;
            }
            for digest in digests.into_iter().flatten() {
                if let Some((digest, bytes)) = forget_object(tx, &digest)? {
                    total -= i64::try_from(bytes).unwrap_or(i64::MAX);
                    removed.objects.push((digest, bytes));
                }
            }
        }
        Ok(total <= cap)
    }

    /// Returns the calls that have to stay: those that run, and those whose question can still be answered.
    pub(crate) fn needed(
        &self,
        connection: &Connection,
        now: Timestamp,
    ) -> Result<Needed, rusqlite::Error> {
        let open: Vec<(i64, String, String, bool)> = connection
            .prepare_cached(
                "SELECT seq, id, lease, EXISTS (
                    SELECT 1 FROM tickets WHERE call = seq AND answered_at IS NULL AND expires > ?1)
                 FROM calls WHERE ended_at IS NULL",
            )?
            .query_map([time(now)], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?
            .collect::<Result<_, _>>()?;
        let alive = self.leases.alive(open.iter().map(|(_, _, lease, _)| lease.clone()));
        let needed =
            open.into_iter().filter(|(_, _, lease, asked)| *asked || alive.contains(lease));
        Ok(Needed(needed.map(|(seq, id, _, _)| (seq, id)).collect()))
    }

    /// Returns contents that are on the disk and in no record, and have been for a while.
    pub(super) fn orphans(&self, connection: &Connection) -> Result<Vec<Digest>, rusqlite::Error> {
        let mut orphans = Vec::new();
        for digest in self.objects.settled(STEP_FILES) {
            if !is_object(connection, digest)? {
                orphans.push(digest);
            }
        }
        Ok(orphans)
    }

    /// Removes the files of what a committed transaction removed.
    pub(crate) fn drop_objects(
        &self,
        connection: &mut Connection,
        removed: Removed,
    ) -> Result<(), rusqlite::Error> {
        if removed.artifacts > 0 || removed.changes > 0 {
            let report = removed.report();
            tracing::info!(
                artifacts = report.artifacts,
                changes = report.changes,
                bytes = report.object_bytes,
                "old artifacts and changes made room"
            );
        }
        self.remove_files(connection, removed.objects.into_iter().map(|(digest, _)| digest))
    }

    /// Removes the files of contents that are in no record.
    ///
    /// The look and the removal are one transaction: nobody can keep the same content again in between.
    fn remove_files(
        &self,
        connection: &mut Connection,
        digests: impl ExactSizeIterator<Item = Digest>,
    ) -> Result<(), rusqlite::Error> {
        if digests.len() == 0 {
            return Ok(());
        }
        let tx = immediate(connection)?;
        for digest in digests {
            if !is_object(&tx, digest)? {
                self.objects.remove(digest);
            }
        }
        tx.commit()
    }
}

/// What leads to contents and may make room: an artifact, or the change of a call.
struct Evicted {
    number: i64,
    call: Option<String>,
    digests: [Option<String>; 2],
}

/// Calls that have to stay: row and id.
pub(crate) struct Needed(Vec<(i64, String)>);

impl Needed {
    /// Adds a call that has to stay although it may not be on record.
    pub(crate) fn keep(&mut self, call: CallId) {
        self.0.push((-1, call.to_string()));
    }

    /// Returns the rows as a JSON array.
    fn rows(&self) -> String {
        self.0.iter().map(|(seq, _)| *seq).collect::<Value>().to_string()
    }

    /// Returns the ids as a JSON array.
    fn ids(&self) -> String {
        self.0.iter().map(|(_, id)| id.as_str()).collect::<Value>().to_string()
    }
}

pub(crate) fn immediate(connection: &mut Connection) -> Result<Transaction<'_>, rusqlite::Error> {
    connection.transaction_with_behavior(TransactionBehavior::Immediate)
}

/// Returns row and id of calls that go: the first `surplus`, and those made before `oldest`, up to `most`. Calls of runs
/// that stay are not among them.
///
/// Rows lie in the order of their begin, so the look ends at the first that is young.
fn doomed(
    tx: &Transaction<'_>,
    needed: &Needed,
    oldest: i64,
    surplus: usize,
    most: usize,
) -> Result<Vec<(i64, String)>, rusqlite::Error> {
    let mut doomed = Vec::new();
    let mut statement = tx.prepare_cached(
        "SELECT seq, id, at FROM calls WHERE seq NOT IN (SELECT value FROM json_each(?1))
            AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = calls.run)
         ORDER BY seq",
    )?;
    let mut rows = statement.query([needed.rows()])?;
    while doomed.len() < most
        && let Some(row) = rows.next()?
    {
        if row.get::<_, i64>(2)? >= oldest && doomed.len() >= surplus {
            break;
        }
        doomed.push((row.get(0)?, row.get(1)?));
    }
    Ok(doomed)
}

/// Takes a content out of the record if nothing leads to it any more.
pub(crate) fn forget_object(
    tx: &Transaction<'_>,
    digest: &str,
) -> Result<Option<(Digest, u64)>, rusqlite::Error> {
    let bytes: Option<i64> = tx
        .prepare_cached(
            "DELETE FROM objects WHERE digest = ?1 AND NOT EXISTS (
                SELECT 1 FROM artifacts WHERE artifacts.digest = ?1 AND evicted_at IS NULL)
             AND NOT EXISTS (SELECT 1 FROM effects WHERE before = ?1)
             AND NOT EXISTS (SELECT 1 FROM effects WHERE after = ?1)
             RETURNING bytes",
        )?
        .query_row([digest], |row| row.get(0))
        .optional()?;
    let digest = digest.parse().ok();
    Ok(digest.zip(bytes).map(|(digest, bytes)| (digest, u64::try_from(bytes).unwrap_or(0))))
}

/// Tells whether a content is needed: by an artifact, a change or an entry of a run.
fn is_object(connection: &Connection, digest: Digest) -> Result<bool, rusqlite::Error> {
    connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM objects WHERE digest = ?1)
                OR EXISTS (SELECT 1 FROM run_entries WHERE digest = ?1)",
        )?
        .query_row([digest.to_string()], |row| row.get(0))
}

/// Gives some empty pages back to the file system, and returns how many are left.
pub(super) fn give_back_pages(connection: &mut Connection) -> Result<i64, rusqlite::Error> {
    // Each step gives back one page, and the last one commits.
    let mut giving = connection.prepare(&format!("PRAGMA incremental_vacuum({STEP_PAGES})"))?;
    let mut pages = giving.query([])?;
    while pages.next()?.is_some() {}
    drop(pages);
    connection.pragma_query_value(None, "freelist_count", |row| row.get(0))
}

fn mark_tidied(connection: &Connection, now: Timestamp) -> Result<(), rusqlite::Error> {
    connection.execute(
        "INSERT INTO facts (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        params![TIDIED, time(now)],
    )?;
    Ok(())
}
