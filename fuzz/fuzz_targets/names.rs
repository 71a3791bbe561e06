//! Tool names: what is read can be written, and no two names share a spelling.

#![no_main]

#[path = "../checks/names.rs"]
mod names;

libfuzzer_sys::fuzz_target!(|input: &[u8]| names::check(input));
