//! Paths: nothing outside the roots is opened, and nothing protected.

#![no_main]

#[path = "../checks/paths.rs"]
mod paths;

libfuzzer_sys::fuzz_target!(|input: &[u8]| paths::check(input));
