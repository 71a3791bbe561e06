//! Where a rule or setting comes from.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::escaped;

/// A layer of configuration; a later one is closer to the person at the keyboard and wins over the ones before.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// Built in.
    #[default]
    Default,
    /// A file of the user.
    User,
    /// A file of the project, which whoever wrote the project may have written.
    Project,
    /// A variable of the environment.
    Environment,
    /// A flag of the command, or the program that uses the library.
    Flag,
}

impl Layer {
    /// Returns the name used in serde forms.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::User => "user",
            Self::Project => "project",
            Self::Environment => "environment",
            Self::Flag => "flag",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Where a rule or setting comes from: its layer, and the place in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// The layer.
    pub layer: Layer,
    /// Whether a person has taken responsibility for it: what is not trusted may only narrow.
    pub trusted: bool,
    /// The file, as a person would name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line in that file, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What stands there, such as `--preset` or the line of a file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

impl Origin {
    /// Makes an origin without a place. A project is not trusted until [`Origin::trusted`] says so.
    pub fn new(layer: Layer) -> Self {
        let trusted = layer != Layer::Project;
        Self { layer, trusted, file: None, line: None, text: String::new() }
    }

    /// Names the file and line.
    pub fn at(mut self, file: impl Into<String>, line: u32) -> Self {
        self.file = Some(file.into());
        self.line = Some(line);
        self
    }

    /// Quotes what stands there.
    pub fn quoting(mut self, text: impl Into<String>) -> Self {
        self.text = text.into();
        self
    }

    /// Records that a person has taken responsibility for it.
    pub fn trusted(mut self) -> Self {
        self.trusted = true;
        self
    }
}

impl Default for Origin {
    fn default() -> Self {
        Self::new(Layer::Default)
    }
}

/// Writes the place on one line: `config.toml:4`, `--preset`, or the layer's name where there is nothing closer.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{}:{line}", escaped(file.chars())),
            (Some(file), None) => f.write_str(&escaped(file.chars())),
            (None, _) if self.text.is_empty() => f.write_str(self.layer.as_str()),
            (None, _) => f.write_str(&escaped(self.text.chars())),
        }
    }
}
