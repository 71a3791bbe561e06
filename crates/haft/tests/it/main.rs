//! Tests of the whole house, as a program that uses the library sees it.
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

mod killed;
mod pages;
