//! Schemas in the dialects of providers, and the way back for whatever a model says.

#![no_main]

#[path = "../checks/dialect.rs"]
mod dialect;

libfuzzer_sys::fuzz_target!(|input: &[u8]| dialect::check(input));
