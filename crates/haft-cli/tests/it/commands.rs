//! What each command prints and how it ends.
