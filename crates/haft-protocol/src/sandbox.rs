//! How far a program is confined.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How far a program is confined. Each level holds everything that the one before it does.
///
/// What each level stops, and the test that shows it, is in `docs/security.md`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub enum SandboxLevel {
    /// A plain child: only the command itself is stopped.
    #[serde(rename = "none")]
    None,
    /// What the command started is stopped with it.
    #[serde(rename = "group")]
    Group,
    /// Also, files are read only in system directories and the given ones, and written only beneath the given ones.
    #[serde(rename = "files")]
    Files,
    /// Also, there is no network, and what could lead around a filter is refused.
    #[default]
    #[serde(rename = "files+net")]
    FilesNet,
}

impl SandboxLevel {
    /// Every level, from the weakest on.
    pub const ALL: [Self; 4] = [Self::None, Self::Group, Self::Files, Self::FilesNet];

    /// Returns the name used in settings and serde forms.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Group => "group",
            Self::Files => "files",
            Self::FilesNet => "files+net",
        }
    }
}

impl fmt::Display for SandboxLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A text that names no level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is no sandbox level: use `none`, `group`, `files` or `files+net`")]
pub struct SandboxLevelError {
    /// The text.
    pub given: String,
}

impl FromStr for SandboxLevel {
    type Err = SandboxLevelError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let level = Self::ALL.into_iter().find(|level| level.as_str() == text);
        level.ok_or_else(|| SandboxLevelError { given: text.to_owned() })
    }
}
