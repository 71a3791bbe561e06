//! The workspace as the body of a call sees it.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use haft_protocol::LogicalPath;

use crate::error::PathError;
use crate::file::{FileKind, Metadata, OpenFile};
use crate::resolve::Naming;
use crate::resolved::Resolved;
use crate::skipped::{Hidden, HiddenCount};
use crate::twins::Twins;
use crate::workspace::{Root, Want, Workspace};

/// Tells whether the rules of a call let it see a path.
pub type PathFilter = Arc<dyn Fn(&LogicalPath) -> bool + Send + Sync>;

/// The workspace as the body of a call sees it: what is protected and what a rule hides is not there, and is counted.
///
/// All methods block; call them on a thread that may. A clone counts together with its original.
#[derive(Clone)]
pub struct View {
    workspace: Workspace,
    filter: Option<PathFilter>,
    hidden: Arc<HiddenCount>,
}

impl View {
    /// Makes a view through a filter.
    ///
    /// The filter is asked about every path that would be shown, opened or entered. A directory that it hides is not
    /// entered, so what it says of a directory must hold for all that is in it.
    pub fn new(workspace: Workspace, filter: PathFilter) -> Self {
        Self::counting(workspace, Some(filter), Arc::default())
    }

    /// Makes a view that only the protection list narrows.
    pub fn unfiltered(workspace: Workspace) -> Self {
        Self::counting(workspace, None, Arc::default())
    }

    /// Makes a view that counts together with others.
    pub(crate) fn counting(
        workspace: Workspace,
        filter: Option<PathFilter>,
        hidden: Arc<HiddenCount>,
    ) -> Self {
        Self { workspace, filter, hidden }
    }

    /// Returns the roots beside the first one as they are shown, those that a rule hides left out.
    pub fn further_roots(&self) -> Vec<LogicalPath> {
        self.workspace.roots().skip(1).filter(|root| self.lets_see(root)).collect()
    }

    /// Returns what was hidden so far.
    pub fn hidden(&self) -> Hidden {
        self.hidden.get()
    }

    /// Looks at a place, without opening what is there.
    ///
    /// # Errors
    ///
    /// Fails when a rule hides the place, when nothing is there and when the system refuses.
    pub fn look(&self, place: &Resolved) -> Result<Metadata, PathError> {
        self.admit(place)?;
        place.look()
    }

    /// Says that nothing is at a place, and which names near it this view shows; `None` where something is there now.
    pub fn missing(&self, place: &Resolved) -> Option<PathError> {
        let sees = |path: &LogicalPath| self.lets_see(path);
        let naming = Naming::Seen(&sees);
        self.workspace.again(place, Want::Existing, naming).err()
    }

    /// Opens a regular file. Nothing else is ever opened, so this does not wait for a pipe or touch a device.
    ///
    /// # Errors
    ///
    /// Fails when a rule hides the place, when nothing is there or something other than a regular file, when the file
    /// has a protected name as well, and when the system refuses.
    pub fn open(&self, place: &Resolved) -> Result<OpenFile, PathError> {
        self.admit(place)?;
        let path = || place.logical().to_string();
        let failed = |error| PathError::of_system(path(), error);
        let before = place.look()?;
        let Some(leaf) = place.leaf().filter(|_| before.kind == FileKind::File) else {
            return Err(PathError::NotAFile { path: path(), kind: before.kind });
        };
        let (file, metadata) = place.directory.open_file(leaf).map_err(failed)?;
        if metadata.kind != FileKind::File {
            return Err(PathError::Changed { path: path() });
        }
        self.check_twins(&metadata, place)?;
        Ok(OpenFile::new(file, metadata))
    }

    /// Refuses a file that has a protected name as well.
    pub(crate) fn check_twins(
        &self,
        metadata: &Metadata,
        place: &Resolved,
    ) -> Result<(), PathError> {
        let root = self.root_of(place)?;
        let protection = self.workspace.protection();
        if Twins::default().is_protected(metadata, &place.directory_path, root, protection) {
            self.count(Hidden { protected: 1, by_rule: 0 });
            return Err(PathError::protected_twin(place.logical().to_string()));
        }
        Ok(())
    }

    pub(crate) fn admit(&self, place: &Resolved) -> Result<(), PathError> {
        if self.lets_see(place.logical()) {
            return Ok(());
        }
        self.count(Hidden { protected: 0, by_rule: 1 });
        Err(PathError::HiddenByRule { given: place.logical().to_string() })
    }

    pub(crate) fn lets_see(&self, path: &LogicalPath) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter(path))
    }

    /// Tells whether every path may be seen, so that nobody has to be asked.
    pub(crate) fn has_no_filter(&self) -> bool {
        self.filter.is_none()
    }

    pub(crate) fn count(&self, hidden: Hidden) {
        self.hidden.add(hidden);
    }

    pub(crate) fn root_of(&self, place: &Resolved) -> Result<&Root, PathError> {
        let root = self.workspace.root(place.root);
        root.ok_or_else(|| PathError::Changed { path: place.logical().to_string() })
    }

    pub(crate) fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    pub(crate) fn logical(&self, root: usize, path: &Path) -> LogicalPath {
        self.workspace.logical(root, path)
    }
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View")
            .field("workspace", &self.workspace)
            .field("is_filtered", &self.filter.is_some())
            .field("hidden", &self.hidden())
            .finish_non_exhaustive()
    }
}
