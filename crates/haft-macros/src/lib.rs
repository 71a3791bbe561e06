//! The tool attribute of haft.
