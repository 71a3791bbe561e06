//! Tests of the call path.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops where it fails"
)]

mod approval;
mod attribute;
mod batch;
mod commands;
mod ending;
mod entrances;
mod hooks;
mod registry;
mod strict;
mod ui;
mod walk;
