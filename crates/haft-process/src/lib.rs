//! The door to processes.
