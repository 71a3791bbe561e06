//! How things stand in a workspace, for a plan.

use std::collections::HashSet;
use std::io::Read as _;
use std::sync::Arc;

use haft_protocol::{ContentRef, Digest, FileState, Timestamp, limits};
use rustix::io::Errno;

use super::Disk;
use crate::file::{FileKind, Metadata};
use crate::name::shown;
use crate::resolved::Resolved;
use crate::workspace::Want;
use crate::writer::Writer;
use crate::writer::deed::root_path;
use crate::writer::standing::digest_of;

/// The workspace as one call sees it, with the paths that the call named, where it has to name them.
pub(super) struct Standing<'w> {
    writer: &'w Writer,
    named: Option<HashSet<&'w str>>,
}

impl<'w> Standing<'w> {
    pub(super) fn of(writer: &'w Writer, places: &'w [Arc<Resolved>]) -> Self {
        Self { writer, named: Some(places.iter().map(|place| place.given()).collect()) }
    }

    pub(super) fn everywhere(writer: &'w Writer) -> Self {
        Self { writer, named: None }
    }

    fn resolve(&self, path: &str) -> Result<Resolved, String> {
        let workspace = self.writer.view().workspace();
        let place = workspace.resolve_itself(path, Want::Any).map_err(|error| error.to_string())?;
        self.writer.view().admit(&place).map_err(|error| error.to_string())?;
        Ok(place)
    }
}

impl Disk for Standing<'_> {
    fn state(&self, path: &str) -> Result<Option<FileState>, String> {
        state_of(&self.resolve(path)?)
    }

    fn content(&self, path: &str) -> Result<Vec<u8>, String> {
        let place = self.resolve(path)?;
        let file = self.writer.view().open(&place).map_err(|error| error.to_string())?;
        let mut bytes = Vec::new();
        file.take(limits::ARTIFACT_BYTES)
            .read_to_end(&mut bytes)
            .map_err(|error| error.to_string())?;
        Ok(bytes)
    }

    fn names(&self, path: &str) -> Result<Vec<String>, String> {
        let place = self.resolve(path)?;
        let leaf = place.leaf().ok_or("it is a root of the workspace")?;
        let mut names = Vec::new();
        let read = |error: Errno| std::io::Error::from(error).to_string();
        let dir = place.directory.child(leaf).and_then(|dir| dir.readable()).map_err(read)?;
        dir.names(&mut Vec::new(), |name, _| {
            names.push(shown(name).into_owned());
            names.len() < limits::NEIGHBOURS
        })
        .map_err(read)?;
        Ok(names)
    }

    fn kept(&self, digest: Digest) -> Option<Arc<[u8]>> {
        match self.writer.account.effects.fetch(digest) {
            Ok(content) => content,
            Err(error) => {
                tracing::error!(%error, source = ?error.source, "kept content cannot be read");
                None
            }
        }
    }

    fn is_younger(&self, path: &str, than: Timestamp) -> bool {
        let Ok(place) = self.resolve(path) else { return false };
        let Some(mut born) = place.leaf().and_then(|leaf| place.directory.born_at(leaf)) else {
            return false;
        };
        let workspace = self.writer.view().workspace();
        let root = root_path(workspace, place.root).to_string_lossy();
        // One that was made again is as old as the one it stands for, which may have been made again itself.
        for _ in 0..limits::MADE_AGAIN {
            if born.unix_ms() <= than.unix_ms() + 1 {
                return false;
            }
            match self.writer.account.effects.made_again(&root, born) {
                Ok(Some(older)) if older < born => born = older,
                Ok(_) => return true,
                Err(error) => {
                    tracing::error!(%error, source = ?error.source, "the record cannot be read");
                    return true;
                }
            }
        }
        true
    }

    fn may_change(&self, path: &str) -> Result<(), String> {
        if self.named.as_ref().is_some_and(|named| !named.contains(path)) {
            return Err("it was not named among the paths to be taken back".to_owned());
        }
        let writable = self.writer.view().workspace().resolve_to_take_back(path);
        writable.map(drop).map_err(|error| error.to_string())
    }
}

/// Returns what stands at a place, with the digest of what a file holds.
pub(crate) fn state_of(place: &Resolved) -> Result<Option<FileState>, String> {
    let told = |error: Errno| std::io::Error::from(error).to_string();
    let Some(leaf) = place.leaf() else {
        return Ok(Some(FileState::Directory { mode: 0 }));
    };
    if !place.missing().is_empty() {
        return Ok(None);
    }
    let found = match place.directory.look(leaf) {
        Err(Errno::NOENT) => return Ok(None),
        found => found.map_err(told)?,
    };
    Ok(Some(match found.kind {
        FileKind::File => {
            let (file, metadata) = place.directory.open_file(leaf).map_err(told)?;
            if metadata.kind != FileKind::File {
                return Ok(Some(FileState::Other));
            }
            file_state(file, &metadata).map_err(|error| error.to_string())?
        }
        FileKind::Directory => FileState::Directory { mode: found.mode },
        FileKind::Link => {
            let target = place.directory.read_link(leaf).map_err(told)?;
            let text = target.to_str().map(ToOwned::to_owned);
            FileState::Link { target: text.unwrap_or_else(|| shown(&target).into_owned()) }
        }
        _ => FileState::Other,
    }))
}

fn file_state(file: std::fs::File, metadata: &Metadata) -> std::io::Result<FileState> {
    let (digest, bytes) = digest_of(file)?;
    let content = ContentRef { digest, bytes, stored: false };
    Ok(FileState::File { content: Some(content), mode: metadata.mode })
}
