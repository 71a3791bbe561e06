//! Kinds of fault that others have met, and that the command does not have.

mod borders;
mod editing;
mod questions;
mod reading;
mod search;
mod secrets;
mod shell;
mod showing;
mod trust;
