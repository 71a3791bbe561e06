//! Runs: what a model and its reader said, what was called, and how it ended, entry by entry.
//!
//! Entries are kept whole. What a model said has to go back to it byte for byte, or its provider refuses it; so nothing
//! is redacted here but the title and the cause that listings show.

mod entry;
mod fork;
mod list;
mod load;
mod row;
mod writer;

use std::time::{Duration, Instant};

use haft_protocol::{RunEntry, RunFacts, RunId, Timestamp};
use haft_tool::SystemClock;
use haft_tool::ports::Clock as _;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::StoreError;
use crate::record::time;
use crate::retention::immediate;
use crate::row::timestamp;
use crate::store::Store;
use entry::Prepared;
pub use list::{RunFilter, RunState, RunSummary};
pub use load::{RunRecord, UnreadableEntry};
use row::RunRow;
pub(crate) use row::{EntryRow, let_go};
pub use writer::RunWriter;

/// How long a run is waited for that a process may be about to let go of.
const PATIENCE: Duration = Duration::from_millis(300);

/// How long that wait pauses before it looks again.
const PAUSE: Duration = Duration::from_millis(20);

/// The runs of a state directory.
///
/// Its methods block for the time of a few queries and are meant for a thread that may; [`RunWriter::append`] is not.
#[derive(Debug, Clone)]
pub struct Runs {
    store: Store,
}

/// A run that can be gone on with.
#[derive(Debug)]
pub struct OpenedRun {
    /// Its entries so far, from its begin.
    pub entries: Vec<RunEntry>,
    /// The way to add to them.
    pub writer: RunWriter,
    /// What could not be read. It is set aside with everything behind it, and is not told again.
    pub unreadable: Option<UnreadableEntry>,
}

impl Store {
    /// Returns the runs. Those that begin go on record as runs of this store's workspace.
    pub fn runs(&self) -> Runs {
        Runs { store: self.clone() }
    }
}

impl Runs {
    /// Begins a run: its first entry is on record when this returns.
    ///
    /// # Errors
    ///
    /// Fails when there is a run of that id, and when it cannot be kept.
    pub fn begin(&self, facts: &RunFacts) -> Result<RunWriter, StoreError> {
        let run = facts.run;
        let row = RunRow::of(&self.store, facts)?;
        let began = Prepared::of(&self.store.inner, &RunEntry::Began(facts.clone()))?;
        let (lease, objects) = (self.lease(), self.store.inner.objects.clone());
        let begun = self.work(move |connection| {
            let tx = immediate(connection)?;
            let Some(seq) = row.insert(&tx, &lease)? else { return Ok(None) };
            let put = began.put(&tx, &objects, seq, &lease)?;
            if put.is_ok() {
                tx.commit()?;
            }
            Ok(Some(put.map(|()| seq)))
        })?;
        let taken = || StoreError::Refused { text: format!("there is a run {run} already") };
        let writer = RunWriter::new(self.store.clone(), run, begun.ok_or_else(taken)??);
        // Held by its writer, the run itself does not go.
        writer::hold(&self.store.inner);
        Ok(writer)
    }

    /// Opens a run to add to it. No other process, and nobody else in this one, can until the writer is dropped.
    ///
    /// An entry that cannot be read is set aside with everything behind it, so that what is added follows what was read.
    ///
    /// # Errors
    ///
    /// Fails when there is no such run, when somebody else has it open ([`StoreError::RunInUse`]), and when not even its
    /// begin can be read.
    pub fn open_to_go_on(&self, run: RunId) -> Result<OpenedRun, StoreError> {
        let writer = RunWriter::new(self.store.clone(), run, self.take(run)?);
        // From here on nobody else adds anything; dropping the writer lets go of the run.
        let loaded = self.load(run)?;
        if let Some(unreadable) = &loaded.record.unreadable {
            tracing::warn!(%run, "{unreadable}");
            if loaded.record.entries.is_empty() {
                return Err(StoreError::RunUnreadable { run, problem: unreadable.problem.clone() });
            }
            self.set_aside(writer.row(), loaded.read_to)?;
        }
        let RunRecord { entries, unreadable } = loaded.record;
        Ok(OpenedRun { entries, writer, unreadable })
    }

    /// Returns the entries of a run, as far as they can be read. Nothing is changed, and others may add meanwhile.
    ///
    /// # Errors
    ///
    /// Fails when there is no such run, and when the database cannot be read.
    pub fn read(&self, run: RunId) -> Result<RunRecord, StoreError> {
        Ok(self.load(run)?.record)
    }

    fn lease(&self) -> String {
        self.store.inner.leases.ours().to_owned()
    }

    /// Takes a run, and returns its row.
    fn take(&self, run: RunId) -> Result<i64, StoreError> {
        let since = Instant::now();
        loop {
            let (leases, now) = (self.store.inner.leases.clone(), SystemClock.now());
            let taken = self.work(move |connection| {
                let tx = immediate(connection)?;
                let Some(holder) = Holder::of(&tx, run)? else { return Ok(None) };
                if holder.lease.as_deref().is_some_and(|lease| leases.is_alive(lease)) {
                    return Ok(Some(Err(holder)));
                }
                tx.prepare_cached(
                    "UPDATE runs SET lease = ?2, pid = ?3, since = ?4 WHERE seq = ?1",
                )?
                .execute(params![
                    holder.row,
                    leases.ours(),
                    std::process::id(),
                    time(now)
                ])?;
                tx.commit()?;
                Ok(Some(Ok(holder.row)))
            })?;
            match taken.ok_or_else(|| StoreError::NoSuchRun { query: run.to_string() })? {
                Ok(row) => return Ok(row),
                // What another process has closed is free when its last entry is committed, in a moment.
                Err(holder) if holder.lease != Some(self.lease()) && since.elapsed() < PATIENCE => {
                    std::thread::sleep(PAUSE);
                }
                Err(holder) => {
                    let Holder { pid, since, .. } = holder;
                    return Err(StoreError::RunInUse { run, pid, since });
                }
            }
        }
    }

    fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, rusqlite::Error> + Send + 'static,
    ) -> Result<T, StoreError> {
        let inner = &self.store.inner;
        inner.writer.with(work)?.map_err(inner.place.error())
    }
}

/// Who may add to a run.
struct Holder {
    row: i64,
    lease: Option<String>,
    pid: Option<u32>,
    since: Option<Timestamp>,
}

impl Holder {
    fn of(connection: &Connection, run: RunId) -> Result<Option<Self>, rusqlite::Error> {
        connection
            .prepare_cached("SELECT seq, lease, pid, since FROM runs WHERE id = ?1")?
            .query_row([run.to_string()], |row| {
                Ok(Self {
                    row: row.get(0)?,
                    lease: row.get(1)?,
                    pid: row.get(2)?,
                    since: row.get::<_, Option<i64>>(3)?.map(timestamp),
                })
            })
            .optional()
    }
}
