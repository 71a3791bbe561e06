//! The one thread that writes.
//!
//! Whatever waits when the thread gets to it goes into one transaction: one commit serves all of it, and nobody is told
//! before that commit.

mod entries;
mod line;

use std::collections::HashMap;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, mpsc};
use std::thread::{self, JoinHandle};

use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior};
use tokio::sync::oneshot;

use crate::StoreError;
use crate::database::{self, Place};
use crate::error::explain;
pub(crate) use entries::Write;
use line::{Due, Line};

/// Entries of one transaction at most, so that other processes get their turn.
const GROUP: usize = 512;

/// Failures kept for the outcome that has to tell them. More calls than this do not run at one time.
const FAILED: usize = 10_000;

/// Who waits for an entry.
type Reply = oneshot::Sender<Result<(), StoreError>>;

/// Work that has the connection to itself.
type Work = Box<dyn FnOnce(&mut Connection) + Send>;

enum Job {
    Append { write: Write, reply: Option<Reply> },
    Work(Work),
}

/// The way to the thread that writes.
///
/// The thread starts with the first thing in line: a process that only looks at records needs none.
///
/// The line has no bound of its own: whoever appends waits for the answer, and what may be appended without waiting is
/// two entries of each call that runs.
pub(crate) struct Writer {
    /// What the thread works with, until it takes it.
    idle: Arc<Mutex<Option<State>>>,
    running: OnceLock<Running>,
}

struct Running {
    line: Arc<Line<Job>>,
    thread: JoinHandle<()>,
}

impl Writer {
    /// Makes a writer with its connection.
    pub(crate) fn new(connection: Connection, place: &Place, lease: String) -> Self {
        let place = place.clone();
        let state = State { connection, place, lease, lasting: false, failed: HashMap::new() };
        Self { idle: Arc::new(Mutex::new(Some(state))), running: OnceLock::new() }
    }

    /// Makes the writer of a store that only looks: whatever is put in line is refused.
    pub(crate) fn none() -> Self {
        Self { idle: Arc::default(), running: OnceLock::new() }
    }

    /// Tells whether there is a connection that writes.
    pub(crate) fn writes(&self) -> bool {
        self.running.get().is_some() || lock(&self.idle).is_some()
    }

    /// Puts an entry in line. The receiver resolves when it is committed.
    pub(crate) fn append(
        &self,
        write: Write,
    ) -> Result<oneshot::Receiver<Result<(), StoreError>>, StoreError> {
        let (reply, receiver) = oneshot::channel();
        self.put(Job::Append { write, reply: Some(reply) }, Due::Now)?;
        Ok(receiver)
    }

    /// Puts an entry in line. A failure is told to whoever appends the call's next entry and waits.
    pub(crate) fn append_quietly(&self, write: Write) -> Result<(), StoreError> {
        self.put(Job::Append { write, reply: None }, Due::Soon)
    }

    /// Puts work in line that has the connection to itself, and blocks until it is done.
    pub(crate) fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, receiver) = mpsc::sync_channel(1);
        let work = move |connection: &mut Connection| {
            // Whoever asked may have stopped waiting.
            let _ = reply.send(work(connection));
        };
        self.put(Job::Work(Box::new(work)), Due::Now)?;
        receiver.recv().map_err(|_| StoreError::Stopped)
    }

    /// Does short work as [`with`](Self::with) does, and on the caller's own thread as long as nothing was put in line:
    /// starting a thread for it, or waking one, would take longer.
    pub(crate) fn at_once<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        if self.running.get().is_none() {
            let mut idle = lock(&self.idle);
            // What was put in line meanwhile comes first.
            if self.running.get().is_none()
                && let Some(state) = &mut *idle
            {
                return Ok(work(&mut state.connection));
            }
        }
        self.with(work)
    }

    fn put(&self, job: Job, due: Due) -> Result<(), StoreError> {
        self.line()?.put(job, due).map_err(|_| StoreError::Stopped)
    }

    /// Returns the line, and starts the thread that takes from it if there is none.
    fn line(&self) -> Result<&Line<Job>, StoreError> {
        if let Some(running) = self.running.get() {
            return Ok(&running.line);
        }
        let idle = lock(&self.idle);
        if self.running.get().is_none() {
            if idle.is_none() {
                return Err(StoreError::Stopped);
            }
            // Whoever comes next tries again if this fails.
            let started = Running::start(Arc::clone(&self.idle))?;
            let _ = self.running.set(started);
        }
        drop(idle);
        self.running.get().map(|running| &*running.line).ok_or(StoreError::Stopped)
    }
}

impl Running {
    fn start(idle: Arc<Mutex<Option<State>>>) -> Result<Self, StoreError> {
        let line = Arc::new(Line::new());
        let at_work = AtWork(Arc::clone(&line));
        let run = move || {
            let state = lock(&idle).take();
            if let Some(state) = state {
                state.run(&at_work);
            }
        };
        let thread =
            thread::Builder::new().name("haft-store".to_owned()).spawn(run).map_err(|source| {
                StoreError::Database {
                    text: "could not start the thread that writes the journal; end some processes"
                        .to_owned(),
                    source: source.into(),
                }
            })?;
        Ok(Self { line, thread })
    }
}

impl Drop for Writer {
    /// Waits until everything in line is written.
    fn drop(&mut self) {
        if let Some(Running { line, thread }) = self.running.take() {
            line.close();
            if thread.thread().id() != thread::current().id() {
                let _ = thread.join();
            }
        } else if let Some(State { connection, place, .. }) = lock(&self.idle).take() {
            database::close(connection, &place);
        }
    }
}

/// Each work is a transaction or none: what a panic leaves behind is whole.
fn lock(idle: &Mutex<Option<State>>) -> MutexGuard<'_, Option<State>> {
    idle.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The thread's hold on the line: however it ends, nobody waits for it in vain.
struct AtWork(Arc<Line<Job>>);

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

struct State {
    connection: Connection,
    place: Place,
    lease: String,
    /// Whether commits reach the disk now, or may wait in the memory of the machine.
    lasting: bool,
    /// Calls with an entry that nobody waited for and that could not be written.
    failed: HashMap<String, String>,
}

type Appended = (Write, Option<Reply>);

impl State {
    fn run(mut self, at_work: &AtWork) {
        while let Some(jobs) = at_work.0.take() {
            let mut group = Vec::new();
            for job in jobs {
                match job {
                    Job::Append { write, reply } => group.push((write, reply)),
                    Job::Work(work) => {
                        self.commit(mem::take(&mut group));
                        work(&mut self.connection);
                    }
                }
                if group.len() >= GROUP {
                    self.commit(mem::take(&mut group));
                }
            }
            self.commit(group);
        }
        database::close(self.connection, &self.place);
    }

    /// Writes a group in one transaction and answers each of its entries.
    fn commit(&mut self, group: Vec<Appended>) {
        if group.is_empty() {
            return;
        }
        match self.try_commit(&group) {
            Ok(results) => {
                for ((_, reply), result) in group.into_iter().zip(results) {
                    answer(reply, result);
                }
            }
            Err(error) => {
                let text = explain(&self.place.name(), &error);
                tracing::error!(%error, "{text}");
                let error = Arc::new(error);
                for (write, reply) in group {
                    let source = Box::new(Arc::clone(&error));
                    let error = StoreError::Database { text: text.clone(), source };
                    if let (None, Some(call)) = (&reply, write.call()) {
                        owe(&mut self.failed, call, &error);
                    }
                    answer(reply, Err(error));
                }
            }
        }
    }

    /// Fails as a whole when the database does, and entry by entry for what cannot follow the record.
    fn try_commit(
        &mut self,
        group: &[Appended],
    ) -> Result<Vec<Result<(), StoreError>>, rusqlite::Error> {
        let lasting = group.iter().any(|(write, _)| write.must_last());
        if lasting != self.lasting {
            let level = if lasting { "FULL" } else { "NORMAL" };
            self.connection.pragma_update(None, "synchronous", level)?;
            self.lasting = lasting;
        }
        if !self.owes_any(group) && self.write_all(group)? {
            return Ok(group.iter().map(|_| Ok(())).collect());
        }
        self.write_each(group)
    }

    /// Tells whether an entry is to be refused for an earlier one of its call.
    fn owes_any(&self, group: &[Appended]) -> bool {
        let owes = |(write, reply): &Appended| {
            reply.is_some() && write.call().is_some_and(|call| self.failed.contains_key(call))
        };
        !self.failed.is_empty() && group.iter().any(owes)
    }

    /// Writes a group of which no entry is refused, and tells whether it was one. Otherwise nothing is written.
    ///
    /// Nearly every group is: a guard around each entry would cost a third of the time.
    fn write_all(&self, group: &[Appended]) -> Result<bool, rusqlite::Error> {
        let tx = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
        for (write, _) in group {
            match write.apply(&tx, &self.lease) {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return Ok(false),
                Err(error) if contradicts(&error) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        tx.commit()?;
        Ok(true)
    }

    /// Writes those entries of a group that are not refused.
    fn write_each(
        &mut self,
        group: &[Appended],
    ) -> Result<Vec<Result<(), StoreError>>, rusqlite::Error> {
        let tx = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
        let mut results = Vec::with_capacity(group.len());
        for (write, reply) in group {
            let call = write.call();
            let owed = call.filter(|_| reply.is_some()).and_then(|call| self.failed.remove(call));
            let result = match owed {
                Some(text) => Err(StoreError::Refused {
                    text: format!("an earlier record of this call was not kept: {text}"),
                }),
                None => entry(&tx, write, &self.lease)?,
            };
            if let (None, Err(error), Some(call)) = (reply, &result, call) {
                owe(&mut self.failed, call, error);
            }
            results.push(result);
        }
        tx.commit()?;
        Ok(results)
    }
}

/// Keeps a failure until somebody waits for an entry of the call. The first one tells most.
fn owe(failed: &mut HashMap<String, String>, call: &str, error: &StoreError) {
    if failed.len() < FAILED && !failed.contains_key(call) {
        failed.insert(call.to_owned(), error.to_string());
    }
}

/// Tells a result to whoever waits. They may be gone; the entry is kept all the same.
fn answer(reply: Option<Reply>, result: Result<(), StoreError>) {
    if let Some(reply) = reply {
        let _ = reply.send(result);
    }
}

/// Writes one entry, whole or not at all. The outer error is the database's, the inner one the entry's.
fn entry(
    tx: &Transaction<'_>,
    write: &Write,
    lease: &str,
) -> Result<Result<(), StoreError>, rusqlite::Error> {
    tx.prepare_cached("SAVEPOINT entry")?.execute([])?;
    let result = match write.apply(tx, lease) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(text)) => Err(StoreError::Refused { text }),
        Err(error) if contradicts(&error) => {
            let text = format!("{} contradicts what is on record", write.describe());
            tracing::error!(%error, "{text}");
            Err(StoreError::Refused { text })
        }
        Err(error) => return Err(error),
    };
    if result.is_err() {
        tx.prepare_cached("ROLLBACK TO entry")?.execute([])?;
    }
    tx.prepare_cached("RELEASE entry")?.execute([])?;
    Ok(result)
}

/// Tells whether an entry cannot follow what is on record.
fn contradicts(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
}

#[cfg(test)]
mod tests;
