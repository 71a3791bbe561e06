//! Arguments: near misses are repaired, what is accepted is left alone.

#![no_main]

#[path = "../checks/repair.rs"]
mod repair;

libfuzzer_sys::fuzz_target!(|input: &[u8]| repair::check(input));
