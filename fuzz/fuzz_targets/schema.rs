//! Schemas from elsewhere: admitted within limits, or refused in words.

#![no_main]

#[path = "../checks/schema.rs"]
mod schema;

libfuzzer_sys::fuzz_target!(|input: &[u8]| schema::check(input));
