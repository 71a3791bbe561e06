//! Roots, opened once, and the names they go by.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_protocol::LogicalPath;
use rustix::io::Errno;

use crate::error::{PathError, WorkspaceError};
use crate::file::FileId;
use crate::name::shown;
use crate::protection::own;
use crate::protection::{Protected, Protection};
use crate::resolve::{Naming, Resolver};
use crate::resolved::{Resolved, Stale};
use crate::sys::{Beneath, Dir};
use crate::text::{PathText, Step};

/// What a workspace is opened with.
#[derive(Debug, Clone)]
pub struct WorkspaceConfig {
    /// The roots, the first being where relative paths begin. A root within another is part of that one; the first may
    /// not lie within a further one.
    pub roots: Vec<PathBuf>,
    /// The protection list.
    pub protection: Protection,
}

/// The directories that tools may see, held open.
///
/// A clone is the same workspace.
#[derive(Clone)]
pub struct Workspace(Arc<Inner>);

struct Inner {
    roots: Vec<Root>,
    spellings: Vec<Spelling>,
    protection: Protection,
}

/// One root.
#[derive(Debug)]
pub(crate) struct Root {
    pub(crate) dir: Arc<Dir>,
    pub(crate) id: FileId,
    pub(crate) path: PathBuf,
    /// The directories around it.
    pub(crate) around: Vec<FileId>,
    pub(crate) beneath: Beneath,
}

/// The root where relative paths begin.
pub(crate) const FIRST_ROOT: usize = 0;

/// An absolute path that leads into a root.
#[derive(Debug)]
struct Spelling {
    path: Vec<OsString>,
    root: usize,
    within: Vec<OsString>,
}

/// Whether the thing a path names has to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// It has to be there.
    Existing,
    /// It may be there or come to be, with the directories above it.
    Any,
}

impl Workspace {
    /// Opens the roots.
    ///
    /// A root that is reached through links is known by the path given and by the real one.
    ///
    /// # Errors
    ///
    /// Fails when there is no root, when one is missing, no directory or cannot be opened, and when the first lies
    /// within a further one.
    pub fn open(config: WorkspaceConfig) -> Result<Self, WorkspaceError> {
        let mut opened: Vec<(PathBuf, Root)> = Vec::new();
        for given in config.roots {
            let root = Root::open(&given)?;
            opened.push((given, root));
        }
        let Some((first_given, first)) = opened.first() else {
            return Err(WorkspaceError::NoRoots);
        };
        let around =
            opened.iter().find(|(_, it)| first.path != it.path && first.path.starts_with(&it.path));
        if let Some((outer, _)) = around {
            return Err(WorkspaceError::FirstRootInside {
                inner: first_given.clone(),
                outer: outer.clone(),
            });
        }

        let paths: Vec<(PathBuf, PathBuf)> =
            opened.iter().map(|(given, root)| (given.clone(), root.path.clone())).collect();
        let mut roots: Vec<Root> = Vec::new();
        for (_, root) in opened {
            let is_covered = roots.iter().any(|it| it.path == root.path)
                || paths.iter().any(|(_, it)| *it != root.path && root.path.starts_with(it));
            if !is_covered {
                roots.push(root);
            }
        }
        let mut spellings = Vec::new();
        for (given, real) in &paths {
            let home = roots.iter().enumerate().find_map(|(index, root)| {
                real.strip_prefix(&root.path).ok().map(|within| (index, within))
            });
            let Some((root, within)) = home else { continue };
            for path in [given, real] {
                let steps = PathText::of_link(path.as_os_str());
                let names: Option<Vec<OsString>> =
                    steps.steps.into_iter().map(Step::name).collect();
                if let (true, Some(path)) = (steps.is_absolute, names) {
                    let within = within.iter().map(ToOwned::to_owned).collect();
                    spellings.push(Spelling { path, root, within });
                }
            }
        }
        Ok(Self(Arc::new(Inner { roots, spellings, protection: config.protection })))
    }

    /// Follows a path from its root, name by name on held directories, to the place it really means.
    ///
    /// A path is relative to the first root, or absolute within any root. `..` goes up from where the walk really is,
    /// and links are followed as long as they stay within the workspace. `~`, `%2e`, spaces and dots at the end of a
    /// name stand for themselves. Where a name is missing and exactly one name in the directory differs from it only
    /// in kinds of spaces or in how accents are composed, that one is used, and [`Resolved::folded`] says so.
    ///
    /// # Errors
    ///
    /// Fails when the text is no path, leads out of the workspace or to something protected, through a file or through
    /// too many links, and, where it has to exist, when it does not.
    pub fn resolve(&self, text: &str, want: Want) -> Result<Resolved, PathError> {
        self.resolve_naming(text, want, Naming::All)
    }

    /// Follows a path to what its last name stands for: where that is a link, to the link, wherever it points.
    ///
    /// # Errors
    ///
    /// Fails where [`resolve`](Self::resolve) would for the directory it lies in.
    pub fn resolve_itself(&self, text: &str, want: Want) -> Result<Resolved, PathError> {
        Resolver::new(self, text, Naming::All).keeping_link(true).resolve_text(want)
    }

    /// Follows a path to where something is taken back: a link is put back as what it is.
    ///
    /// # Errors
    ///
    /// Fails where [`resolve_itself`](Self::resolve_itself) would, and where tools may read and must not write.
    pub fn resolve_to_take_back(&self, text: &str) -> Result<Resolved, PathError> {
        let place = self.resolve_itself(text, Want::Any)?;
        self.check_writable(&place, text)?;
        Ok(place)
    }

    /// Resolves, and tells of names beside a missing one only what `naming` allows.
    pub(crate) fn resolve_naming(
        &self,
        text: &str,
        want: Want,
        naming: Naming<'_>,
    ) -> Result<Resolved, PathError> {
        Resolver::new(self, text, naming).resolve_text(want)
    }

    /// Follows the path of a place again, as it was followed before.
    pub(crate) fn again(
        &self,
        place: &Resolved,
        want: Want,
        naming: Naming<'_>,
    ) -> Result<Resolved, PathError> {
        let resolver = Resolver::new(self, place.given(), naming);
        resolver.keeping_link(place.keeps_link).resolve_text(want)
    }

    /// Follows the path once more and compares.
    ///
    /// # Errors
    ///
    /// Fails when the path now means another place, or something else stands there.
    pub fn revalidate(&self, resolved: &Resolved) -> Result<(), Stale> {
        let stale = |problem: String| Stale { path: resolved.logical().clone(), problem };
        let now = self
            .again(resolved, Want::Any, Naming::All)
            .map_err(|error| stale(format!("it no longer leads there: {error}")))?;
        match resolved.difference(&now) {
            None => Ok(()),
            Some(problem) => Err(stale(problem.to_owned())),
        }
    }

    /// Tells whether the path still leads to the same directory, whatever stands in it by now: what was missing on the
    /// way may have been made, by the caller's own changes too.
    pub(crate) fn still_leads_to(&self, resolved: &Resolved) -> bool {
        self.again(resolved, Want::Any, Naming::Nothing).is_ok_and(|now| {
            resolved.logical == now.logical && now.above.ends_with(&resolved.above)
        })
    }

    /// Returns the protection list.
    pub fn protection(&self) -> &Protection {
        &self.0.protection
    }

    /// Refuses a place that tools may read and must not write, by its own names and by those of its root.
    ///
    /// A link on the way to what haft lives in is one, too.
    pub(crate) fn check_writable(&self, place: &Resolved, given: &str) -> Result<(), PathError> {
        let given = || haft_text::visible_line(given).into_owned();
        let refused =
            |protected: Protected| Err(PathError::WriteProtected { given: given(), protected });
        let protection = self.protection();
        let of_root = self.root(place.root).and_then(|root| protection.of_write(&root.path));
        if let Some(protected) = of_root.or_else(|| protection.of_write(&place.path())) {
            return refused(protected);
        }
        let leaf = place.leaf().filter(|_| place.missing().is_empty());
        if let (Some(leaf), Some(directory)) = (leaf, place.above().first())
            && let Some(why) = protection.own_places().leads_there(*directory, leaf)
        {
            return refused(own::protected(leaf, why));
        }
        Ok(())
    }

    /// Refuses a tree in which a program could come to what haft itself lives in.
    pub(crate) fn check_tree(&self, place: &Resolved, given: &str) -> Result<(), PathError> {
        let held = place.id().and_then(|id| self.protection().own_places().lies_within(id));
        match held {
            None => Ok(()),
            Some(why) => Err(PathError::TreeProtected {
                given: haft_text::visible_line(given).into_owned(),
                why,
            }),
        }
    }

    /// Returns the roots as they are shown: `.`, then absolute paths.
    pub fn roots(&self) -> impl Iterator<Item = LogicalPath> + '_ {
        (0..self.0.roots.len()).map(|root| self.logical(root, Path::new("")))
    }

    /// Returns the roots as places.
    pub(crate) fn root_places(&self) -> Result<Vec<Resolved>, PathError> {
        self.roots().map(|root| self.resolve(root.as_str(), Want::Existing)).collect()
    }

    /// Returns the roots by their full names, the first one too, as patterns of rules may name them.
    pub fn full_names(&self) -> impl Iterator<Item = LogicalPath> + '_ {
        self.0.roots.iter().map(|root| {
            let mut text = String::new();
            for name in root.path.iter().filter(|name| name.as_bytes() != b"/") {
                text.push('/');
                text.push_str(&shown(name));
            }
            LogicalPath::new(if text.is_empty() { "/".to_owned() } else { text })
        })
    }

    /// Returns the real absolute paths of the roots.
    pub fn real_roots(&self) -> impl Iterator<Item = &Path> {
        self.0.roots.iter().map(|root| root.path.as_path())
    }

    /// Returns the real absolute paths of the roots, as records of changes have them.
    pub fn recorded_roots(&self) -> Vec<String> {
        self.real_roots().map(|root| root.to_string_lossy().into_owned()).collect()
    }

    pub(crate) fn root(&self, root: usize) -> Option<&Root> {
        self.0.roots.get(root)
    }

    /// Finds the root an absolute path lies in, and what is left of the path there.
    pub(crate) fn locate(&self, steps: &[Step]) -> Option<(usize, Vec<Step>)> {
        let leads_into = |spelling: &&Spelling| {
            steps.len() >= spelling.path.len()
                && spelling.path.iter().zip(steps).all(|(name, step)| step.is(name))
        };
        let spelling = self.0.spellings.iter().filter(leads_into).max_by_key(|it| it.path.len())?;
        let within = spelling.within.iter().cloned().map(Step::Name);
        let rest = steps.iter().skip(spelling.path.len()).cloned();
        Some((spelling.root, within.chain(rest).collect()))
    }

    /// Shows a path within a root.
    pub(crate) fn logical(&self, root: usize, path: &Path) -> LogicalPath {
        let mut text = String::with_capacity(path.as_os_str().len() + 8);
        let mut push = |path: &Path| {
            for name in path.iter().filter(|name| name.as_bytes() != b"/") {
                if !text.is_empty() || root > FIRST_ROOT {
                    text.push('/');
                }
                text.push_str(&shown(name));
            }
        };
        if root > FIRST_ROOT
            && let Some(root) = self.root(root)
        {
            push(&root.path);
        }
        push(path);
        if text.is_empty() {
            text.push_str(if root == FIRST_ROOT { "." } else { "/" });
        }
        LogicalPath::new(text)
    }
}

impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.roots.iter().map(|root| &root.path)).finish()
    }
}

impl Root {
    fn open(given: &Path) -> Result<Self, WorkspaceError> {
        let path = std::fs::canonicalize(given).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => WorkspaceError::RootMissing { path: given.to_owned() },
            io::ErrorKind::NotADirectory => {
                WorkspaceError::RootNotADirectory { path: given.to_owned() }
            }
            _ => WorkspaceError::Root { path: given.to_owned(), source },
        })?;
        let failed = |error| match error {
            Errno::NOTDIR => WorkspaceError::RootNotADirectory { path: given.to_owned() },
            error => WorkspaceError::Root { path: given.to_owned(), source: error.into() },
        };
        let dir = Dir::open_absolute(&path).map_err(failed)?;
        let id = dir.metadata().map_err(failed)?.id;
        if dir.is_of_processes() {
            return Err(WorkspaceError::RootOfProcesses { path: given.to_owned() });
        }
        let beneath = Beneath::probe(&dir);
        let around = path
            .ancestors()
            .skip(1)
            .filter_map(|above| std::fs::symlink_metadata(above).ok())
            .map(|it| FileId { device: it.dev(), inode: it.ino() })
            .collect();
        Ok(Self { dir: Arc::new(dir), id, path, around, beneath })
    }
}
