//! System calls that change something: each on a held directory and on one name in it. None follows a link.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::AsFd;

use rustix::fs::{Access, AtFlags, Gid, Mode, OFlags, Uid};
use rustix::io::{Errno, Result, retry_on_intr};

use super::{Dir, platform, single};
use crate::file::Metadata;

/// The bits that a program takes another user's or group's rights from.
pub(crate) const SET_ID: u32 = 0o6000;

impl Dir {
    /// Makes a file that must not be there yet, open for writing.
    pub(crate) fn make_file(&self, name: &OsStr, mode: u32) -> Result<File> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let name = single(name)?;
        let fd = retry_on_intr(|| rustix::fs::openat(self, name, flags, bits(mode)))?;
        Ok(File::from(fd))
    }

    /// Makes a directory that must not be there yet.
    pub(crate) fn make_directory(&self, name: &OsStr, mode: u32) -> Result<()> {
        retry_on_intr(|| rustix::fs::mkdirat(self, single(name)?, bits(mode)))
    }

    /// Makes a link that must not be there yet.
    pub(crate) fn make_link(&self, name: &OsStr, target: &OsStr) -> Result<()> {
        retry_on_intr(|| rustix::fs::symlinkat(target, self, single(name)?))
    }

    /// Gives something another name, in place of what stands there.
    pub(crate) fn rename(&self, name: &OsStr, to: &Self, new: &OsStr) -> Result<()> {
        let (name, new) = (single(name)?, single(new)?);
        retry_on_intr(|| rustix::fs::renameat(self, name, to, new))
    }

    /// Gives something another name where nothing stands.
    pub(crate) fn rename_onto_nothing(&self, name: &OsStr, to: &Self, new: &OsStr) -> Result<()> {
        let (from, onto) = (single(name)?, single(new)?);
        match platform::rename_onto_nothing(self, from, to, onto) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            renamed => return renamed,
        }
        // A second name is given only where there is none; directories cannot have one.
        match retry_on_intr(|| rustix::fs::linkat(self, from, to, onto, AtFlags::empty())) {
            Ok(()) => return self.unlink(name),
            Err(Errno::PERM | Errno::NOTSUP | Errno::NOSYS | Errno::MLINK | Errno::XDEV) => {}
            Err(error) => return Err(error),
        }
        match to.look(new) {
            Err(Errno::NOENT) => self.rename(name, to, new),
            Ok(_) => Err(Errno::EXIST),
            Err(error) => Err(error),
        }
    }

    /// Removes anything but a directory.
    pub(crate) fn unlink(&self, name: &OsStr) -> Result<()> {
        retry_on_intr(|| rustix::fs::unlinkat(self, single(name)?, AtFlags::empty()))
    }

    /// Removes an empty directory.
    pub(crate) fn remove_directory(&self, name: &OsStr) -> Result<()> {
        retry_on_intr(|| rustix::fs::unlinkat(self, single(name)?, AtFlags::REMOVEDIR))
    }

    /// Tells whether the permission bits let this user write to a file.
    pub(crate) fn may_write(&self, name: &OsStr) -> Result<bool> {
        let name = single(name)?;
        match rustix::fs::accessat(self, name, Access::WRITE_OK, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::ACCESS | Errno::PERM) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Sees to it that the names in this directory outlast a power failure, as far as it can be read.
    pub(crate) fn sync(&self) -> Result<()> {
        match self.readable() {
            Ok(dir) => match retry_on_intr(|| rustix::fs::fsync(&dir)) {
                // Some file systems cannot do that for directories.
                Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
                synced => synced,
            },
            Err(Errno::ACCESS) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// Sets the permission bits of an open file or directory.
pub(crate) fn set_mode(file: impl AsFd, mode: u32) -> Result<()> {
    retry_on_intr(|| rustix::fs::fchmod(&file, bits(mode)))
}

/// Gives a new file what else the one it replaces is known by, and returns in a few words what could not be kept.
pub(crate) fn keep_extras(old: &File, was: &Metadata, new: &File, is: &Metadata) -> Vec<String> {
    let mut lost = Vec::new();
    if was.owner != is.owner {
        let (user, group) = was.owner;
        let give = |user: Option<u32>, group: Option<u32>| {
            retry_on_intr(|| {
                rustix::fs::fchown(new, user.map(Uid::from_raw), group.map(Gid::from_raw))
            })
        };
        // The group alone may often be given where the user may not.
        if give(Some(user), Some(group)).is_err() {
            let _ = give(None, Some(group));
            lost.push(format!("its owner {user}:{group}"));
        }
    }
    lost.extend(platform::keep_attributes(old, new));
    lost
}

fn bits(mode: u32) -> Mode {
    #[expect(clippy::allow_attributes, reason = "the width of a mode differs between systems")]
    #[allow(clippy::useless_conversion, clippy::cast_possible_truncation)]
    Mode::from_raw_mode((mode & 0o7777) as _)
}
