//! Command texts: whatever is allowed was read whole.

#![no_main]

#[path = "../checks/shell.rs"]
mod shell;

libfuzzer_sys::fuzz_target!(|input: &[u8]| shell::check(input));
