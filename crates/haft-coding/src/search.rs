//! The tool that searches in files and for files.

mod find;
mod grep;

use std::num::NonZeroU32;

use haft_protocol::{Capabilities, Failure, limits};
use haft_tool::{Call, DescriptorError, Facts, Shown, Slot, ToolPath, TypedTool, blocking};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::EntryKind;

pub use find::FoundOutput;
pub use grep::{CountsOutput, FileCount, FilesOutput, Match, MatchesOutput, SkippedOutput};

/// The tool `builtin/search`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Search;

/// What to search for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum SearchArgs {
    /// Search in files for lines that match a regular expression.
    Grep(GrepArgs),
    /// Search for files and directories by name, kind, size and age.
    Find(FindArgs),
}

/// Which lines to look for, and where.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrepArgs {
    /// A regular expression in the syntax of Rust's `regex` crate, without backreferences and look-around.
    #[schemars(length(min = 1, max = limits::SEARCH_PATTERN_CHARS))]
    pub pattern: String,
    /// The file or directory to search in.
    #[serde(default = "ToolPath::root")]
    pub path: ToolPath,
    /// Take the pattern as plain text.
    #[serde(default)]
    pub literal: bool,
    /// Which letters count as equal.
    #[serde(default)]
    pub case: Case,
    /// Match whole words only.
    #[serde(default)]
    pub word: bool,
    /// Globs of which one must match a file: its name (`*.rs`), or with a slash its path from `path` on (`src/**`).
    #[serde(default)]
    #[schemars(length(max = limits::SEARCH_GLOBS), inner(length(min = 1, max = limits::SEARCH_GLOB_CHARS)))]
    pub include: Vec<String>,
    /// Globs of files and directories to pass over, written like those of `include`.
    #[serde(default)]
    #[schemars(length(max = limits::SEARCH_GLOBS), inner(length(min = 1, max = limits::SEARCH_GLOB_CHARS)))]
    pub exclude: Vec<String>,
    /// Lines to show before and after each match.
    #[serde(default)]
    #[schemars(range(max = limits::SEARCH_CONTEXT_LINES))]
    pub context: u32,
    /// Lines to show before each match, in place of `context`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = limits::SEARCH_CONTEXT_LINES))]
    pub before: Option<u32>,
    /// Lines to show after each match, in place of `context`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = limits::SEARCH_CONTEXT_LINES))]
    pub after: Option<u32>,
    /// Let a match go over several lines: the pattern may then hold `\n`, and `(?s)` lets `.` match it.
    #[serde(default)]
    pub multiline: bool,
    /// Look at files and directories whose name begins with a dot.
    #[serde(default = "yes")]
    pub hidden: bool,
    /// Also look at what ignore rules such as `.gitignore` leave out.
    #[serde(default)]
    pub include_ignored: bool,
    /// What to answer with.
    #[serde(default)]
    pub output: GrepMode,
    /// Results at most.
    #[serde(default = "crate::scope::results")]
    #[schemars(range(min = 1, max = limits::SEARCH_RESULTS_MAX))]
    pub limit: NonZeroU32,
}

/// Which letters count as equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Case {
    /// Only the same letters.
    #[default]
    Sensitive,
    /// Capitals and small letters too.
    Insensitive,
    /// `insensitive` for a pattern without capitals, else `sensitive`.
    Smart,
}

/// What a search in files answers with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GrepMode {
    /// The lines that match.
    #[default]
    Matches,
    /// The files with a match.
    Files,
    /// The files with a match, and how many each has.
    Count,
}

/// Which files and directories to look for, and where.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindArgs {
    /// A glob for the name (`*.rs`), or with a slash for the path from `path` on (`src/**/*.rs`).
    #[serde(default = "everything")]
    #[schemars(length(min = 1, max = limits::SEARCH_GLOB_CHARS))]
    pub pattern: String,
    /// The file or directory to search in.
    #[serde(default = "ToolPath::root")]
    pub path: ToolPath,
    /// Kinds to find; all where none is given.
    #[serde(default)]
    pub kinds: Vec<EntryKind>,
    /// Only files of at least so many bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_size: Option<u64>,
    /// Only files of at most so many bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_size: Option<u64>,
    /// Only what changed after this: an age (`2h`, `3d`) or a time (`2026-01-31T12:00:00Z`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newer_than: Option<String>,
    /// Only what last changed before this, written like `newer_than`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub older_than: Option<String>,
    /// Look at files and directories whose name begins with a dot.
    #[serde(default = "yes")]
    pub hidden: bool,
    /// Also look at what ignore rules such as `.gitignore` leave out.
    #[serde(default)]
    pub include_ignored: bool,
    /// Which results come first.
    #[serde(default)]
    pub sort: Order,
    /// Results at most.
    #[serde(default = "crate::scope::results")]
    #[schemars(range(min = 1, max = limits::SEARCH_RESULTS_MAX))]
    pub limit: NonZeroU32,
}

/// Which results come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// By path.
    #[default]
    Path,
    /// The largest files.
    Size,
    /// What changed last.
    Modified,
}

fn yes() -> bool {
    true
}

fn everything() -> String {
    "**".to_owned()
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SearchOutput {
    /// Lines that match.
    Matches(MatchesOutput),
    /// Files with a match.
    Files(FilesOutput),
    /// Files with a match, and how many each has.
    Counts(CountsOutput),
    /// Files and directories.
    Found(FoundOutput),
}

impl TypedTool for Search {
    type Args = SearchArgs;
    type Output = Shown<SearchOutput>;

    fn facts(&self) -> Result<Facts, DescriptorError> {
        Ok(Facts {
            title: Some("Search in files and for files".to_owned()),
            capabilities: Capabilities::read_only(),
            slots: vec![Slot::read("path")],
            ..Facts::new("builtin/search".parse()?, include_str!("search.md").trim())
        })
    }

    async fn run(&self, call: Call, args: SearchArgs) -> Result<Self::Output, Failure> {
        blocking(move || match args {
            SearchArgs::Grep(args) => grep::grep(&call, &args),
            SearchArgs::Find(args) => find::find(&call, &args),
        })
        .await
    }
}
