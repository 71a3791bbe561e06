//! The configuration crate from outside.
