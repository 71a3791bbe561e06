//! The shapes in which the built-in tools can be shown.

use haft_protocol::QualifiedName;
use haft_tool::{Alias, OnConflict, Registry, RegistryError, Selection};

/// The shape in which the built-in tools are shown to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Toolset {
    /// A tool for each thing, with an argument that says what to do to it: `reader`, `search`, `editor`, `bash`.
    #[default]
    Actions,
    /// A tool for each thing to do, named by a verb: `read_file`, `write_file`, `edit_file`, `list_directory`,
    /// `search_files`, `find_files`, `run_command`. They are aliases, so rules about the tools behind them hold.
    Verbs,
}

/// A verb, the tool behind it, and the action that it fixes.
struct Verb {
    name: &'static str,
    tool: &'static str,
    action: Option<&'static str>,
    description: &'static str,
}

const VERBS: [Verb; 7] = [
    Verb {
        name: "builtin/read_file",
        tool: "builtin/reader",
        action: Some("read"),
        description: include_str!("toolset/read_file.md"),
    },
    Verb {
        name: "builtin/write_file",
        tool: "builtin/editor",
        action: Some("write"),
        description: include_str!("toolset/write_file.md"),
    },
    Verb {
        name: "builtin/edit_file",
        tool: "builtin/editor",
        action: Some("edit"),
        description: include_str!("toolset/edit_file.md"),
    },
    Verb {
        name: "builtin/list_directory",
        tool: "builtin/reader",
        action: Some("list_dir"),
        description: include_str!("toolset/list_directory.md"),
    },
    Verb {
        name: "builtin/search_files",
        tool: "builtin/search",
        action: Some("grep"),
        description: include_str!("toolset/search_files.md"),
    },
    Verb {
        name: "builtin/find_files",
        tool: "builtin/search",
        action: Some("find"),
        description: include_str!("toolset/find_files.md"),
    },
    Verb {
        name: "builtin/run_command",
        tool: "builtin/bash",
        action: None,
        description: include_str!("toolset/run_command.md"),
    },
];

impl Toolset {
    /// Shows the tools of a registry in this shape. Tools that have no other shape stay as they are.
    ///
    /// # Errors
    ///
    /// Fails when a verb's name is taken.
    pub fn arrange(self, registry: &Registry) -> Result<(), RegistryError> {
        match self {
            Self::Actions => Ok(()),
            Self::Verbs => {
                let mut shown = Vec::new();
                for verb in &VERBS {
                    let (Ok(name), Ok(tool)) =
                        (verb.name.parse::<QualifiedName>(), verb.tool.parse::<QualifiedName>())
                    else {
                        continue;
                    };
                    if registry.snapshot().find(verb.tool).is_none() {
                        continue;
                    }
                    let alias = Alias::new(name).describe(verb.description.trim());
                    let alias = match verb.action {
                        Some(action) => alias.fix("action", action),
                        None => alias,
                    };
                    registry.register_alias(alias, &tool, OnConflict::Reject)?;
                    shown.push(verb.name.to_owned());
                }
                let snapshot = registry.snapshot();
                let others = snapshot.tools().map(|it| it.descriptor.name().to_string());
                let has_verb =
                    |name: &String| VERBS.iter().any(|verb| verb.name == name || verb.tool == name);
                shown.extend(others.filter(|name| !has_verb(name)));
                registry.show(Selection::Named(shown))
            }
        }
    }
}
