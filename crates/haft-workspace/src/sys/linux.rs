//! What only Linux has.

use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags, PROC_SUPER_MAGIC, RawDir, ResolveFlags};
use rustix::io::{Errno, Result, retry_on_intr};

use super::Beneath;
use crate::file::FileKind;

/// A handle that can be gone through and nothing else.
pub(super) const GO_THROUGH: OFlags = OFlags::PATH;

/// How often an open is tried again that a rename elsewhere disturbed.
const DISTURBED: usize = 16;

/// Room for the names one system call returns.
const NAMES_BYTES: usize = 32 * 1024;

pub(super) fn probe(dir: BorrowedFd<'_>) -> Beneath {
    match open(dir, Path::new("."), OFlags::PATH) {
        Ok(_) => Beneath::Kernel,
        Err(_) => Beneath::Names,
    }
}

pub(super) fn open_beneath(dir: BorrowedFd<'_>, path: &Path) -> Result<OwnedFd> {
    let mut tries = 0;
    loop {
        match open(dir, path, OFlags::RDONLY) {
            Err(Errno::AGAIN) if tries < DISTURBED => tries += 1,
            opened => return opened,
        }
    }
}

fn open(dir: BorrowedFd<'_>, path: &Path, how: OFlags) -> Result<OwnedFd> {
    let flags = how | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
    retry_on_intr(|| rustix::fs::openat2(dir, path, flags, Mode::empty(), resolve))
}

pub(super) fn names(
    dir: BorrowedFd<'_>,
    buffer: &mut Vec<u8>,
    mut each: impl FnMut(&[u8], Option<FileKind>) -> bool,
) -> Result<()> {
    buffer.clear();
    buffer.reserve(NAMES_BYTES);
    let room: &mut [MaybeUninit<u8>] = buffer.spare_capacity_mut();
    let mut entries = RawDir::new(dir, room);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        if !each(entry.file_name().to_bytes(), FileKind::told(entry.file_type())) {
            break;
        }
    }
    Ok(())
}

pub(super) fn is_of_processes(dir: BorrowedFd<'_>) -> bool {
    rustix::fs::fstatfs(dir).is_ok_and(|system| system.f_type == PROC_SUPER_MAGIC)
}
