//! The same on other Unix systems.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::SystemTime;

use rustix::fs::{Dir, OFlags};
use rustix::io::{Errno, Result};

use super::Beneath;
use crate::file::FileKind;

pub(super) const GO_THROUGH: OFlags = OFlags::RDONLY;

pub(super) fn probe(_: BorrowedFd<'_>) -> Beneath {
    Beneath::Names
}

pub(super) fn names(
    dir: BorrowedFd<'_>,
    _: &mut Vec<u8>,
    mut each: impl FnMut(&[u8], Option<FileKind>) -> bool,
) -> Result<()> {
    for entry in Dir::read_from(dir)? {
        let entry = entry?;
        if !each(entry.file_name().to_bytes(), FileKind::told(entry.file_type())) {
            break;
        }
    }
    Ok(())
}

pub(super) fn born(_: BorrowedFd<'_>, _: &OsStr) -> Option<SystemTime> {
    None
}

pub(super) fn is_of_processes(_: BorrowedFd<'_>) -> bool {
    false
}

pub(super) fn rename_onto_nothing(_: impl AsFd, _: &OsStr, _: impl AsFd, _: &OsStr) -> Result<()> {
    Err(Errno::NOSYS)
}

pub(super) fn keep_attributes(_: &File, _: &File) -> Vec<String> {
    vec!["its extended attributes, if it had any".to_owned()]
}
