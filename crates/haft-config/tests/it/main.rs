//! The configuration crate from outside.
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

mod aliases;
mod environment;
mod files;
mod layers;
mod mistakes;
mod models;
mod properties;
mod rules;
mod trust;
mod untrusted;
