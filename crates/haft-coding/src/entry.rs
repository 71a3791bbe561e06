//! Entries of directories, as results show them.

use std::time::SystemTime;

use haft_workspace::{FileKind, LinkTarget};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::{row, size};

/// One entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Entry {
    /// The path.
    pub path: String,
    /// What it is.
    pub kind: EntryKind,
    /// Bytes of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// When the content last changed, in UTC, as RFC 3339 writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified: Option<String>,
    /// Where a link leads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
}

/// What an entry of a directory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Dir,
    /// A symbolic link.
    Link,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A character or block device.
    Device,
    /// Anything else.
    Other,
}

/// Where a link leads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// To this path.
    Path(String),
    /// To nothing, or in a circle.
    Nowhere,
    /// Out of the workspace, or to something that is kept from sight.
    OutOfReach,
}

/// What is said of an entry beside its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Beside {
    pub(crate) size: bool,
    pub(crate) modified: bool,
}

impl From<FileKind> for EntryKind {
    fn from(kind: FileKind) -> Self {
        match kind {
            FileKind::File => Self::File,
            FileKind::Directory => Self::Dir,
            FileKind::Link => Self::Link,
            FileKind::Fifo => Self::Fifo,
            FileKind::Socket => Self::Socket,
            FileKind::CharacterDevice | FileKind::BlockDevice => Self::Device,
            FileKind::Other => Self::Other,
        }
    }
}

impl From<haft_workspace::Entry> for Entry {
    fn from(entry: haft_workspace::Entry) -> Self {
        Self {
            path: entry.path.to_string(),
            kind: entry.kind.into(),
            bytes: entry.len,
            modified: entry.modified.and_then(written),
            target: entry.target.map(|target| match target {
                LinkTarget::Place { path, .. } => Target::Path(path.to_string()),
                LinkTarget::Nowhere => Target::Nowhere,
                LinkTarget::OutOfReach => Target::OutOfReach,
            }),
        }
    }
}

impl Entry {
    /// Writes the entry as a line of a listing.
    pub(crate) fn line(&self, beside: Beside) -> String {
        let mut line = row(&self.path).into_owned();
        match (&self.kind, &self.target) {
            (EntryKind::Dir, _) => line.push('/'),
            (EntryKind::Link, None) => line.push('@'),
            (EntryKind::Link, Some(target)) => {
                line.push_str("@ -> ");
                line.push_str(match target {
                    Target::Path(path) => path,
                    Target::Nowhere => "(nowhere)",
                    Target::OutOfReach => "(out of reach)",
                });
            }
            (EntryKind::Fifo, _) => line.push_str("  (FIFO)"),
            (EntryKind::Socket, _) => line.push_str("  (socket)"),
            (EntryKind::Device, _) => line.push_str("  (device)"),
            (EntryKind::Other, _) => line.push_str("  (of an unknown kind)"),
            (EntryKind::File, _) => {}
        }
        if let (true, Some(bytes)) = (beside.size, self.bytes) {
            line.push_str("  ");
            line.push_str(&size(bytes));
        }
        if let (true, Some(modified)) = (beside.modified, &self.modified) {
            line.push_str("  ");
            line.push_str(modified);
        }
        line
    }
}

/// Writes a time to the second. A time that no calendar of four digits holds is left out.
fn written(time: SystemTime) -> Option<String> {
    let time = Timestamp::try_from(time).ok()?;
    Timestamp::from_second(time.as_second()).ok().map(|time| time.to_string())
}
