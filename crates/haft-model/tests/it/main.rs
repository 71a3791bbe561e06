//! What requests and replies promise.

#![expect(
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test that meets the unexpected should stop"
)]

mod account;
mod guarded;
mod scripted;
mod stream;
mod tokens;
