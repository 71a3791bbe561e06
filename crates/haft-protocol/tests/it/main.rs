//! Tests of the words that haft shares.
#![expect(clippy::disallowed_methods, reason = "the kept inputs are read from the repository")]

mod corpus;
