//! The built-in tools over real workspaces, through dispatch and no other way.

#![expect(clippy::disallowed_methods, reason = "tests prepare their own files")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod ast_search;
mod bash;
mod code_check;
mod code_check_tool;
mod code_nav;
mod contract;
mod dialects;
mod editor;
mod editor_faults;
mod faults;
mod find;
mod grep;
mod ledger;
mod list_dir;
mod properties;
mod races;
mod read;
mod rig;
mod speech;
mod undoing;
