//! What a conversation promises.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test stops where it fails"
)]

mod branching;
mod compacting;
mod compiling;
mod gauging;
mod mending;
mod sessions;
mod system;
mod taking;
mod talk;
mod transcript;
