//! A run that begins as another one did.

use haft_protocol::{RunEntry, RunFacts, RunId};
use rusqlite::{Connection, params};

use super::row::{self, RunRow};
use super::{OpenedRun, Prepared, RunWriter, Runs, writer};
use crate::StoreError;
use crate::retention::immediate;

impl Runs {
    /// Begins a run with the entries of another one, up to a number of them or all, its begin included; that begin is
    /// replaced by the new run's own. What the other one took is not counted again.
    ///
    /// The other run is left as it is, and may go on meanwhile. A call of it without end is one in the new run, too, by
    /// the same id: how it ends is on record once, whoever asks.
    ///
    /// # Errors
    ///
    /// Fails when there is no such run, when not even its begin can be read, when there is one of the new id, and when the
    /// new one cannot be kept.
    pub fn fork(
        &self,
        source: RunId,
        upto: Option<u64>,
        facts: &RunFacts,
    ) -> Result<OpenedRun, StoreError> {
        let loaded = self.load(source)?;
        let mut entries = loaded.record.entries;
        let unreadable = loaded.record.unreadable;
        if let (true, Some(unreadable)) = (entries.is_empty(), &unreadable) {
            let problem = unreadable.problem.clone();
            return Err(StoreError::RunUnreadable { run: source, problem });
        }
        let most = upto.map_or(usize::MAX, |upto| usize::try_from(upto).unwrap_or(usize::MAX));
        entries.truncate(most.max(1));
        let shared = entries.len();
        let run = facts.run;
        let facts = RunFacts { forked_from: Some((source, shared as u64)), ..facts.clone() };
        let row = RunRow::of(&self.store, &facts)?;
        let began = RunEntry::Began(facts);
        let prepared = Prepared::of(&self.store.inner, &began)?;
        if let Some(first) = entries.first_mut() {
            *first = began;
        }
        let (lease, objects) = (self.lease(), self.store.inner.objects.clone());
        let forked = self.work(move |connection| {
            let tx = immediate(connection)?;
            let Some(seq) = row.insert(&tx, &lease)? else {
                let text = format!("there is a run {run} already");
                return Ok(Err(StoreError::Refused { text }));
            };
            if let Err(error) = prepared.put(&tx, &objects, seq, &lease)? {
                return Ok(Err(error));
            }
            let gone = || StoreError::NoSuchRun { query: source.to_string() };
            let Some(source) = row::find(&tx, source)? else { return Ok(Err(gone())) };
            if copy(&tx, source, seq, shared)? + 1 != shared {
                return Ok(Err(gone()));
            }
            tx.commit()?;
            Ok(Ok(seq))
        })??;
        let writer = RunWriter::new(self.store.clone(), run, forked);
        writer::hold(&self.store.inner);
        let unreadable = unreadable.filter(|it| it.entry <= most as u64);
        Ok(OpenedRun { entries, writer, unreadable })
    }
}

/// Copies the entries of a run behind its begin, of `shared` in all, and returns how many.
fn copy(
    tx: &Connection,
    source: i64,
    target: i64,
    shared: usize,
) -> Result<usize, rusqlite::Error> {
    let most = i64::try_from(shared.saturating_sub(1)).unwrap_or(i64::MAX);
    let copied = tx
        .prepare_cached(
            "INSERT INTO run_entries (run, seq, at, version, kind, json, digest, bytes)
             SELECT ?2, row_number() OVER (ORDER BY seq) - 1, at, version, kind, json, digest, bytes FROM run_entries
             WHERE run = ?1 AND set_aside_at IS NULL ORDER BY seq LIMIT ?3 OFFSET 1",
        )?
        .execute(params![source, target, most])?;
    tx.prepare_cached(
        "UPDATE runs SET entries = entries + ?2, bytes = (SELECT sum(bytes) FROM run_entries WHERE run = ?1)
         WHERE seq = ?1",
    )?
    .execute(params![target, i64::try_from(copied).unwrap_or(i64::MAX)])?;
    Ok(copied)
}
