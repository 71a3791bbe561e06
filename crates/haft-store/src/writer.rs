//! The one thread that writes.
//!
//! Whatever waits when the thread gets to it goes into one transaction: one commit serves all of it, and nobody is told
//! before that commit.

mod entries;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread::{self, JoinHandle};

use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior};
use tokio::sync::oneshot;

use crate::StoreError;
use crate::database::{self, Place};
use crate::error::explain;
pub(crate) use entries::Write;

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
/// The queue has no bound of its own: whoever appends waits for the answer, and what may be appended without waiting is
/// two entries of each call that runs.
pub(crate) struct Writer {
    queue: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread with its connection.
    pub(crate) fn start(
        connection: Connection,
        place: &Place,
        lease: String,
    ) -> Result<Self, StoreError> {
        let (queue, jobs) = mpsc::channel();
        let place = place.clone();
        let state = State { connection, place, lease, lasting: false, failed: HashMap::new() };
        let thread = thread::Builder::new()
            .name("haft-store".to_owned())
            .spawn(move || state.run(&jobs))
            .map_err(|source| StoreError::Database {
                text: "could not start the thread that writes the journal; end some processes"
                    .to_owned(),
                source: source.into(),
            })?;
        Ok(Self { queue: Some(queue), thread: Some(thread) })
    }

    /// Makes the writer of a store that only looks: whatever is put in line is refused.
    pub(crate) fn none() -> Self {
        Self { queue: None, thread: None }
    }

    /// Puts an entry in line. The receiver resolves when it is committed.
    pub(crate) fn append(
        &self,
        write: Write,
    ) -> Result<oneshot::Receiver<Result<(), StoreError>>, StoreError> {
        let (reply, receiver) = oneshot::channel();
        self.send(Job::Append { write, reply: Some(reply) })?;
        Ok(receiver)
    }

    /// Puts an entry in line. A failure is told to whoever appends the call's next entry and waits.
    pub(crate) fn append_quietly(&self, write: Write) -> Result<(), StoreError> {
        self.send(Job::Append { write, reply: None })
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
        self.send(Job::Work(Box::new(work)))?;
        receiver.recv().map_err(|_| StoreError::Stopped)
    }

    /// Puts work in line and does not wait for it.
    pub(crate) fn later(&self, work: impl FnOnce(&mut Connection) + Send + 'static) {
        // A writer that has ended has nothing to work on.
        let _ = self.send(Job::Work(Box::new(work)));
    }

    fn send(&self, job: Job) -> Result<(), StoreError> {
        let queue = self.queue.as_ref().ok_or(StoreError::Stopped)?;
        queue.send(job).map_err(|_| StoreError::Stopped)
    }
}

impl Drop for Writer {
    /// Waits until everything in line is written.
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != thread::current().id()
        {
            let _ = thread.join();
        }
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
    fn run(mut self, jobs: &Receiver<Job>) {
        while let Ok(first) = jobs.recv() {
            let mut next = Some(first);
            while let Some(job) = next.take() {
                match job {
                    Job::Work(work) => work(&mut self.connection),
                    Job::Append { write, reply } => {
                        let mut group = vec![(write, reply)];
                        while group.len() < GROUP {
                            match jobs.try_recv() {
                                Ok(Job::Append { write, reply }) => group.push((write, reply)),
                                Ok(work @ Job::Work(_)) => {
                                    next = Some(work);
                                    break;
                                }
                                Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
                            }
                        }
                        self.commit(group);
                    }
                }
            }
        }
        database::close(self.connection, &self.place);
    }

    /// Writes a group in one transaction and answers each of its entries.
    fn commit(&mut self, group: Vec<Appended>) {
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
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
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

#[cfg(test)]
mod tests;
