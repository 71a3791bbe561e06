//! What only Linux has.

use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::fs::{
    AtFlags, Mode, OFlags, PROC_SUPER_MAGIC, RawDir, RenameFlags, ResolveFlags, StatxFlags,
    XattrFlags, fgetxattr, flistxattr, fsetxattr,
};
use rustix::io::{Errno, Result, retry_on_intr};

use super::Beneath;
use crate::file::FileKind;

/// A handle that can be gone through and nothing else.
pub(super) const GO_THROUGH: OFlags = OFlags::PATH;

/// How often an open is tried again that a rename elsewhere disturbed.
const DISTURBED: usize = 16;

/// Room for the names of a file's extended attributes, and for the value of one: what Linux has room for.
const ATTRIBUTES_BYTES: usize = 64 * 1024;

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

pub(super) fn born(dir: BorrowedFd<'_>, name: &OsStr) -> Option<SystemTime> {
    let flags = AtFlags::SYMLINK_NOFOLLOW;
    let found = rustix::fs::statx(dir, name, flags, StatxFlags::BTIME).ok()?;
    let is_told = found.stx_mask & StatxFlags::BTIME.bits() != 0;
    let seconds = u64::try_from(found.stx_btime.tv_sec).ok().filter(|_| is_told)?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, found.stx_btime.tv_nsec))
}

pub(super) fn is_of_processes(dir: BorrowedFd<'_>) -> bool {
    rustix::fs::fstatfs(dir).is_ok_and(|system| system.f_type == PROC_SUPER_MAGIC)
}

pub(super) fn rename_onto_nothing(
    dir: impl AsFd,
    name: &OsStr,
    to: impl AsFd,
    new: &OsStr,
) -> Result<()> {
    let flags = RenameFlags::NOREPLACE;
    retry_on_intr(|| rustix::fs::renameat_with(&dir, name, &to, new, flags))
}

/// Copies extended attributes, access lists among them, and returns in a few words what could not be copied.
pub(super) fn keep_attributes(old: &File, new: &File) -> Vec<String> {
    let mut names = Vec::with_capacity(ATTRIBUTES_BYTES);
    match flistxattr(old, rustix::buffer::spare_capacity(&mut names)) {
        // Most files have none, and some file systems know none.
        Ok(0) | Err(Errno::NOTSUP | Errno::NOSYS) => return Vec::new(),
        Ok(_) => {}
        Err(_) => return vec!["its extended attributes".to_owned()],
    }
    let mut lost = Vec::new();
    let mut value = Vec::with_capacity(ATTRIBUTES_BYTES);
    for name in names.split_inclusive(|byte| *byte == 0) {
        let Ok(name) = CStr::from_bytes_with_nul(name) else { continue };
        value.clear();
        let copied = fgetxattr(old, name, rustix::buffer::spare_capacity(&mut value))
            .and_then(|_| is_kept(new, name, &value));
        if copied.is_err() {
            let name = haft_text::visible_line(&name.to_string_lossy()).into_owned();
            lost.push(format!("its attribute `{name}`"));
        }
    }
    lost
}

fn is_kept(new: &File, name: &CStr, value: &[u8]) -> Result<()> {
    // Rights of a program are for the program that it was, and writing to one takes them away as well.
    if name == c"security.capability" {
        return Err(Errno::PERM);
    }
    let mut present = Vec::with_capacity(ATTRIBUTES_BYTES);
    // The system labels new files by itself, and may not let anybody else do so.
    let is_there = fgetxattr(new, name, rustix::buffer::spare_capacity(&mut present)).is_ok();
    if is_there && present == value {
        return Ok(());
    }
    fsetxattr(new, name, value, XattrFlags::empty())
}
