//! The data of what was found in source code.

use haft_syntax::{ReferenceKind, SymbolKind};
use schemars::JsonSchema;
use serde::Serialize;

use crate::sources::SkippedSources;

/// What was found in source code.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CodeNavOutput {
    /// What files define.
    Outline(DefinitionsOutput),
    /// Where a name is defined.
    Definitions(DefinitionsOutput),
    /// Where a name is used.
    References(ReferencesOutput),
}

/// How sure an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// Files were parsed, and names were not resolved.
    Syntactic,
}

/// Definitions.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DefinitionsOutput {
    /// How sure the answer is.
    pub resolution: Resolution,
    /// The definitions that come first, by path and line.
    pub definitions: Vec<DefinitionRow>,
    /// How many there are.
    pub total: u64,
    /// Whether there are no more than that.
    pub is_total_exact: bool,
    /// How many files were looked at.
    pub files_looked_at: u64,
    /// What was passed over.
    pub skipped: SkippedSources,
}

/// One definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DefinitionRow {
    /// The path of the file.
    pub path: String,
    /// The name.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// The names of what it stands in, joined by dots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// The first line, from 1.
    pub line: u64,
    /// The first byte in that line, from 1.
    pub column: u64,
    /// The last line.
    pub last_line: u64,
    /// The first byte in the last line that no longer belongs to it, from 1.
    pub end_column: u64,
    /// The definition up to its body, on one line.
    pub signature: String,
    /// How many definitions it stands in.
    #[serde(skip)]
    pub(super) depth: usize,
}

/// Uses of a name.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReferencesOutput {
    /// How sure the answer is.
    pub resolution: Resolution,
    /// The uses that come first, by path and line.
    pub references: Vec<ReferenceRow>,
    /// How many there are.
    pub total: u64,
    /// Whether there are no more than that.
    pub is_total_exact: bool,
    /// How many files were looked at.
    pub files_looked_at: u64,
    /// What was passed over.
    pub skipped: SkippedSources,
}

/// One use of a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReferenceRow {
    /// The path of the file.
    pub path: String,
    /// How the name is used.
    pub kind: ReferenceKind,
    /// The names of the definitions it stands in, joined by dots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// The line, from 1.
    pub line: u64,
    /// The first byte of the name in that line, from 1.
    pub column: u64,
    /// The first byte after the name, from 1.
    pub end_column: u64,
    /// The line, without blanks at its ends.
    pub text: String,
    /// Whether the text is only a part of the line.
    pub is_cut: bool,
}
