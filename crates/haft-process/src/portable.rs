//! Where there is no helper.

use std::os::fd::BorrowedFd;
use std::path::Path;

use crate::helper::Helper;
use crate::report::LevelReport;
use crate::supervise::Running;
use crate::wire::Order;
use crate::{LaunchError, SandboxLevel};

/// Says that there is no helper here.
pub(crate) fn start(_: &Helper, _: &Order, _: &[BorrowedFd<'_>]) -> Result<Running, LaunchError> {
    Err(LaunchError::helper("exists on Linux only"))
}

/// Says that there is nothing to try here.
pub(crate) fn trial(_: &Helper, _: SandboxLevel, _: &Path) -> Result<LevelReport, LaunchError> {
    Err(LaunchError::helper("exists on Linux only"))
}
