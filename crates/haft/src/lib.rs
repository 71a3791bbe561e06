//! Facade of haft for library users: re-exports and assembly.
