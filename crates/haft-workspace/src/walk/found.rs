//! One thing a walk met.

use std::cell::{OnceCell, RefCell};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::SystemTime;

use haft_protocol::LogicalPath;

use super::{Totals, Walk};
use crate::error::PathError;
use crate::file::{FileId, FileKind, Metadata, OpenFile};
use crate::name::shown;
use crate::resolve::{Naming, Resolver};
use crate::resolved::Resolved;
use crate::sys::Dir;

/// One thing a walk met: a name in a directory that is held open.
pub struct Found<'a> {
    pub(super) walk: &'a Walk<'a>,
    pub(super) dir: &'a Dir,
    pub(super) name: &'a OsStr,
    /// The path from the root.
    pub(super) path: &'a Path,
    /// The path from where the walk began.
    pub(super) relative: &'a Path,
    pub(super) kind: FileKind,
    pub(super) left_out: Option<LeftOut>,
    pub(super) logical: OnceCell<LogicalPath>,
    pub(super) totals: &'a RefCell<Totals>,
}

/// What leaves out a thing that is met by its name alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeftOut {
    /// Ignore rules.
    Ignored,
    /// The protection.
    Protected,
}

/// What the directories at the top of one that is not entered look like, for telling whether something changed there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Glance {
    id: FileId,
    changed: (i64, u32),
    /// The directories in it, each with when it last changed.
    within: Vec<(OsString, (i64, u32))>,
}

/// How many entries of a directory a glance goes over.
const GLANCE_ENTRIES: usize = 1_000;

/// How deep names are gone through in a directory that is not entered: a directory is held open for each step.
const NAMES_DEPTH: usize = 8;

impl Found<'_> {
    /// Returns what leaves it out, where it is met by its name alone.
    pub(crate) fn left_out(&self) -> Option<LeftOut> {
        self.left_out
    }

    /// Glances at a directory that is not entered: what is made or removed in it or in a directory of it shows in that.
    pub(crate) fn glance(&self) -> Option<Glance> {
        let dir = self.dir.child(self.name).ok()?.readable().ok()?;
        let metadata = dir.metadata().ok()?;
        let (mut within, mut names) = (Vec::new(), 0);
        let read = dir.names(&mut Vec::new(), |name, kind| {
            names += 1;
            if matches!(kind, Some(FileKind::Directory) | None) {
                let found = dir.look(name).ok().filter(|it| it.kind == FileKind::Directory);
                within.extend(found.map(|it| (name.to_owned(), it.changed)));
            }
            names < GLANCE_ENTRIES
        });
        read.ok()?;
        within.sort_unstable();
        Some(Glance { id: metadata.id, changed: metadata.changed, within })
    }

    /// Goes through what lies in a directory that is not entered, by names alone: paths from here, each with what the system
    /// tells of it. `each` says whether to go on.
    ///
    /// Returns whether that was all. What cannot be opened, or lies too deep, is not.
    pub(crate) fn names_within(&self, mut each: impl FnMut(&Path, &Metadata) -> bool) -> bool {
        let opened = self.dir.child(self.name).and_then(|dir| dir.readable());
        opened.is_ok_and(|dir| names_within(&dir, Path::new(""), NAMES_DEPTH, &mut each))
    }

    /// Tells when a directory was made, where the system remembers. Nothing else is asked for, which spares a system call.
    pub(crate) fn directory_born(&self) -> Option<SystemTime> {
        (self.kind == FileKind::Directory).then(|| self.dir.born(self.name)).flatten()
    }

    /// Returns the path from the root to something beneath, as it is shown.
    pub(crate) fn path_within(&self, path: &Path) -> LogicalPath {
        self.walk.view.logical(self.walk.root_index, &self.path.join(path))
    }

    /// Returns the path as it is shown.
    pub fn path(&self) -> &LogicalPath {
        self.logical.get_or_init(|| self.walk.view.logical(self.walk.root_index, self.path))
    }

    /// Returns the path from where the walk began; the name, where it began with this.
    pub fn relative(&self) -> &Path {
        self.relative
    }

    /// Returns the name.
    pub fn name(&self) -> &OsStr {
        self.name
    }

    /// Returns the kind.
    pub fn kind(&self) -> FileKind {
        self.kind
    }

    /// Looks at what the name stands for, without opening it.
    ///
    /// # Errors
    ///
    /// Fails when it went away, and when the system refuses.
    pub fn metadata(&self) -> Result<Metadata, PathError> {
        self.dir.look(self.name).map_err(|error| self.failed(error))
    }

    /// Returns where a link points, as it is shown.
    pub(crate) fn link_target(&self) -> Option<String> {
        if self.kind != FileKind::Link {
            return None;
        }
        let target = self.dir.read_link(self.name).ok()?;
        Some(target.to_str().map_or_else(|| shown(&target).into_owned(), ToOwned::to_owned))
    }

    /// Opens the file.
    ///
    /// What cannot be opened is counted in the report of the walk, except where it only went away; a visitor can pass
    /// over errors.
    ///
    /// # Errors
    ///
    /// Fails when this is no regular file or no longer there, when it has a protected name as well, and when the system
    /// refuses.
    pub fn open(&self) -> Result<OpenFile, PathError> {
        let path = || self.path().to_string();
        if self.kind != FileKind::File {
            return Err(PathError::NotAFile { path: path(), kind: self.kind });
        }
        let (file, metadata) = self.dir.open_file(self.name).map_err(|error| {
            let error = self.failed(error);
            if !matches!(error, PathError::NotFound { .. } | PathError::Changed { .. }) {
                let path = self.path();
                self.totals.borrow_mut().note_unreadable(path);
            }
            error
        })?;
        if metadata.kind != FileKind::File {
            return Err(PathError::Changed { path: path() });
        }
        if self.is_twin(&metadata) {
            return Err(PathError::protected_twin(path()));
        }
        Ok(OpenFile::new(file, metadata))
    }

    /// Follows a link.
    ///
    /// # Errors
    ///
    /// Fails where [`Workspace::resolve`](crate::Workspace::resolve) would, and when a rule hides where it leads.
    pub fn follow(&self) -> Result<Resolved, PathError> {
        let workspace = self.walk.view.workspace();
        let place = Resolver::new(workspace, self.path().as_str(), Naming::All)
            .resolve_met(self.walk.root_index, self.path)?;
        if self.walk.view.lets_see(place.logical()) {
            Ok(place)
        } else {
            Err(PathError::HiddenByRule { given: self.path().to_string() })
        }
    }

    /// Tells whether the walk is over, for a visitor whose work on one file takes long.
    pub fn is_over(&self) -> bool {
        self.walk.is_over() || self.walk.is_late()
    }

    /// Tells whether the file has a protected name as well, and counts it as hidden if so.
    pub(crate) fn is_twin(&self, metadata: &Metadata) -> bool {
        let directory = self.path.parent().unwrap_or(Path::new(""));
        let protection = self.walk.view.workspace().protection();
        let is_twin = self.walk.twins.is_protected(metadata, directory, self.walk.root, protection);
        self.totals.borrow_mut().skipped.hidden.protected += u64::from(is_twin);
        is_twin
    }

    fn failed(&self, error: rustix::io::Errno) -> PathError {
        PathError::of_system(self.path().as_str(), error)
    }
}

fn names_within(
    dir: &Dir,
    path: &Path,
    depth: usize,
    each: &mut impl FnMut(&Path, &Metadata) -> bool,
) -> bool {
    let (mut directories, mut goes_on) = (Vec::new(), true);
    let read = dir.names(&mut Vec::new(), |name, _| {
        let Ok(metadata) = dir.look(name) else { return true };
        let path = path.join(name);
        goes_on = each(&path, &metadata);
        if metadata.kind == FileKind::Directory {
            directories.push(name.to_owned());
        }
        goes_on
    });
    if read.is_err() || !goes_on || (depth == 0 && !directories.is_empty()) {
        return false;
    }
    directories.iter().all(|name| {
        let opened = dir.child(name).and_then(|dir| dir.readable());
        opened.is_ok_and(|dir| names_within(&dir, &path.join(name), depth - 1, each))
    })
}
