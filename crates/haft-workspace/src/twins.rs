//! Other names of protected files.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use haft_protocol::limits;

use crate::file::{FileId, FileKind, Metadata};
use crate::protection::Protection;
use crate::sys::Dir;
use crate::workspace::Root;

/// Directories within a protected one that are held open at once; what is beyond them goes unseen.
const HELD: usize = 64;

/// Finds out whether a file of several names has a protected one.
///
/// A file does not know its names, so this looks where a protected one most likely stands: in the file's own directory
/// and in those above it, up to the root, and in what stands there and is protected, at any depth, or holds protected
/// names by what it is called (`.docker/config.json`). A walk adds what it meets. A protected name anywhere else goes
/// unseen, above all one outside the root. So many names are looked at and no more.
#[derive(Debug, Default)]
pub(crate) struct Twins {
    scanned: Mutex<HashMap<PathBuf, Arc<HashSet<FileId>>>>,
    met: Mutex<Met>,
}

/// What a walk passed over because its name is protected.
#[derive(Debug, Default)]
struct Met {
    files: HashSet<FileId>,
    /// Paths of directories from the root, which nobody looked into yet.
    directories: Vec<PathBuf>,
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
        if file.links < 2 || file.kind != FileKind::File {
            return false;
        }
        self.is_met(file.id, root)
            || directory
                .ancestors()
                .any(|directory| self.scan(directory, root, protection).contains(&file.id))
    }

    /// Takes note of what a walk passed over because it is protected, at a path from the root.
    pub(crate) fn meet(&self, met: &Metadata, path: &Path) {
        let mut known = self.met.lock().unwrap_or_else(PoisonError::into_inner);
        match met.kind {
            FileKind::File if met.links > 1 => drop(known.files.insert(met.id)),
            FileKind::Directory if known.directories.len() < limits::TWIN_NAMES => {
                known.directories.push(path.to_owned());
            }
            _ => {}
        }
    }

    fn is_met(&self, id: FileId, root: &Root) -> bool {
        let mut known = self.met.lock().unwrap_or_else(PoisonError::into_inner);
        let directories = std::mem::take(&mut known.directories);
        let mut left = limits::TWIN_NAMES;
        for path in directories {
            if let Ok(dir) = root.dir.readable_beneath(&path, root.beneath) {
                everything_in(dir, &mut left, &mut known.files);
            }
        }
        known.files.contains(&id)
    }

    fn scan(&self, path: &Path, root: &Root, protection: &Protection) -> Arc<HashSet<FileId>> {
        let scanned = || self.scanned.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = scanned().get(path) {
            return Arc::clone(known);
        }
        let mut found = HashSet::new();
        let mut left = limits::TWIN_NAMES;
        if let Ok(dir) = root.dir.readable_beneath(path, root.beneath) {
            for name in protected_in(&dir, path, protection, &mut left, &mut found) {
                if let Ok(place) = dir.child(&name).and_then(|place| place.readable()) {
                    protected_in(&place, &path.join(&name), protection, &mut left, &mut found);
                }
            }
        }
        let found = Arc::new(found);
        scanned().insert(path.to_owned(), Arc::clone(&found));
        found
    }
}

/// Gathers the files whose names in a directory are protected, and returns the directories in it that hold protected
/// names by what they are called.
fn protected_in(
    dir: &Dir,
    path: &Path,
    protection: &Protection,
    left: &mut usize,
    found: &mut HashSet<FileId>,
) -> Vec<OsString> {
    let (mut protected, mut places) = (Vec::new(), Vec::new());
    each_name(dir, left, |name, _| {
        if protection.covers(path, name) {
            protected.push(name.to_owned());
        } else if protection.is_place(name) {
            places.push(name.to_owned());
        }
    });
    for name in protected {
        match dir.look(&name) {
            Ok(file) if file.kind == FileKind::Directory => {
                if let Ok(within) = dir.child(&name).and_then(|within| within.readable()) {
                    everything_in(within, left, found);
                }
            }
            Ok(file) if file.kind == FileKind::File => drop(found.insert(file.id)),
            _ => {}
        }
    }
    places
}

/// Gathers all files beneath a directory.
fn everything_in(dir: Dir, left: &mut usize, found: &mut HashSet<FileId>) {
    let mut directories = vec![dir];
    while let Some(dir) = directories.pop() {
        let mut within = Vec::new();
        each_name(&dir, left, |name, kind| match kind {
            Some(FileKind::File | FileKind::Directory) | None => within.push(name.to_owned()),
            Some(_) => {}
        });
        for name in within {
            match dir.look(&name) {
                Ok(file) if file.kind == FileKind::File && file.links > 1 => {
                    found.insert(file.id);
                }
                Ok(it) if it.kind == FileKind::Directory && directories.len() < HELD => {
                    directories.extend(dir.child(&name).and_then(|dir| dir.readable()));
                }
                _ => {}
            }
        }
    }
}

fn each_name(dir: &Dir, left: &mut usize, mut each: impl FnMut(&OsStr, Option<FileKind>)) {
    // Names read before a failure still count.
    let _ = dir.names(&mut Vec::new(), |name, kind| {
        if *left == 0 {
            return false;
        }
        each(name, kind);
        *left -= 1;
        true
    });
}
