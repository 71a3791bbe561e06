//! Adding to a run.

use std::sync::atomic::Ordering;

use haft_protocol::{RunEntry, RunFacts, RunId};
use rusqlite::Connection;

use super::Prepared;
use crate::StoreError;
use crate::retention::{Keeper, immediate};
use crate::store::{Inner, Store};
use crate::writer::Write;

/// The one way to add to a run, as long as it is there.
///
/// Dropping it lets go of the run within moments, and so does the end of the process, however it ends.
#[derive(Debug)]
pub struct RunWriter {
    store: Store,
    run: RunId,
    row: i64,
    is_closed: bool,
}

impl RunWriter {
    /// Makes the writer of a run that this store holds.
    pub(super) fn new(store: Store, run: RunId, row: i64) -> Self {
        store.inner.open_runs.fetch_add(1, Ordering::Relaxed);
        Self { store, run, row, is_closed: false }
    }

    /// Returns the run.
    pub fn run(&self) -> RunId {
        self.run
    }

    pub(super) fn row(&self) -> i64 {
        self.row
    }

    /// Puts an entry behind the others. When this returns, it outlasts the end of the process.
    ///
    /// It outlasts a power failure as well as soon as a call starts that cannot be repeated: that record takes with it
    /// all that came before. Entries whose futures run at one time are kept in any order.
    ///
    /// # Errors
    ///
    /// Fails for a second begin, for what is larger than [`RUN_ENTRY_BYTES`](haft_protocol::limits::RUN_ENTRY_BYTES) or
    /// would not come back as it is, and when the entry could not be kept.
    ///
    /// # Cancel safety
    ///
    /// An entry whose future was polled and dropped is kept or not.
    pub async fn append(&self, entry: &RunEntry) -> Result<(), StoreError> {
        if let RunEntry::Began(_) = entry {
            let text = format!("run {} has begun already", self.run);
            return Err(StoreError::Refused { text });
        }
        let inner = &self.store.inner;
        let prepared = Prepared::of(inner, entry)?;
        let bytes = prepared.row.bytes.unsigned_abs();
        if prepared.is_inline() {
            let write = Write::RunEntry { run: self.row, row: Box::new(prepared.row) };
            inner.writer.append(write)?.await.map_err(|_| StoreError::Stopped)??;
        } else {
            let (store, row) = (self.store.clone(), self.row);
            // A file is written and has to reach the disk.
            aside(move || put(&store.inner, prepared, row)).await?;
        }
        if has_to_look(inner, bytes) {
            let store = self.store.clone();
            let looked = aside(move || {
                hold(&store.inner);
                Ok(())
            });
            looked.await?;
        }
        Ok(())
    }

    /// Begins another run in the same records, as [`Runs::begin`](super::Runs::begin) does: that of a call of this one.
    ///
    /// # Errors
    ///
    /// Fails as that does.
    pub async fn begin_beneath(&self, facts: RunFacts) -> Result<Self, StoreError> {
        let runs = self.store.runs();
        aside(move || runs.begin(&facts)).await
    }

    /// Lets go of the run, so that whoever looks when this returns finds it free.
    ///
    /// # Errors
    ///
    /// Fails when that could not be kept. The end of the process then says the same.
    pub async fn close(mut self) -> Result<(), StoreError> {
        let left = Write::RunLeft { run: self.row };
        self.is_closed = true;
        self.store.inner.writer.append(left)?.await.map_err(|_| StoreError::Stopped)?
    }
}

impl Drop for RunWriter {
    fn drop(&mut self) {
        let inner = &self.store.inner;
        inner.open_runs.fetch_sub(1, Ordering::Relaxed);
        if self.is_closed {
            // By now somebody else may have it open.
            return;
        }
        // Where it cannot be written, the end of the process says the same.
        let _ = inner.writer.append_quietly(Write::RunLeft { run: self.row });
    }
}

/// Bytes of entries that one process writes before it looks whether there is room for them, at most.
const UNLOOKED_BYTES: u64 = 1024 * 1024;

/// Tells whether it is time to look: other processes write too, and looking at each entry would take longer than it.
fn has_to_look(inner: &Inner, bytes: u64) -> bool {
    let share = (inner.retention.run_bytes.get() / 64).min(UNLOOKED_BYTES);
    let before = inner.unlooked_run_bytes.fetch_add(bytes, Ordering::Relaxed);
    before.saturating_add(bytes) >= share
}

/// Lets old runs make room for what is written. Where that fails, the next look does it.
pub(super) fn hold(inner: &Inner) {
    inner.unlooked_run_bytes.store(0, Ordering::Relaxed);
    let keeper = Keeper::of(inner);
    let held = inner.writer.with(move |connection| keeper.hold_runs(connection));
    if let Ok(Err(error)) = held {
        tracing::warn!(%error, "old runs did not make room");
    }
}

/// Does what takes long, not on a thread that others want to run on.
async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    match tokio::runtime::Handle::try_current() {
        Ok(runtime) => runtime.spawn_blocking(work).await.map_err(|_| StoreError::Stopped)?,
        Err(_) => work(),
    }
}

fn put(inner: &Inner, prepared: Prepared, run: i64) -> Result<(), StoreError> {
    let (objects, lease) = (inner.objects.clone(), inner.leases.ours().to_owned());
    let put = move |connection: &mut Connection| {
        let tx = immediate(connection)?;
        let put = prepared.put(&tx, &objects, run, &lease)?;
        if put.is_ok() {
            tx.commit()?;
        }
        Ok(put)
    };
    inner.writer.with(put)?.map_err(inner.place.error())?
}
