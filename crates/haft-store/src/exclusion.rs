//! Locks between processes: a file for each resource that somebody writes to.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use haft_protocol::{Access, Digest};
use haft_tool::ports::{Exclusion, Held, Port, PortError};
use haft_tool::{BoxFuture, Claim, DirectoryId};

use crate::StoreError;
use crate::lock_file::{Mode, remove_if_free, try_lock};

/// The first pause before a lock is tried again; each further one is twice as long, up to [`PAUSE_MAX`].
const PAUSE: Duration = Duration::from_millis(1);

/// The longest pause between two tries.
const PAUSE_MAX: Duration = Duration::from_millis(20);

/// Holds other processes out of what a call writes.
///
/// A claim that writes takes the lock of its name alone, and shares the lock of each directory above it; a claim on a
/// whole tree takes the lock of its own directory alone. So a tree excludes every write beneath it, and writes to
/// different names go on side by side. Claims that only read take nothing.
///
/// The locks are between processes. Calls of one process share them: which of its calls excludes which is for dispatch
/// to say, who knows that a call inside a call inherits the locks of the outer one.
#[derive(Debug, Clone)]
pub(crate) struct LockFiles {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    folder: PathBuf,
    held: Mutex<HashMap<Digest, Lock>>,
}

#[derive(Debug)]
struct Lock {
    /// Locked as long as it is open.
    _file: File,
    mode: Mode,
    holders: usize,
}

impl LockFiles {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { shared: Arc::new(Shared { folder, held: Mutex::default() }) }
    }

    async fn take(&self, wanted: BTreeMap<Digest, Mode>) -> Result<Holding, StoreError> {
        let mut holding = Holding { shared: Arc::clone(&self.shared), names: Vec::new() };
        for (name, mode) in wanted {
            let mut pause = PAUSE;
            while !self.shared.try_take(name, mode)? {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(PAUSE_MAX);
            }
            holding.names.push(name);
        }
        Ok(holding)
    }
}

impl Port for LockFiles {
    fn describe(&self) -> String {
        format!("lock files in {}", self.shared.folder.display())
    }
}

impl Exclusion for LockFiles {
    fn hold<'a>(&'a self, claims: &'a [Claim]) -> BoxFuture<'a, Result<Held, PortError>> {
        Box::pin(async move {
            let wanted = wanted(claims);
            if wanted.is_empty() {
                return Ok(Box::new(()) as Held);
            }
            Ok(Box::new(self.take(wanted).await?) as Held)
        })
    }
}

/// Returns the locks behind some claims in the one order in which every process takes them, so that no two wait for
/// each other.
fn wanted(claims: &[Claim]) -> BTreeMap<Digest, Mode> {
    let mut wanted = BTreeMap::new();
    let mut want = |name: Digest, mode: Mode| {
        let strongest = wanted.entry(name).or_insert(mode);
        *strongest = mode.max(*strongest);
    };
    for claim in claims.iter().filter(|claim| claim.access.writes()) {
        want(name_lock(claim), Mode::Alone);
        want(tree_lock(claim.key.directory), Mode::Shared);
        for directory in &*claim.above {
            want(tree_lock(*directory), Mode::Shared);
        }
        if let (Access::WriteTree, Some(own)) = (claim.access, claim.own) {
            want(tree_lock(own), Mode::Alone);
        }
    }
    wanted
}

fn name_lock(claim: &Claim) -> Digest {
    let DirectoryId { device, inode } = claim.key.directory;
    Digest::of_parts([&b"name"[..], &device.to_le_bytes(), &inode.to_le_bytes(), &claim.key.leaf])
}

fn tree_lock(directory: DirectoryId) -> Digest {
    let DirectoryId { device, inode } = directory;
    Digest::of_parts([&b"tree"[..], &device.to_le_bytes(), &inode.to_le_bytes()])
}

impl Shared {
    /// Takes a lock if it can be had now.
    fn try_take(&self, name: Digest, mode: Mode) -> Result<bool, StoreError> {
        let mut held = self.held();
        if let Some(lock) = held.get_mut(&name) {
            // What is wider than what this process holds is waited for: a lock cannot be widened without letting go.
            let enough = lock.mode >= mode;
            lock.holders += usize::from(enough);
            return Ok(enough);
        }
        let path = self.path_of(name);
        let locked = try_lock(&path, mode).map_err(StoreError::lock(&path))?;
        let Some(file) = locked else { return Ok(false) };
        held.insert(name, Lock { _file: file, mode, holders: 1 });
        Ok(true)
    }

    fn release(&self, name: Digest) {
        let mut held = self.held();
        let Some(lock) = held.get_mut(&name) else { return };
        lock.holders -= 1;
        if lock.holders > 0 {
            return;
        }
        if lock.mode == Mode::Alone {
            // Nobody else holds it, and whoever waits looks whether the file is still there when it gets it.
            let _ = fs::remove_file(self.path_of(name));
        }
        held.remove(&name);
    }

    fn path_of(&self, name: Digest) -> PathBuf {
        self.folder.join(format!("{name}.lock"))
    }

    /// Nothing panics while the table is locked; a poisoned table is whole.
    fn held(&self) -> MutexGuard<'_, HashMap<Digest, Lock>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes lock files that nobody holds, and returns how many.
pub(crate) fn sweep(folder: &Path) -> usize {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    entries.flatten().filter(|entry| remove_if_free(&entry.path())).count()
}

/// Locks that are held until this is dropped.
#[derive(Debug)]
struct Holding {
    shared: Arc<Shared>,
    names: Vec<Digest>,
}

impl Drop for Holding {
    fn drop(&mut self) {
        for name in self.names.drain(..).rev() {
            self.shared.release(name);
        }
    }
}
