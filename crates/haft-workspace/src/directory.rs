//! Handles on directories, for those who work in them by themselves.

use std::os::fd::{AsFd as _, OwnedFd};
use std::path::PathBuf;

use crate::error::PathError;
use crate::file::FileKind;
use crate::resolve::Naming;
use crate::resolved::Resolved;
use crate::view::View;
use crate::workspace::Want;

impl View {
    /// Opens a directory, for a program to work in it. What happens through the handle is not seen by this view: neither
    /// rules nor the protection list hold for it.
    ///
    /// # Errors
    ///
    /// Fails when a rule hides the place, when nothing is there or something other than a directory, and when the system
    /// refuses.
    pub fn directory(&self, place: &Resolved) -> Result<OwnedFd, PathError> {
        self.admit(place)?;
        let path = || place.logical().to_string();
        let failed = |error| PathError::of_system(path(), error);
        let before = place.look()?;
        if before.kind != FileKind::Directory {
            return Err(PathError::NotADirectory { path: path(), kind: before.kind });
        }
        let opened = match place.leaf() {
            Some(leaf) => place.directory.child(leaf),
            None => place.directory.readable(),
        };
        let directory = opened.map_err(failed)?;
        if directory.metadata().map_err(failed)?.id != before.id {
            return Err(PathError::Changed { path: path() });
        }
        directory
            .as_fd()
            .try_clone_to_owned()
            .map_err(|source| PathError::Io { path: path(), source })
    }

    /// Finds the place of a path that a program printed, absolute or relative to the first root.
    ///
    /// # Errors
    ///
    /// Fails when the path leads out of the workspace, to something protected or to nothing, and when a rule hides the
    /// place, which is counted.
    pub fn printed(&self, path: &str) -> Result<Resolved, PathError> {
        let place = self.workspace().resolve_naming(path, Want::Existing, Naming::Nothing)?;
        self.admit(&place)?;
        Ok(place)
    }

    /// Returns the real absolute paths of the roots, for what a program may read.
    pub fn real_roots(&self) -> Vec<PathBuf> {
        self.workspace().real_roots().map(ToOwned::to_owned).collect()
    }
}
