//! The policy crate from outside.
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

mod call;
mod commands;
mod corpus;
mod decisions;
mod explanations;
mod filters;
mod patterns;
mod presets;
mod properties;
mod shell;
mod shell_properties;
mod stored;
mod ways_out;
