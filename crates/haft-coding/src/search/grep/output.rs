//! The data of a search in files.

use schemars::JsonSchema;
use serde::Serialize;

/// Lines that match.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MatchesOutput {
    /// The matches that come first, by path and line.
    pub matches: Vec<Match>,
    /// How many matches there are.
    pub total: u64,
    /// Whether there are no more than that.
    pub is_total_exact: bool,
    /// How many files were searched.
    pub files_searched: u64,
    /// What was passed over.
    pub skipped: SkippedOutput,
}

/// One line that matches, or the lines that one match goes over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Match {
    /// The path of the file.
    pub path: String,
    /// The number of the first line.
    pub line: u64,
    /// The first byte of the match in that line, from 1.
    pub column: u64,
    /// The text, without the last line end.
    pub text: String,
    /// Whether the text is only a part of the line or lines.
    pub is_cut: bool,
    /// Lines before, as far as they do not stand with an earlier match.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// Lines after, up to the next match.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
}

/// Files with a match.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FilesOutput {
    /// The paths that come first.
    pub files: Vec<String>,
    /// How many files have a match.
    pub total: u64,
    /// Whether there are no more than that.
    pub is_total_exact: bool,
    /// How many files were searched.
    pub files_searched: u64,
    /// What was passed over.
    pub skipped: SkippedOutput,
}

/// Files with a match, and how many each has.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CountsOutput {
    /// The files that come first by path.
    pub counts: Vec<FileCount>,
    /// How many files have a match.
    pub total: u64,
    /// How many matches they have together.
    pub total_matches: u64,
    /// Whether there are no more than that.
    pub is_total_exact: bool,
    /// How many files were searched.
    pub files_searched: u64,
    /// What was passed over.
    pub skipped: SkippedOutput,
}

/// How many matches a file has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileCount {
    /// The path of the file.
    pub path: String,
    /// Lines that match.
    pub count: u64,
}

/// What a search passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct SkippedOutput {
    /// Files that are not text.
    pub binary: u64,
    /// Files not searched to their end, because a line or the file is too long.
    pub too_large: u64,
    /// Pipes, sockets and devices.
    pub not_regular: u64,
    /// What the system did not let be read.
    pub unreadable: u64,
    /// Files left out by ignore rules.
    pub ignored_files: u64,
    /// Directories left out by ignore rules.
    pub ignored_directories: u64,
    /// Names that begin with a dot, where those were not asked for.
    pub dotted: u64,
    /// What the protection list keeps from sight.
    pub protected: u64,
    /// What a rule keeps from sight.
    pub hidden_by_rule: u64,
}
