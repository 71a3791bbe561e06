#![allow(unused_variables)]

use haft_tool::{ToolPath, tool};

/// Contradicts itself.
#[tool(read_only, capabilities(read_files, write_files))]
async fn contradiction() {}

/// Contradicts its slot.
#[tool(read_only)]
async fn contradicting_slot(#[slot(write)] path: ToolPath) {}

/// Has an effect and changes nothing.
#[tool(side_effect = "a mail")]
async fn effect_of_nothing() {}

/// Misspells its arguments.
#[tool(readonly, capabilities(netwrok), run_ms = 0, name = 1)]
async fn misspelt() {}

/// Has a name that breaks the grammar.
#[tool(name = "files/2nd file")]
async fn grammar() {}

/// Has a name in a reserved namespace.
#[tool(name = "builtin/read")]
async fn reserved() {}

/// Has a name that no tool can have.
#[tool]
async fn _underscore() {}

/// Has a description that is not there.
#[tool(description_file = "nowhere.md")]
async fn nowhere() {}

fn main() {}
