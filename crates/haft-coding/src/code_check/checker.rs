//! The table of checkers, and what they say.

use haft_syntax::Language;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{cargo, ruff};

/// A program that checks source code.
///
/// This is the whole table: what it checks, how it is started, how it is had, and how what it says is read. Starting it
/// is not done here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Checker {
    /// ruff, for Python. It reads files and runs none of them.
    Ruff,
    /// `cargo check`, for Rust. It builds and runs build scripts and macros of the project.
    CargoCheck,
    /// `cargo clippy`, for Rust, which says more than `cargo check` and runs the same.
    CargoClippy,
}

/// One thing that a checker has to say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Diagnostic {
    /// The path: as the checker says it, or in a result of the tool as the workspace has it. Empty, where it is about no
    /// file.
    pub path: String,
    /// The first line, from 1; nothing, where it is about no place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The first character in that line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// The last line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_line: Option<u64>,
    /// The first character in the last line that no longer belongs to it, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_column: Option<u64>,
    /// How bad it is.
    pub severity: Severity,
    /// The checker's name for the rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What the checker proposes, each on a line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub help: Vec<String>,
    /// Whether the checker can put it right itself.
    pub is_fixable: bool,
}

/// How bad something is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It does not work.
    Error,
    /// It works, and should not be so.
    Warning,
    /// It is good to know.
    Info,
}

/// Output of a checker that is not in its form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("what `{program}` wrote is not in its form, at line {line}: {problem}")]
pub struct UnreadableOutput {
    /// The checker's program.
    pub program: &'static str,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub problem: String,
}

impl Checker {
    /// Every checker.
    pub const ALL: [Self; 3] = [Self::Ruff, Self::CargoCheck, Self::CargoClippy];

    /// Returns the checkers of a language, the one that says the most first.
    pub fn of(language: Language) -> impl Iterator<Item = Self> {
        let all = [Self::Ruff, Self::CargoClippy, Self::CargoCheck];
        all.into_iter().filter(move |checker| checker.languages().contains(&language))
    }

    /// Returns the name used in arguments and results.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ruff => "ruff",
            Self::CargoCheck => "cargo_check",
            Self::CargoClippy => "cargo_clippy",
        }
    }

    /// Returns the languages it checks.
    pub const fn languages(self) -> &'static [Language] {
        match self {
            Self::Ruff => &[Language::Python],
            Self::CargoCheck | Self::CargoClippy => &[Language::Rust],
        }
    }

    /// Returns the program and the arguments that make it write what [`read`](Self::read) reads. Paths follow, for a
    /// checker that [takes them](Self::takes_paths).
    pub const fn command(self) -> &'static [&'static str] {
        match self {
            Self::Ruff => {
                &["ruff", "check", "--output-format=json", "--no-cache", "--no-fix", "--"]
            }
            Self::CargoCheck => {
                &["cargo", "check", "--message-format=json", "--quiet", "--offline"]
            }
            Self::CargoClippy => {
                &["cargo", "clippy", "--message-format=json", "--quiet", "--offline"]
            }
        }
    }

    /// Tells whether it checks paths that it is given, and not a whole project.
    pub const fn takes_paths(self) -> bool {
        matches!(self, Self::Ruff)
    }

    /// Tells whether it runs code of the project, such as build scripts and macros.
    pub const fn runs_project_code(self) -> bool {
        matches!(self, Self::CargoCheck | Self::CargoClippy)
    }

    /// Says how it can be had, as an instruction.
    pub const fn how_to_get(self) -> &'static str {
        match self {
            Self::Ruff => {
                "install ruff, for example with `uv tool install ruff` or `pip install ruff`"
            }
            Self::CargoCheck => "install Rust, for example with `rustup`",
            Self::CargoClippy => "install clippy with `rustup component add clippy`",
        }
    }

    /// Reads what the checker wrote to its standard output, in the order in which it wrote it.
    ///
    /// Having found something is no error, whatever status the checker ends with; output that it does not write is.
    ///
    /// # Errors
    ///
    /// Fails for output that is not in the checker's form.
    pub fn read(self, output: &[u8]) -> Result<Vec<Diagnostic>, UnreadableOutput> {
        match self {
            Self::Ruff => ruff::read(output),
            Self::CargoCheck | Self::CargoClippy => cargo::read(output),
        }
    }
}

impl UnreadableOutput {
    pub(super) fn new(program: &'static str, line: usize, error: &serde_json::Error) -> Self {
        let line = line + error.line().saturating_sub(1);
        let problem = error.to_string();
        // Where in the line is of no use: nobody sees that line.
        let problem = problem.split(" at line ").next().unwrap_or_default().to_owned();
        Self { program, line, problem }
    }
}
