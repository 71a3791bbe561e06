//! System calls, each on a held directory and on one name in it. None follows a link. Those that change something stand in
//! `sys/write.rs`.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod portable;

mod write;

#[cfg(target_os = "linux")]
use linux as platform;
#[cfg(not(target_os = "linux"))]
use portable as platform;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::time::SystemTime;

use haft_protocol::Timestamp;

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::{Errno, Result, retry_on_intr};

use crate::file::{FileKind, Metadata};

pub(crate) use write::{SET_ID, keep_extras, set_mode};

/// A directory that is held open. What it is does not change when its path comes to mean something else.
#[derive(Debug)]
pub(crate) struct Dir {
    fd: OwnedFd,
}

/// How a path of several names is opened beneath a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beneath {
    /// In one call, and the kernel keeps it beneath (`openat2`).
    #[cfg(target_os = "linux")]
    Kernel,
    /// Name by name.
    Names,
}

impl Beneath {
    /// Finds out what the kernel can do. Sandboxes and old kernels refuse the one call.
    pub(crate) fn probe(dir: &Dir) -> Self {
        platform::probe(dir.as_fd())
    }
}

impl Dir {
    /// Opens a directory by an absolute path whose links are already resolved.
    pub(crate) fn open_absolute(path: &Path) -> Result<Self> {
        Self::open_at(CWD, path.as_os_str(), platform::GO_THROUGH)
    }

    /// Opens a directory in this one to go through it. Needs no permission to read it.
    pub(crate) fn child(&self, name: &OsStr) -> Result<Self> {
        Self::open_at(self.as_fd(), single(name)?, platform::GO_THROUGH)
    }

    /// Opens this directory once more, for its names to be read.
    pub(crate) fn readable(&self) -> Result<Self> {
        Self::open_at(self.as_fd(), OsStr::new("."), OFlags::RDONLY)
    }

    /// Opens a directory by names beneath this one, for its names to be read.
    pub(crate) fn readable_beneath(&self, path: &Path, how: Beneath) -> Result<Self> {
        if path.as_os_str().is_empty() {
            return self.readable();
        }
        #[cfg(target_os = "linux")]
        if how == Beneath::Kernel {
            match linux::open_beneath(self.as_fd(), path) {
                // The path is longer than the kernel takes at once.
                Err(Errno::NAMETOOLONG) => {}
                opened => return opened.map(|fd| Self { fd }),
            }
        }
        let _ = how;
        let mut names = path.iter();
        let Some(first) = names.next() else { return self.readable() };
        let mut dir = self.child(first)?;
        for name in names {
            dir = dir.child(name)?;
        }
        dir.readable()
    }

    fn open_at(at: BorrowedFd<'_>, name: &OsStr, how: OFlags) -> Result<Self> {
        let flags = how | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = retry_on_intr(|| rustix::fs::openat(at, name, flags, Mode::empty()))?;
        Ok(Self { fd })
    }

    /// Looks at this directory itself.
    pub(crate) fn metadata(&self) -> Result<Metadata> {
        Ok(Metadata::of(&retry_on_intr(|| rustix::fs::fstat(self))?))
    }

    /// Looks at a name in this directory.
    pub(crate) fn look(&self, name: &OsStr) -> Result<Metadata> {
        let name = single(name)?;
        let stat = retry_on_intr(|| rustix::fs::statat(self, name, AtFlags::SYMLINK_NOFOLLOW))?;
        Ok(Metadata::of(&stat))
    }

    /// Tells when what has a name in this directory was made, where the system remembers.
    pub(crate) fn born(&self, name: &OsStr) -> Option<SystemTime> {
        platform::born(self.as_fd(), single(name).ok()?)
    }

    /// Tells the same as records have it.
    pub(crate) fn born_at(&self, name: &OsStr) -> Option<Timestamp> {
        let since = self.born(name)?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        u64::try_from(since.as_millis()).ok().map(Timestamp::from_unix_ms)
    }

    /// Reads where a link points.
    pub(crate) fn read_link(&self, name: &OsStr) -> Result<OsString> {
        let target = rustix::fs::readlinkat(self, single(name)?, Vec::new())?;
        Ok(OsString::from_vec(target.into_bytes()))
    }

    /// Opens a regular file for reading. Whatever has come to stand in its place, this does not wait for it.
    ///
    /// The caller has looked first: even this much can have effects on a device.
    pub(crate) fn open_file(&self, name: &OsStr) -> Result<(File, Metadata)> {
        let name = single(name)?;
        let flags =
            OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
        let fd = retry_on_intr(|| rustix::fs::openat(self, name, flags, Mode::empty()))?;
        let metadata = Metadata::of(&retry_on_intr(|| rustix::fs::fstat(&fd))?);
        Ok((File::from(fd), metadata))
    }

    /// Passes the names in this directory and their kinds to a closure until it says no.
    ///
    /// `buffer` is room to work in, kept between calls.
    pub(crate) fn names(
        &self,
        buffer: &mut Vec<u8>,
        mut each: impl FnMut(&OsStr, Option<FileKind>) -> bool,
    ) -> Result<()> {
        platform::names(self.as_fd(), buffer, |name, kind| {
            if matches!(name, b"." | b"..") {
                return true;
            }
            each(OsStr::from_bytes(name), kind)
        })
    }

    /// Tells whether this is a view of processes, where files hold environments and links lead anywhere.
    pub(crate) fn is_of_processes(&self) -> bool {
        platform::is_of_processes(self.as_fd())
    }
}

impl AsFd for Dir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Refuses what is not the name of one entry, as the last word before the kernel reads it.
fn single(name: &OsStr) -> Result<&OsStr> {
    match name.as_bytes() {
        b"" | b"." | b".." => Err(Errno::INVAL),
        bytes if bytes.contains(&b'/') => Err(Errno::INVAL),
        _ => Ok(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn directories_beneath_are_opened_in_the_same_cases_by_every_way() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        std::fs::create_dir_all(path.join("root/a/b")).unwrap();
        std::fs::create_dir(path.join("out")).unwrap();
        std::fs::write(path.join("root/file"), "").unwrap();
        symlink("a", path.join("root/link")).unwrap();
        symlink(path.join("out"), path.join("root/out")).unwrap();
        let root = Dir::open_absolute(&std::fs::canonicalize(path.join("root")).unwrap()).unwrap();
        let mut ways = vec![Beneath::Names];
        ways.extend(Some(Beneath::probe(&root)).filter(|way| *way != Beneath::Names));
        for way in ways {
            let opens = |path: &str| root.readable_beneath(Path::new(path), way).is_ok();
            assert!(opens("") && opens("a") && opens("a/b"), "{way:?}");
            for path in ["..", "a/../..", "link", "link/b", "out", "file", "gone", "a/gone", "/etc"]
            {
                assert!(!opens(path), "{path} by {way:?}");
            }
        }
    }
}
