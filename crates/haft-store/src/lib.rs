//! The door to recorded state: journal, artifacts, retention.
