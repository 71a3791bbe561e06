//! Integration tests of haft-providers: whole models, asked over a socket of this machine.
#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test fails by panicking, plays the server and reads its own files"
)]

mod asked;
mod chat;
mod discovery;
mod forms;
mod gemini;
mod messages;
mod rate;
mod real_model;
mod recorded;
mod registry;
mod requests;
mod responses;
mod server;
mod stalls;
mod ways;
