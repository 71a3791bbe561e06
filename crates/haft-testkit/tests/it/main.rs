//! Tests of what tests are made with.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test stops where it fails, and recordings are files"
)]

mod real_model;
