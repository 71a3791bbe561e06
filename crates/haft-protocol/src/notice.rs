//! Short messages from the runtime beside a result.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a notice is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NoticeKind {
    /// Arguments were repaired before they were checked.
    Repaired,
    /// Something was passed over: unreadable, of the wrong kind, ignored.
    Skipped,
    /// Something was hidden by the protection list or a rule.
    Hidden,
    /// Something other than what was asked for was used, and this says what.
    Substituted,
    /// The outcome could not be recorded.
    Unrecorded,
    /// Work goes on after its outcome was reported.
    Detached,
    /// A guarantee was weaker than it could be.
    Degraded,
    /// A hook, observer or source has something to say.
    Remark,
}

/// A short message from the runtime, kept apart from the data it accompanies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// What it is about.
    pub kind: NoticeKind,
    /// One or two sentences for the reader of the result.
    pub text: String,
}

impl Notice {
    /// Makes a notice.
    pub fn new(kind: NoticeKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
