//! What the store promises, over both of its forms where a promise holds for both.
#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test fails by panicking, prepares state directories, and starts itself again as another process"
)]

mod artifacts;
mod child;
mod crash;
mod directory;
mod effects;
mod exclusion;
mod fate;
mod journal;
mod latest_writes;
mod queries;
mod redaction;
mod retention;
mod run_entries;
mod run_faults;
mod runs;
mod support;
