//! The policy crate from outside.
