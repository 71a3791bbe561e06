//! What the crate promises, seen from outside.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::disallowed_methods,
    reason = "a test fails by panicking"
)]

mod corpus;
mod cut;
mod encoding;
mod kind;
mod properties;
mod visible;
mod window;
