//! Kinds of fault that others have met, and that the command does not have.

mod borders;
mod questions;
mod reading;
mod search;
mod secrets;
mod showing;
mod trust;
