//! The one thread that writes.
//!
//! Whatever waits when the thread gets to it goes into one transaction: one commit serves all of it, and nobody is told
//! before that commit.

mod entries;
mod line;

use std::collections::HashMap;
use std::mem;
use std::sync::{Arc, mpsc};
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
/// The line has no bound of its own: whoever appends waits for the answer, and what may be appended without waiting is
/// two entries of each call that runs.
pub(crate) struct Writer {
    line: Option<Arc<Line<Job>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread with its connection.
    pub(crate) fn start(
        connection: Connection,
        place: &Place,
        lease: String,
    ) -> Result<Self, StoreError> {
        let line = Arc::new(Line::new());
        let taken = AtWork(Arc::clone(&line));
        let place = place.clone();
        let state = State { connection, place, lease, lasting: false, failed: HashMap::new() };
        let thread = thread::Builder::new()
            .name("haft-store".to_owned())
            .spawn(move || state.run(&taken))
            .map_err(|source| StoreError::Database {
                text: "could not start the thread that writes the journal; end some processes"
                    .to_owned(),
                source: source.into(),
            })?;
        Ok(Self { line: Some(line), thread: Some(thread) })
    }

    /// Makes the writer of a store that only looks: whatever is put in line is refused.
    pub(crate) fn none() -> Self {
        Self { line: None, thread: None }
    }

    /// Tells whether there is a thread that writes.
    pub(crate) fn writes(&self) -> bool {
        self.line.is_some()
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

    /// Puts work in line and does not wait for it.
    pub(crate) fn later(&self, work: impl FnOnce(&mut Connection) + Send + 'static) {
        // A writer that has ended has nothing to work on.
        let _ = self.put(Job::Work(Box::new(work)), Due::Now);
    }

    fn put(&self, job: Job, due: Due) -> Result<(), StoreError> {
        let line = self.line.as_ref().ok_or(StoreError::Stopped)?;
        line.put(job, due).map_err(|_| StoreError::Stopped)
    }
}

impl Drop for Writer {
    /// Waits until everything in line is written.
    fn drop(&mut self) {
        if let Some(line) = &self.line {
            line.close();
        }
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != thread::current().id()
        {
            let _ = thread.join();
        }
    }
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
