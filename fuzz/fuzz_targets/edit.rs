//! Edits: what is found is what was looked for, and nothing else changes.

#![no_main]

#[path = "../checks/edit.rs"]
mod edit;

libfuzzer_sys::fuzz_target!(|input: &[u8]| edit::check(input));
