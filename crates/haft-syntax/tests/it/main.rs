//! Outlines, definitions, references and patterns over small sources of every language.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod hostile;
mod languages;
mod names;
mod outlines;
mod patterns;
mod rig;
