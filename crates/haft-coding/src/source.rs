//! The source of the built-in tools.

use std::sync::Arc;

use haft_tool::{BuildContext, Scope, SourceError, Tool, ToolSource, TypedTool};

use crate::{AstSearch, Bash, CodeNav, Editor, Reader, Search, Undo};

/// The source of the built-in tools, named `builtin`. They hold nothing of a branch, so all branches share them.
#[derive(Debug, Clone, Default)]
pub struct CodingTools {
    bash: Option<Bash>,
}

impl CodingTools {
    /// Makes the source, without the tools that start programs.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the tool that runs commands, and the one that starts checkers in the same way.
    pub fn bash(mut self, bash: Bash) -> Self {
        self.bash = Some(bash);
        self
    }
}

impl ToolSource for CodingTools {
    fn name(&self) -> &'static str {
        "builtin"
    }

    fn scope(&self) -> Scope {
        Scope::Shared
    }

    fn build(&self, _: &BuildContext) -> Result<Vec<Arc<dyn Tool>>, SourceError> {
        let tools = [
            Reader.erase_later(),
            Search.erase_later(),
            Editor.erase_later(),
            CodeNav.erase_later(),
            AstSearch.erase_later(),
            Undo.erase_later(),
        ];
        tools
            .into_iter()
            .chain(self.bash.as_ref().map(|bash| bash.code_check().erase_later()))
            .chain(self.bash.clone().map(TypedTool::erase_later))
            .map(|tool| {
                tool.map_err(|source| SourceError::Descriptor {
                    source_name: self.name().to_owned(),
                    source,
                })
            })
            .collect()
    }
}
