//! What is not kept any more goes: runs and calls by age and number, artifacts by size, and what nothing leads to.

mod keeper;
mod runs;

use haft_protocol::Timestamp;
use rusqlite::Connection;
use serde::Serialize;

use crate::StoreError;
use crate::store::Store;
use keeper::give_back_pages;
pub(crate) use keeper::{Keeper, Removed, forget_object, immediate};

/// What a clean-up removed, or would remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct GcReport {
    /// Runs, with their entries.
    pub runs: u64,
    /// Calls, with their attempts, tickets and outcomes.
    pub calls: u64,
    /// Artifacts of these calls, and artifacts that made room for later ones.
    pub artifacts: u64,
    /// Changes to files of these calls, and changes whose contents made room for later ones.
    pub changes: u64,
    /// Stored contents that nothing leads to any more.
    pub objects: u64,
    /// Bytes of these contents.
    pub object_bytes: u64,
    /// Files that a process left behind when it was killed: contents never recorded, and locks.
    pub orphans: u64,
}

impl GcReport {
    fn add(&mut self, step: GcReport) {
        self.runs += step.runs;
        self.calls += step.calls;
        self.artifacts += step.artifacts;
        self.changes += step.changes;
        self.objects += step.objects;
        self.object_bytes += step.object_bytes;
        self.orphans += step.orphans;
    }
}

impl Store {
    /// Removes what [`Retention`](crate::Retention) does not keep, and what nothing leads to.
    ///
    /// Runs that somebody has open, calls that run, and calls that wait for an answer which can still come, stay whatever
    /// their age, and so do the calls of runs that stay. Works in small
    /// steps, so that calls go on meanwhile.
    ///
    /// # Errors
    ///
    /// Fails when the database or the files cannot be changed; steps done before stay done.
    pub fn gc(&self, now: Timestamp) -> Result<GcReport, StoreError> {
        let mut report = GcReport::default();
        loop {
            let keeper = Keeper::of(&self.inner);
            let (step, more) = self.work(move |connection| keeper.step(connection, now))?;
            report.add(step);
            if !more {
                break;
            }
        }
        let keeper = Keeper::of(&self.inner);
        report.add(self.work(move |connection| keeper.finish(connection, now))?);
        let mut empty = self.work(give_back_pages)?;
        while empty > 0 {
            let still = self.work(give_back_pages)?;
            if still >= empty {
                break;
            }
            empty = still;
        }
        Ok(report)
    }

    /// Returns what [`Store::gc`] would remove now, and removes nothing.
    ///
    /// # Errors
    ///
    /// Fails when the database cannot be written: the answer is found by doing it and taking it back.
    pub fn gc_preview(&self, now: Timestamp) -> Result<GcReport, StoreError> {
        let keeper = Keeper::of(&self.inner);
        self.work(move |connection| {
            let orphans = keeper.orphans(connection)?.len() as u64;
            let tx = immediate(connection)?;
            let removed = keeper.remove(&tx, now, usize::MAX, usize::MAX)?;
            tx.rollback()?;
            Ok(GcReport { orphans, ..removed.report() })
        })
    }

    fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, rusqlite::Error> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.inner.writer.with(work)?.map_err(self.inner.place.error())
    }
}
