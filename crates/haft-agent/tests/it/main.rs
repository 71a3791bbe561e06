//! What a model at work promises.

mod rig;
mod turn;
