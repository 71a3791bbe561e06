//! Tests of the server as its clients see it: over a pair of streams, line by line.
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

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
