//! Kinds of fault that others have met, and that the command does not have.

mod borders;
mod reading;
mod search;
