//! A model at work, as a person or a program meets it.

mod first;
mod killed;
mod limits;
mod real_model;
mod resuming;
mod screen;
mod showing;
mod working;
