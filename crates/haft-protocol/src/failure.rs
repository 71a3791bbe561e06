//! Why a call did not do what it was asked to.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The closed list of reasons a tool fails for.
///
/// A denial, a cancellation and a timeout are not failures: they have their own [`Status`](crate::Status).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The arguments are not what the tool's contract asks for.
    InvalidArguments,
    /// The tool, file or thing does not exist.
    NotFound,
    /// The thing is not in the state the call assumed.
    Conflict,
    /// The thing exists and is of a kind the tool cannot work on.
    Unsupported,
    /// The operating system refused.
    PermissionDenied,
    /// A bound was reached before there was anything to show.
    LimitExceeded,
    /// Something needed is missing or busy; the same call may work later.
    Unavailable,
    /// A program, server or peer that did the work failed.
    Upstream,
    /// The tool's output does not conform to its contract.
    OutputInvalid,
    /// A fault of haft or of the tool's code.
    Internal,
}

impl ErrorKind {
    /// Returns the name used in serde forms, exit codes and rules.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArguments => "invalid_arguments",
            Self::NotFound => "not_found",
            Self::Conflict => "conflict",
            Self::Unsupported => "unsupported",
            Self::PermissionDenied => "permission_denied",
            Self::LimitExceeded => "limit_exceeded",
            Self::Unavailable => "unavailable",
            Self::Upstream => "upstream",
            Self::OutputInvalid => "output_invalid",
            Self::Internal => "internal",
        }
    }

    /// Tells whether the same call may work a moment later without a change.
    pub const fn is_transient(self) -> bool {
        matches!(self, Self::Unavailable)
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A failure in words a model or a person can act on.
///
/// Only what may be shown is in here. Source chains, backtraces and addresses stay with the operator: a door turns its
/// error into a failure and logs the rest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The kind, from the closed list.
    pub kind: ErrorKind,
    /// What went wrong: the thing, the value, and what would be right.
    pub model_text: String,
    /// Ways out, each an instruction.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
}

impl Failure {
    /// Makes a failure without hints.
    pub fn new(kind: ErrorKind, model_text: impl Into<String>) -> Self {
        Self { kind, model_text: model_text.into(), hints: Vec::new() }
    }

    /// Adds a way out.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.model_text)?;
        self.hints.iter().try_for_each(|hint| write!(f, "\nhint: {hint}"))
    }
}

impl std::error::Error for Failure {}
