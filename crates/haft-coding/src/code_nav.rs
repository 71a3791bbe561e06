//! The tool that finds its way in source code.

mod answer;
mod output;

use std::num::NonZeroU32;

use haft_protocol::{Capabilities, Failure, limits};
use haft_syntax::{Language, SymbolKind};
use haft_tool::{Call, DescriptorError, Facts, Shown, Slot, ToolPath, TypedTool, blocking};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use output::{
    CodeNavOutput, DefinitionRow, DefinitionsOutput, ReferenceRow, ReferencesOutput, Resolution,
};

/// The tool `builtin/code_nav`.
#[derive(Debug, Clone, Copy, Default)]
pub struct CodeNav;

/// What to find.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum CodeNavArgs {
    /// Show what files define.
    Outline(OutlineArgs),
    /// Find where a name is defined.
    Definition(NameArgs),
    /// Find where a name is used.
    References(NameArgs),
}

/// Which files to outline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutlineArgs {
    /// The file or directory to look at.
    #[serde(default = "ToolPath::root")]
    pub path: ToolPath,
    /// Only files of this language; for a file that is named itself, the language to read it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<Language>,
    /// Kinds of definitions to show; all where none is given.
    #[serde(default)]
    pub kinds: Vec<SymbolKind>,
    /// Globs of which one must match a file: its name (`*.rs`), or with a slash its path from `path` on (`src/**`).
    #[serde(default)]
    #[schemars(length(max = limits::SEARCH_GLOBS), inner(length(min = 1, max = limits::SEARCH_GLOB_CHARS)))]
    pub include: Vec<String>,
    /// Globs of files and directories to pass over, written like those of `include`.
    #[serde(default)]
    #[schemars(length(max = limits::SEARCH_GLOBS), inner(length(min = 1, max = limits::SEARCH_GLOB_CHARS)))]
    pub exclude: Vec<String>,
    /// Also look at what ignore rules such as `.gitignore` leave out.
    #[serde(default)]
    pub include_ignored: bool,
    /// Definitions at most.
    #[serde(default = "definitions")]
    #[schemars(range(min = 1, max = limits::SEARCH_RESULTS_MAX))]
    pub limit: NonZeroU32,
}

/// Which name to find, and where.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NameArgs {
    /// The name: `area`, or with what it stands in `Shape.area` or `Shape::area`. Uses are found by its last part alone.
    #[schemars(length(min = 1, max = limits::SYNTAX_NAME_BYTES))]
    pub symbol: String,
    /// The file or directory to look at.
    #[serde(default = "ToolPath::root")]
    pub path: ToolPath,
    /// Only files of this language; for a file that is named itself, the language to read it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<Language>,
    /// Globs of which one must match a file: its name (`*.rs`), or with a slash its path from `path` on (`src/**`).
    #[serde(default)]
    #[schemars(length(max = limits::SEARCH_GLOBS), inner(length(min = 1, max = limits::SEARCH_GLOB_CHARS)))]
    pub include: Vec<String>,
    /// Globs of files and directories to pass over, written like those of `include`.
    #[serde(default)]
    #[schemars(length(max = limits::SEARCH_GLOBS), inner(length(min = 1, max = limits::SEARCH_GLOB_CHARS)))]
    pub exclude: Vec<String>,
    /// Also look at what ignore rules such as `.gitignore` leave out.
    #[serde(default)]
    pub include_ignored: bool,
    /// Results at most.
    #[serde(default = "crate::scope::results")]
    #[schemars(range(min = 1, max = limits::SEARCH_RESULTS_MAX))]
    pub limit: NonZeroU32,
}

fn definitions() -> NonZeroU32 {
    NonZeroU32::new(limits::OUTLINE_DEFINITIONS).unwrap_or(NonZeroU32::MIN)
}

impl TypedTool for CodeNav {
    type Args = CodeNavArgs;
    type Output = Shown<CodeNavOutput>;

    fn facts(&self) -> Result<Facts, DescriptorError> {
        Ok(Facts {
            title: Some("Find definitions and uses".to_owned()),
            capabilities: Capabilities::read_only(),
            slots: vec![Slot::read("path")],
            ..Facts::new("builtin/code_nav".parse()?, include_str!("code_nav.md").trim())
        })
    }

    async fn run(&self, call: Call, args: CodeNavArgs) -> Result<Self::Output, Failure> {
        blocking(move || match args {
            CodeNavArgs::Outline(args) => answer::outline(&call, &args),
            CodeNavArgs::Definition(args) => answer::definition(&call, &args),
            CodeNavArgs::References(args) => answer::references(&call, &args),
        })
        .await
    }
}
