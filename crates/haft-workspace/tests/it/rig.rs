//! A folder with a workspace in it, and a place outside with a secret.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::ops::ControlFlow;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use haft_workspace::{
    FileKind, Found, ListOptions, Listing, PathError, Protection, Resolved, View, WalkOptions,
    WalkReport, Want, Workspace, WorkspaceConfig,
};

/// What stands in every file outside the workspace.
pub(crate) const CANARY: &str = "canary: this stands outside";

/// A temporary folder with `ws`, the workspace, and `out`, which is outside.
pub(crate) struct Rig {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) workspace: Workspace,
}

impl Rig {
    pub(crate) fn new() -> Self {
        Self::with(Protection::standard())
    }

    /// Makes one where flushing to the disk takes no time, if there is such a place.
    pub(crate) fn in_memory() -> Self {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        Self::within(folder.unwrap(), Protection::standard())
    }

    pub(crate) fn with(protection: Protection) -> Self {
        Self::within(tempfile::tempdir().unwrap(), protection)
    }

    /// Makes one in which haft lives in a directory of the workspace.
    pub(crate) fn with_own_directory(path: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("ws").join(path);
        Self::within(folder, Protection::standard().keeping_out_of(own, "haft's rules are there"))
    }

    fn within(folder: tempfile::TempDir, protection: Protection) -> Self {
        fs::create_dir(folder.path().join("ws")).unwrap();
        fs::create_dir_all(folder.path().join("out/deep")).unwrap();
        fs::write(folder.path().join("out/secret.txt"), CANARY).unwrap();
        fs::write(folder.path().join("out/deep/secret.txt"), CANARY).unwrap();
        let roots = vec![folder.path().join("ws")];
        let workspace = Workspace::open(WorkspaceConfig { roots, protection }).unwrap();
        Self { folder, workspace }
    }

    pub(crate) fn ws(&self, path: &str) -> PathBuf {
        self.folder.path().join("ws").join(path)
    }

    pub(crate) fn out(&self, path: &str) -> PathBuf {
        self.folder.path().join("out").join(path)
    }

    /// Writes a file, with the directories above it.
    pub(crate) fn file(&self, path: &str, text: &str) -> &Self {
        let path = self.ws(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub(crate) fn dir(&self, path: &str) -> &Self {
        fs::create_dir_all(self.ws(path)).unwrap();
        self
    }

    pub(crate) fn link(&self, path: &str, target: impl AsRef<Path>) -> &Self {
        symlink(target, self.ws(path)).unwrap();
        self
    }

    pub(crate) fn view(&self) -> View {
        View::unfiltered(self.workspace.clone())
    }

    pub(crate) fn existing(&self, path: &str) -> Result<Resolved, PathError> {
        self.workspace.resolve(path, Want::Existing)
    }

    pub(crate) fn any(&self, path: &str) -> Result<Resolved, PathError> {
        self.workspace.resolve(path, Want::Any)
    }

    /// Resolves, opens and reads.
    pub(crate) fn read(&self, path: &str) -> Result<String, PathError> {
        let mut file = self.view().open(&self.existing(path)?)?;
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        Ok(text)
    }

    /// Says in a word how reading went.
    pub(crate) fn verdict(&self, path: &str) -> String {
        match self.read(path) {
            Ok(text) => format!("read `{text}`"),
            Err(error) => error.to_string(),
        }
    }

    pub(crate) fn list(&self, path: &str, options: &ListOptions) -> Listing {
        self.view().list(&self.existing(path).unwrap(), options, &|| false, |_| true).unwrap()
    }

    /// The relative paths that a walk meets, sorted.
    pub(crate) fn walk(&self, path: &str, options: &WalkOptions) -> (Vec<String>, WalkReport) {
        walk(&self.view(), &self.existing(path).unwrap(), options)
    }
}

pub(crate) fn walk(
    view: &View,
    place: &Resolved,
    options: &WalkOptions,
) -> (Vec<String>, WalkReport) {
    let met = Mutex::new(BTreeSet::new());
    let report = view
        .walk(place, options, &|| false, || {
            |found: &Found<'_>| {
                let slash = if found.kind() == FileKind::Directory { "/" } else { "" };
                let relative = found.relative().to_string_lossy();
                assert!(met.lock().unwrap().insert(format!("{relative}{slash}")), "met twice");
                ControlFlow::Continue(())
            }
        })
        .unwrap();
    (met.into_inner().unwrap().into_iter().collect(), report)
}

/// Walks and reads whatever can be read; returns all texts with their paths, sorted.
pub(crate) fn contents(
    view: &View,
    place: &Resolved,
    options: &WalkOptions,
) -> (Vec<String>, WalkReport) {
    let texts = Mutex::new(Vec::new());
    let report = view
        .walk(place, options, &|| false, || {
            |found: &Found<'_>| {
                if let Ok(mut file) = found.open() {
                    let mut bytes = Vec::new();
                    file.read_to_end(&mut bytes).unwrap();
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    texts.lock().unwrap().push(format!("{}: {text}", found.path()));
                }
                ControlFlow::Continue(())
            }
        })
        .unwrap();
    let mut texts = texts.into_inner().unwrap();
    texts.sort();
    (texts, report)
}
