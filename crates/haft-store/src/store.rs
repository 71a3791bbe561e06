//! An open state directory, or one in memory.

use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use haft_protocol::{CallId, limits};
use haft_tool::ports::none::NoExclusion;
use haft_tool::ports::{Exclusion, Port};
use rusqlite::Connection;

use crate::database::{self, BUSY, Place};
use crate::directory::Directory;
use crate::effects::Pending;
use crate::exclusion::LockFiles;
use crate::lease::{Lease, Leases};
use crate::lock_file::{Mode, try_lock};
use crate::objects::Objects;
use crate::retention::Keeper;
use crate::writer::Writer;
use crate::{Redaction, StoreError};

/// How long opening waits before it looks again whether another process is done opening.
const OPENING_PAUSE: Duration = Duration::from_millis(5);

/// How to open a store.
#[derive(Debug, Clone)]
pub struct StoreConfig {
    /// The state directory; made if it is not there.
    pub dir: PathBuf,
    /// What is kept, and for how long.
    pub retention: Retention,
    /// What is taken out before anything is written.
    pub redaction: Redaction,
}

/// What is kept, and for how long. Every field has its default in [`limits`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Days a call is kept, and a run from its last entry on.
    pub days: NonZeroU32,
    /// Calls that are kept at most beside those of runs, the latest ones.
    pub calls: NonZeroU64,
    /// Bytes of all artifacts and of what changes took away.
    pub artifact_bytes_total: NonZeroU64,
    /// Bytes of one artifact, or of one file that a change took away.
    pub artifact_bytes_each: NonZeroU64,
    /// Runs that are kept at most, those with the latest entries, and all their calls with them.
    pub runs: NonZeroU64,
    /// Bytes of all entries of all runs.
    pub run_bytes: NonZeroU64,
}

impl Default for Retention {
    fn default() -> Self {
        let at_least_one = |number| NonZeroU64::new(number).unwrap_or(NonZeroU64::MIN);
        Self {
            days: NonZeroU32::new(limits::RETENTION_DAYS).unwrap_or(NonZeroU32::MIN),
            calls: at_least_one(limits::RETENTION_CALLS),
            artifact_bytes_total: at_least_one(limits::ARTIFACTS_BYTES),
            artifact_bytes_each: at_least_one(limits::ARTIFACT_BYTES),
            runs: at_least_one(limits::RETENTION_RUNS),
            run_bytes: at_least_one(limits::RUNS_BYTES),
        }
    }
}

/// Recorded state: the journal, the artifacts, and the locks between processes.
///
/// A store is the [`Journal`](haft_tool::ports::Journal) and the [`Artifacts`](haft_tool::ports::Artifacts) of a
/// dispatch, and keeps the [`Effects`](haft_tool::ports::Effects) of its workspace; its locks are a port of their own, [`Store::exclusion`]. A clone is the same store. When the last clone is
/// dropped, whatever is in line is written first, which blocks for that long.
///
/// Several processes may have the same directory open. The methods that read and clean up block for the time of a query
/// and are meant for a thread that may.
#[derive(Clone)]
pub struct Store {
    pub(crate) inner: Arc<Inner>,
    /// The roots of the workspace whose calls are recorded, redacted.
    pub(crate) roots: Arc<[String]>,
}

pub(crate) struct Inner {
    /// The connection for reading, from the first time that somebody reads. Comes first: the last connection to close
    /// clears the database's log away, and this one may not write.
    reading: Mutex<Option<Connection>>,
    /// Comes next, so that it is done before anything else here is gone.
    pub(crate) writer: Writer,
    pub(crate) place: Place,
    pub(crate) redaction: Redaction,
    pub(crate) retention: Retention,
    pub(crate) objects: Objects,
    pub(crate) leases: Leases,
    /// Content that was kept and that no change needs yet.
    pub(crate) pending: Pending,
    pub(crate) directory: Option<Directory>,
    /// Calls that change nothing and whose entries nobody waits for until the outcome.
    quiet: Mutex<HashSet<CallId>>,
    /// Runs that can be added to.
    pub(crate) open_runs: AtomicUsize,
    /// Bytes of entries of runs that were written since it was last looked whether there is room for them.
    pub(crate) unlooked_run_bytes: AtomicU64,
    locks: Option<LockFiles>,
    _lease: Lease,
}

impl Store {
    /// Opens a state directory, and makes it if need be.
    ///
    /// Others lose their access to the directory and the files in it. A log of latest writes that is damaged or missing
    /// is told by [`StateUsage::damaged_log`](crate::StateUsage::damaged_log). Once a day, what [`Retention`] does not keep any
    /// more is removed, a bounded amount at a time.
    ///
    /// # Errors
    ///
    /// Fails for a directory that is not this user's, that others may write to or that is there for something else, for a
    /// database of another program, a later haft, or one that is
    /// damaged, and when the disk or the file system is not up to it. The text names the path and what would help.
    pub fn open(config: StoreConfig) -> Result<Self, StoreError> {
        let directory = Directory::open(&config.dir)?;
        let place = Place::File(directory.database());
        let connection = {
            let _alone = opening(&directory.opening())?;
            database::open(&place)?
        };
        let lease = Lease::take(&directory.leases())?;
        let objects = Objects::in_folder(&directory.objects());
        let locks = LockFiles::new(directory.locks());
        let leases = Leases::new(Some(directory.leases()), &lease);
        let StoreConfig { retention, redaction, .. } = config;
        let parts =
            Parts { place, lease, leases, objects, directory: Some(directory), locks: Some(locks) };
        let store = Self::assemble(connection, parts, retention, redaction);
        store.tidy_up_in_time();
        Ok(store)
    }

    /// Opens a state directory to look at what is on record, also where it cannot be written to. Nothing in it is made or
    /// changed, and whatever would write is refused.
    ///
    /// # Errors
    ///
    /// Fails where there is no database of ours in a form of this haft, and where it cannot be read.
    pub fn open_to_look(config: StoreConfig) -> Result<Self, StoreError> {
        let directory = Directory::look(&config.dir)?;
        let place = Place::File(directory.database());
        let connection = database::open_looking(&directory.database())?;
        let lease = Lease::unseen();
        let leases = Leases::new(Some(directory.leases()), &lease);
        let objects = Objects::in_folder(&directory.objects());
        let StoreConfig { retention, redaction, .. } = config;
        let parts =
            Parts { place, lease, leases, objects, directory: Some(directory), locks: None };
        let store = Self::of_parts(Writer::none(), parts, retention, redaction);
        let mut reading = store.inner.reading.lock().unwrap_or_else(PoisonError::into_inner);
        *reading = Some(connection);
        drop(reading);
        Ok(store)
    }

    /// Makes a store that nothing outlives: for tests, and for runs that should leave no trace.
    ///
    /// # Errors
    ///
    /// Fails when there is no memory to be had.
    pub fn in_memory(retention: Retention, redaction: Redaction) -> Result<Self, StoreError> {
        let place = Place::Memory;
        let connection = database::open(&place)?;
        let lease = Lease::unseen();
        let leases = Leases::new(None, &lease);
        let objects = Objects::in_memory();
        let parts = Parts { place, lease, leases, objects, directory: None, locks: None };
        Ok(Self::assemble(connection, parts, retention, redaction))
    }

    fn assemble(
        connection: Connection,
        parts: Parts,
        retention: Retention,
        redaction: Redaction,
    ) -> Self {
        let writer = Writer::new(connection, &parts.place, parts.lease.id().to_owned());
        Self::of_parts(writer, parts, retention, redaction)
    }

    fn of_parts(writer: Writer, parts: Parts, retention: Retention, redaction: Redaction) -> Self {
        let Parts { place, lease, leases, objects, directory, locks } = parts;
        let inner = Inner {
            reading: Mutex::default(),
            writer,
            place,
            redaction,
            retention,
            objects,
            leases,
            pending: Pending::default(),
            directory,
            quiet: Mutex::default(),
            open_runs: AtomicUsize::default(),
            unlooked_run_bytes: AtomicU64::default(),
            locks,
            _lease: lease,
        };
        Self { inner: Arc::new(inner), roots: Arc::default() }
    }

    /// Returns the same store for one workspace, whose roots go on record with each call that is journalled through it.
    /// They are full paths, the first one first.
    pub fn of_workspace<'r>(&self, roots: impl IntoIterator<Item = &'r Path>) -> Self {
        let roots = roots.into_iter().map(|root| self.inner.root(root)).collect();
        Self { inner: Arc::clone(&self.inner), roots }
    }

    /// Returns the state directory, which a store in memory does not have.
    pub fn dir(&self) -> Option<&Path> {
        self.inner.directory.as_ref().map(Directory::path)
    }

    /// Returns the locks between the processes that have this directory open. A store in memory has none to keep out.
    pub fn exclusion(&self) -> Arc<dyn Exclusion> {
        match &self.inner.locks {
            Some(locks) => Arc::new(locks.clone()),
            None => Arc::new(NoExclusion),
        }
    }

    /// Removes a bounded amount of what is not kept any more, if that was last done a day ago.
    fn tidy_up_in_time(&self) {
        let keeper = Keeper::of(&self.inner);
        // A store that only looks keeps everything.
        let _ = self.inner.writer.at_once(move |connection| keeper.step_if_due(connection));
    }
}

impl Inner {
    /// Runs a query, on a connection of its own where there is a file.
    pub(crate) fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, rusqlite::Error> + Send + 'static,
    ) -> Result<T, StoreError> {
        let result = match &self.place {
            Place::Memory => self.writer.with(move |connection| query(connection))?,
            Place::File(path) => {
                let mut reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
                match &*reading {
                    Some(connection) => query(connection),
                    None => database::open_reading(path)
                        .and_then(|connection| query(reading.insert(connection))),
                }
            }
        };
        result.map_err(self.place.error())
    }

    /// Runs a query that takes less than opening a connection for it would.
    pub(crate) fn glance<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, rusqlite::Error> + Send + 'static,
    ) -> Result<T, StoreError> {
        if !self.writer.writes() {
            return self.read(query);
        }
        self.writer.at_once(move |connection| query(connection))?.map_err(self.place.error())
    }

    /// Returns a root as it is recorded.
    pub(crate) fn root(&self, root: &Path) -> String {
        self.redaction.text(&root.to_string_lossy()).into_owned()
    }

    /// Nothing panics while the set is locked; a poisoned set is whole.
    pub(crate) fn quiet(&self) -> MutexGuard<'_, HashSet<CallId>> {
        self.quiet.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Port for Store {
    fn describe(&self) -> String {
        match &self.inner.directory {
            Some(directory) => format!("state directory {}", directory.path().display()),
            None => "in memory: gone when the process ends".to_owned(),
        }
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Store({})", self.describe())
    }
}

struct Parts {
    place: Place,
    lease: Lease,
    leases: Leases,
    objects: Objects,
    directory: Option<Directory>,
    locks: Option<LockFiles>,
}

/// Waits until no other process is opening the same directory.
fn opening(path: &Path) -> Result<File, StoreError> {
    let since = Instant::now();
    loop {
        if let Some(file) = try_lock(path, Mode::Alone).map_err(StoreError::lock(path))? {
            return Ok(file);
        }
        if since.elapsed() > BUSY {
            let busy = "another process has been opening the state directory for too long";
            return Err(StoreError::lock(path)(std::io::Error::other(busy)));
        }
        std::thread::sleep(OPENING_PAUSE);
    }
}
