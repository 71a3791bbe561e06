//! A model at work, as a person or a program meets it.

mod limits;
mod resuming;
mod showing;
mod working;
