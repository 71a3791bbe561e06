//! Tests of the server as its clients see it: over a pair of streams, line by line.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

mod answers;
mod asking;
mod calls;
mod changes;
#[cfg(feature = "conformance")]
mod conformance;
mod entrances;
mod foreign;
#[cfg(feature = "http")]
mod http;
mod lists;
mod official_client;
mod progress;
mod resources;
mod results;
mod rig;
mod stopping;
