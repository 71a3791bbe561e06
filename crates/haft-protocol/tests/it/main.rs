//! Tests of the words that haft shares.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::string_slice,
    reason = "a test stops where it fails; the kept inputs are read from the repository"
)]

mod corpus;
mod names;
mod words;
