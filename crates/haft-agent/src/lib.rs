//! A model at work.
