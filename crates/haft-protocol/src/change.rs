//! What a call changed.

use serde::{Deserialize, Serialize};

use crate::{Digest, LogicalPath};

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
    /// The content before, where there was any and it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<ContentRef>,
    /// The content after, where there is any and it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<ContentRef>,
}
