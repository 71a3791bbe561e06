//! What the crate promises, seen from outside.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::disallowed_methods,
    reason = "a test fails by panicking"
)]

mod called_off;
mod corpus;
mod cut;
mod diff;
mod edit;
mod encoding;
mod kind;
mod merge;
mod nearest;
mod places;
mod properties;
mod told;
mod visible;
mod window;
