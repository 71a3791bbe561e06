//! Tests of the whole house, as a program that uses the library sees it.
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]
#![expect(
    clippy::disallowed_methods,
    reason = "a test prepares its own files, and its binary is the process that is killed"
)]

#[cfg(feature = "models")]
mod instructions;
mod killed;
#[cfg(feature = "mcp")]
mod serving;
#[cfg(feature = "models")]
mod subagents;
mod together;
