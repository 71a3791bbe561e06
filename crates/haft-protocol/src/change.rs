//! What a call changed.

use serde::{Deserialize, Serialize};

use crate::{CallId, Digest, LogicalPath, RunId, Timestamp};

/// The kind of one change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ChangeKind {
    /// Something came to be.
    Created,
    /// Content or mode changed.
    Modified,
    /// Something went.
    Deleted,
    /// Something moved here.
    Moved {
        /// From where.
        from: LogicalPath,
    },
}

/// How a change is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// The tool made the change and recorded both sides.
    Recorded,
    /// A scan before and after showed it.
    Observed,
}

/// Content by digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentRef {
    /// The digest of the bytes.
    pub digest: Digest,
    /// How many bytes there are.
    pub bytes: u64,
    /// Whether the bytes are stored, so that they can be brought back.
    pub stored: bool,
}

/// What stands, or stood, at a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum FileState {
    /// A regular file.
    File {
        /// Its content; left out where nobody looked at it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<ContentRef>,
        /// Its permission bits, as in `0o755`.
        mode: u32,
    },
    /// A directory.
    Directory {
        /// Its permission bits.
        mode: u32,
    },
    /// A symbolic link.
    Link {
        /// Where it points, as text; bytes that are no text are replaced.
        target: String,
    },
    /// Something that is none of these: a socket, a pipe, a device.
    Other,
}

impl FileState {
    /// Returns the content of a file, where it is known.
    pub const fn content(&self) -> Option<&ContentRef> {
        match self {
            Self::File { content, .. } => content.as_ref(),
            Self::Directory { .. } | Self::Link { .. } | Self::Other => None,
        }
    }
}

/// One delta by one call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Where.
    pub path: LogicalPath,
    /// What happened.
    #[serde(flatten)]
    pub kind: ChangeKind,
    /// How it is known.
    pub evidence: Evidence,
    /// What stood there before; nothing where it was created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<FileState>,
    /// What stands there after; nothing where it was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<FileState>,
    /// Why what stood there before cannot be brought back, where it cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_restorable: Option<String>,
}

/// A change on record: announced before it happens, settled after.
///
/// What was announced and never settled was cut short; what stands at the place tells whether it happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectRecord {
    /// The call.
    pub call: CallId,
    /// Which change of the call this is, from 0.
    pub number: u32,
    /// The real path of the root that the change lies in.
    pub root: String,
    /// The change.
    pub change: Change,
    /// Names of temporary files beside the place that may be left where the change was cut short.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leftovers: Vec<String>,
    /// When the directory that this takes away or makes again was made, as the file system has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub born: Option<Timestamp>,
    /// When the directory was made that this one is made again in place of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stands_for: Option<Timestamp>,
    /// When it was announced.
    pub at: Timestamp,
    /// How it ended.
    pub state: EffectState,
}

/// A call that changed files, as the record has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedCall {
    /// The call.
    pub call: CallId,
    /// The tool; nothing where the call is no longer on record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The run it belongs to, where the call is on record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// When it made its latest change.
    pub at: Timestamp,
    /// Whether a later call took its changes back.
    pub undone: bool,
    /// The call whose changes this one took back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<CallId>,
}

/// Calls that changed files, the latest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangedCalls {
    /// The calls.
    pub calls: Vec<ChangedCall>,
    /// How many earlier ones there are beside.
    pub earlier: u64,
}

/// How a change on record ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectState {
    /// Nobody has said yet.
    Announced,
    /// It happened.
    Done,
    /// It did not happen.
    NotDone,
}
