//! Rig, conformance kits and page runner for the tests of haft.
