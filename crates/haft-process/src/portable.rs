//! Where there is no helper.

use std::os::fd::BorrowedFd;

use crate::LaunchError;
use crate::helper::Helper;
use crate::supervise::Running;
use crate::wire::Order;

/// Says that there is no helper here.
pub(crate) fn start(_: &Helper, _: &Order, _: &[BorrowedFd<'_>]) -> Result<Running, LaunchError> {
    Err(LaunchError::helper("exists on Linux only"))
}
