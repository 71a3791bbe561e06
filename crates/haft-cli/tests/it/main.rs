//! The `haft` command, as a person or a program meets it.

#![expect(
    clippy::disallowed_methods,
    reason = "tests prepare their own files and start the command"
)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::string_slice,
    reason = "a test fails by panicking, and says when it cannot be held"
)]

mod attacks;
mod commands;
mod faults;
mod mcp;
mod rig;
mod run;
