//! A path that was followed to its place.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use haft_protocol::{Control, Denial, LogicalPath, Notice, NoticeKind};
use rustix::io::Errno;

use crate::error::PathError;
use crate::file::{FileId, FileKind, Metadata};
use crate::sys::Dir;

/// A place in the workspace: a directory that is held open, and a name in it.
///
/// What is done to a place goes through the held directory, so it does not matter what its path comes to mean. Nothing
/// may be there yet; then the directory is the deepest one that exists.
#[derive(Clone)]
pub struct Resolved {
    pub(crate) root: usize,
    pub(crate) directory: Arc<Dir>,
    /// The directory's path from its root.
    pub(crate) directory_path: PathBuf,
    /// The directory, then those above it, the root last.
    pub(crate) above: Arc<[FileId]>,
    pub(crate) missing: Vec<OsString>,
    pub(crate) leaf: Option<OsString>,
    pub(crate) metadata: Option<Metadata>,
    pub(crate) logical: LogicalPath,
    pub(crate) given: String,
    pub(crate) folded: Option<String>,
    /// The link that the path names, where its last name is one.
    pub(crate) link: Option<Arc<Resolved>>,
    /// Whether a link in the path's last name is the place itself, and was not followed.
    pub(crate) keeps_link: bool,
}

impl Resolved {
    /// Returns the path as the caller wrote it.
    pub fn given(&self) -> &str {
        &self.given
    }

    /// Returns the path of the place itself, after links.
    pub fn logical(&self) -> &LogicalPath {
        &self.logical
    }

    /// Returns the kind of what was there, if anything was.
    pub fn kind(&self) -> Option<FileKind> {
        self.metadata.map(|metadata| metadata.kind)
    }

    /// Returns the name in the held directory, or of what will be there; `None` for a root itself.
    pub fn leaf(&self) -> Option<&OsStr> {
        self.leaf.as_deref()
    }

    /// Returns the names of directories between the held one and the place that do not exist.
    pub fn missing(&self) -> &[OsString] {
        &self.missing
    }

    /// Returns the identity of the held directory, then of those above it; the root's comes last.
    ///
    /// For a root itself the held directory is the root.
    pub fn above(&self) -> &[FileId] {
        &self.above
    }

    /// Returns the identity of what was there, if anything was.
    pub fn id(&self) -> Option<FileId> {
        self.metadata.map(|metadata| metadata.id)
    }

    /// Returns the place of the link that the path names, where its last name is one. The place itself is where the link
    /// leads.
    pub fn link(&self) -> Option<&Resolved> {
        self.link.as_deref()
    }

    /// Returns the names really used, spelled out, where the path as given leads nowhere and only one place differs
    /// from it in nothing but spaces and accents.
    pub fn folded(&self) -> Option<&str> {
        self.folded.as_deref()
    }

    /// Returns what a reader of the result should know about how the path was understood.
    pub fn notice(&self) -> Option<Notice> {
        let folded = self.folded.as_ref()?;
        let given = haft_text::visible_line(&self.given);
        Some(Notice::new(
            NoticeKind::Substituted,
            format!(
                "`{given}` does not exist; used `{folded}`, the one name that differs only in spaces or accents"
            ),
        ))
    }

    /// Returns the path from the root.
    pub(crate) fn path(&self) -> PathBuf {
        let mut path = self.directory_path.clone();
        path.extend(self.missing.iter().chain(&self.leaf));
        path
    }

    /// Looks at what stands there now.
    pub(crate) fn look(&self) -> Result<Metadata, PathError> {
        let failed = |error| PathError::of_system(self.logical.as_str(), error);
        match self.leaf() {
            Some(_) if !self.missing.is_empty() => Err(failed(Errno::NOENT)),
            Some(leaf) => self.directory.look(leaf).map_err(failed),
            None => self.directory.metadata().map_err(failed),
        }
    }

    /// Tells when what stands there was made, where the system remembers.
    pub(crate) fn born(&self) -> Option<SystemTime> {
        self.directory.born(self.leaf().filter(|_| self.missing.is_empty())?)
    }

    /// Returns what tells two results for one path apart.
    pub(crate) fn difference(&self, now: &Self) -> Option<&'static str> {
        if self.logical != now.logical || self.above != now.above || self.missing != now.missing {
            return Some("it leads to another place now");
        }
        match (self.link(), now.link()) {
            (None, None) => {}
            (Some(link), Some(now)) if link.difference(now).is_none() => {}
            _ => return Some("it leads to another place now"),
        }
        let what = |it: &Self| it.metadata.map(|metadata| (metadata.id, metadata.kind));
        match (what(self), what(now)) {
            (before, after) if before == after => None,
            // A file that was replaced as a whole: the place is the same, and a body opens what stands there.
            (Some((_, FileKind::File)), Some((_, FileKind::File))) => None,
            (None, _) => Some("something stands there now"),
            (_, None) => Some("nothing stands there any more"),
            _ => Some("something else stands there now"),
        }
    }
}

impl fmt::Debug for Resolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resolved")
            .field("given", &self.given)
            .field("logical", &self.logical.as_str())
            .field("kind", &self.kind())
            .field("missing", &self.missing)
            .finish_non_exhaustive()
    }
}

/// A place that is not what it was when its path was followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` changed since the call was checked: {problem}")]
pub struct Stale {
    /// The place.
    pub path: LogicalPath,
    /// What is different.
    pub problem: String,
}

impl From<Stale> for Denial {
    fn from(stale: Stale) -> Self {
        Denial::new(Control::Stale, stale.to_string()).hint("look at it and call again")
    }
}
