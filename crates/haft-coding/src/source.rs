//! The source of the built-in tools.

use std::sync::Arc;

use haft_tool::{BuildContext, Scope, SourceError, Tool, ToolSource, TypedTool};

use crate::{AstSearch, CodeNav, Editor, Reader, Search, Undo};

/// The source of the built-in tools, named `builtin`. They hold nothing of a branch, so all branches share them.
#[derive(Debug, Clone, Copy, Default)]
pub struct CodingTools;

impl CodingTools {
    /// Makes the source.
    pub fn new() -> Self {
        Self
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
            Reader.erase(),
            Search.erase(),
            Editor.erase(),
            CodeNav.erase(),
            AstSearch.erase(),
            Undo.erase(),
        ];
        tools
            .into_iter()
            .map(|tool| {
                tool.map_err(|source| SourceError::Descriptor {
                    source_name: self.name().to_owned(),
                    source,
                })
            })
            .collect()
    }
}
