//! The tools built into haft.
