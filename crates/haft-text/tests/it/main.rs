//! What the crate promises, seen from outside.
#![expect(clippy::unwrap_used, clippy::string_slice, reason = "a test fails by panicking")]

mod cut;
mod encoding;
mod kind;
mod visible;
mod window;
