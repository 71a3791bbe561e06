//! Other names of protected files.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use haft_protocol::limits;

use crate::file::{FileId, FileKind, Metadata};
use crate::protection::Protection;
use crate::sys::Dir;
use crate::workspace::Root;

/// Finds out whether a file of several names has a protected one.
///
/// A file does not know its names, so this looks where a protected one most likely stands: in the file's own directory
/// and in those above it, up to the root, and in protected directories that stand there. A walk adds what it meets. A
/// protected name anywhere else goes unseen, above all one outside the root.
#[derive(Debug, Default)]
pub(crate) struct Twins {
    scanned: Mutex<HashMap<PathBuf, Arc<HashSet<FileId>>>>,
    met: Mutex<HashSet<FileId>>,
}

impl Twins {
    /// Tells whether a file in a directory, given by its path from the root, is known to have a protected name.
    pub(crate) fn is_protected(
        &self,
        file: &Metadata,
        directory: &Path,
        root: &Root,
        protection: &Protection,
    ) -> bool {
        if file.links < 2 {
            return false;
        }
        let is_met = self.met.lock().unwrap_or_else(PoisonError::into_inner).contains(&file.id);
        is_met
            || directory
                .ancestors()
                .any(|directory| self.scan(directory, root, protection).contains(&file.id))
    }

    /// Takes note of a protected file that a walk passed over.
    pub(crate) fn meet(&self, file: &Metadata) {
        if file.links > 1 && file.kind == FileKind::File {
            self.met.lock().unwrap_or_else(PoisonError::into_inner).insert(file.id);
        }
    }

    fn scan(&self, path: &Path, root: &Root, protection: &Protection) -> Arc<HashSet<FileId>> {
        let scanned = || self.scanned.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = scanned().get(path) {
            return Arc::clone(known);
        }
        let mut found = HashSet::new();
        if let Ok(dir) = root.dir.readable_beneath(path, root.beneath) {
            let mut protected = Vec::new();
            each_name(&dir, |name| {
                if protection.covers(path, name) {
                    protected.push(name.to_owned());
                }
            });
            for name in protected {
                match dir.look(&name) {
                    Ok(file) if file.kind == FileKind::Directory => {
                        if let Ok(within) = dir.child(&name).and_then(|within| within.readable()) {
                            each_name(&within, |name| found.extend(file_of(&within, name)));
                        }
                    }
                    _ => found.extend(file_of(&dir, &name)),
                }
            }
        }
        let found = Arc::new(found);
        scanned().insert(path.to_owned(), Arc::clone(&found));
        found
    }
}

fn file_of(dir: &Dir, name: &std::ffi::OsStr) -> Option<FileId> {
    dir.look(name).ok().filter(|file| file.kind == FileKind::File).map(|file| file.id)
}

fn each_name(dir: &Dir, mut each: impl FnMut(&std::ffi::OsStr)) {
    let mut left = limits::TWIN_NAMES;
    // Names read before a failure still count.
    let _ = dir.names(&mut Vec::new(), |name, _| {
        each(name);
        left = left.saturating_sub(1);
        left > 0
    });
}
