//! Handles on directories, for those who work in them by themselves.

use std::os::fd::{AsFd as _, OwnedFd};

use crate::error::PathError;
use crate::file::FileKind;
use crate::resolved::Resolved;
use crate::view::View;

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
}
