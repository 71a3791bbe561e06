//! The tool that searches source code by its structure.

mod answer;

use std::num::NonZeroU32;

use haft_protocol::{Capabilities, ErrorKind, Failure, limits};
use haft_syntax::{Language, Pattern, SyntaxError};
use haft_tool::{Call, DescriptorError, Facts, Shown, Slot, ToolPath, TypedTool, blocking};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scope::Scope;
use crate::sources::Sources;
use crate::speech::{self, HintIf, SEARCH};

pub use answer::{AstMatch, AstSearchOutput};

/// The tool `builtin/ast_search`.
#[derive(Debug, Clone, Copy, Default)]
pub struct AstSearch;

/// What code to look for, and where.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AstSearchArgs {
    /// Code with metavariables in it: `$NAME` for one piece of code, `$$$NAMES` for any number.
    #[schemars(length(min = 1, max = limits::SYNTAX_PATTERN_BYTES))]
    pub pattern: String,
    /// The language of the pattern and of the files. `typescript` and `tsx` are two.
    pub language: Language,
    /// The file or directory to search in.
    #[serde(default = "ToolPath::root")]
    pub path: ToolPath,
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
    /// Matches at most.
    #[serde(default = "crate::scope::results")]
    #[schemars(range(min = 1, max = limits::SEARCH_RESULTS_MAX))]
    pub limit: NonZeroU32,
}

impl TypedTool for AstSearch {
    type Args = AstSearchArgs;
    type Output = Shown<AstSearchOutput>;

    fn facts(&self) -> Result<Facts, DescriptorError> {
        Ok(Facts {
            title: Some("Search code by structure".to_owned()),
            capabilities: Capabilities::read_only(),
            slots: vec![Slot::read("path")],
            ..Facts::new("builtin/ast_search".parse()?, include_str!("ast_search.md").trim())
        })
    }

    async fn run(&self, call: Call, args: AstSearchArgs) -> Result<Self::Output, Failure> {
        blocking(move || search(&call, &args)).await
    }
}

fn search(call: &Call, args: &AstSearchArgs) -> Result<Shown<AstSearchOutput>, Failure> {
    let pattern =
        Pattern::compile(args.language, &args.pattern).map_err(|error| refused(call, error))?;
    let needle = pattern.needle();
    let sources = Sources {
        scope: Scope {
            include: &args.include,
            exclude: &args.exclude,
            skip_dotted: false,
            include_ignored: args.include_ignored,
        },
        language: Some(args.language),
        needle: &needle,
        limit: u64::from(args.limit.get()),
    };
    let gathered = sources.gather(
        call,
        |_, text, limits| Ok(pattern.matches(text, limits)?.map(|it| answer::of(it, text))),
        AstMatch::bytes,
    )?;
    Ok(answer::shown(args, gathered))
}

fn refused(call: &Call, error: SyntaxError) -> Failure {
    let kind = match error {
        SyntaxError::LanguageOff { .. } => ErrorKind::Unsupported,
        SyntaxError::Grammar { .. } | SyntaxError::Stopped => ErrorKind::Internal,
        _ => ErrorKind::InvalidArguments,
    };
    let failure = Failure::new(kind, error.to_string());
    match error {
        SyntaxError::BrokenPattern { .. } => {
            let failure = failure.hint(
                "write code that could stand in a file, with metavariables such as `$NAME` or `$$$ARGS`",
            );
            let search = speech::tool(call, SEARCH, "grep");
            failure.hint_if(search, |search| format!("for plain text, use {search}"))
        }
        _ => failure,
    }
}
