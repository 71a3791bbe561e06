//! Files that are locked, and removed when they are no longer.
//!
//! Removing a lock file is a race: somebody may have opened it and wait for the lock, and somebody else may make a new
//! one in its place. Both would then hold "the" lock. So a lock counts only while its file is what the path leads to,
//! and only whoever holds it alone may remove it.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::directory::private_file;

/// How often a file that somebody removed meanwhile is opened again before that counts as being held.
const REOPENED: usize = 8;

/// How a lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mode {
    /// Together with others who hold it like this.
    Shared,
    /// Alone.
    Alone,
}

/// Locks the file at a path, made if need be. `None` when somebody else holds it.
///
/// The lock lasts as long as the file is open.
pub(crate) fn try_lock(path: &Path, mode: Mode) -> io::Result<Option<File>> {
    for _ in 0..REOPENED {
        let file = private_file(path)?;
        if !try_lock_open(&file, mode)? {
            return Ok(None);
        }
        if is_at(&file, path)? {
            return Ok(Some(file));
        }
    }
    Ok(None)
}

/// Removes a lock file that nobody holds, and tells whether it did.
pub(crate) fn remove_if_free(path: &Path) -> bool {
    let remove = || -> io::Result<bool> {
        let file = File::open(path)?;
        let free = try_lock_open(&file, Mode::Alone)? && is_at(&file, path)?;
        if free {
            fs::remove_file(path)?;
        }
        Ok(free)
    };
    remove().unwrap_or(false)
}

pub(crate) fn try_lock_open(file: &File, mode: Mode) -> io::Result<bool> {
    let locked = match mode {
        Mode::Shared => file.try_lock_shared(),
        Mode::Alone => file.try_lock(),
    };
    match locked {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let ours = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(there) => Ok(there.ino() == ours.ino() && there.dev() == ours.dev()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
