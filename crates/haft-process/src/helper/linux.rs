//! The helper on Linux.

mod confine;
mod family;
mod link;
mod probe;
mod serve;
mod syscalls;

pub(crate) use probe::ATTEMPTS;
pub(super) use probe::probe;
pub(super) use serve::{misused, serve};
