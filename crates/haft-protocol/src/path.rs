//! Paths as people and models see them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A path as haft shows it: relative to the first root, or absolute inside a further root; `.` is the first root.
///
/// A logical path is a name, never an address: the workspace opens handles, and nothing is opened by this text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LogicalPath(String);

impl LogicalPath {
    /// Makes a logical path of text that the workspace has already normalised.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for LogicalPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
