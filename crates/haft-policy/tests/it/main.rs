//! The policy crate from outside.
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

mod call;
mod decisions;
mod explanations;
mod filters;
mod patterns;
mod presets;
mod properties;
mod stored;
mod ways_out;
