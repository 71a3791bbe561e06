//! What the store promises, over both of its forms where a promise holds for both.
#![expect(
    clippy::disallowed_methods,
    reason = "tests prepare state directories and start themselves again"
)]

mod artifacts;
mod child;
mod crash;
mod directory;
mod exclusion;
mod journal;
mod queries;
mod redaction;
mod retention;
mod support;
