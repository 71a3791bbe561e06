//! The policy crate from outside.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test stops where it fails; the kept inputs are read from the repository"
)]

mod call;
mod commands;
mod corpus;
mod decisions;
mod edges;
mod explanations;
mod filters;
mod patterns;
mod presets;
mod properties;
mod redirections;
mod runners;
mod scripts;
mod shell;
mod shell_properties;
mod stored;
mod together;
mod ways_out;
