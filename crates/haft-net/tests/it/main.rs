//! Integration tests of haft-net.
