//! What the door to processes promises, shown by real ones.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test fails by panicking, prepares its files, and looks at the system's processes"
)]

mod allowance;
mod confinement;
mod ending;
mod output;
mod self_test;
mod starting;
mod support;
