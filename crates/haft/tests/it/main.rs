//! Tests of the whole house, as a program that uses the library sees it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops where it fails")]

mod pages;
