//! The directory of a command's own, which goes whatever the command did to it.

use std::ffi::CStr;
use std::fs::DirBuilder;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags};

/// How often a directory is read again because something was removed from it and it is not empty.
const PASSES: usize = 8;

/// A directory of a command's own, that goes with the value.
///
/// It lies in one that is not the command's, which is where the pieces are put while it is removed.
#[derive(Debug)]
pub(crate) struct Private(PathBuf);

impl Private {
    pub(crate) fn new(scratch: &Path) -> io::Result<Self> {
        let around = super::directory(scratch)?;
        let path = around.path().join("home");
        DirBuilder::new().mode(0o700).create(&path)?;
        let _ = around.keep();
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

/// Removes the directory of a [`Private`], as far as that can be.
pub(crate) fn remove(path: &Path) {
    let Some(around) = path.parent() else { return };
    if let Ok(pit) = open(CWD, around) {
        let mut removal = Removal { pit, waiting: Vec::new(), taken: 0 };
        removal.take(CWD, path);
        while let Some(number) = removal.waiting.pop() {
            let _ = removal.empty(number);
        }
    }
    let _ = std::fs::remove_dir(around);
}

/// A removal that is under way.
///
/// A directory that is not empty is moved to the pit under a number, so none is ever deep, however deep they were
/// nested, and one without permissions is given them by a handle, so that no link leads to something else.
struct Removal {
    pit: OwnedFd,
    waiting: Vec<u64>,
    taken: u64,
}

impl Removal {
    /// Removes what is in a directory of the pit, and the directory.
    fn empty(&mut self, number: u64) -> io::Result<()> {
        let name = number.to_string();
        let mut dir = Dir::new(open(self.pit.as_fd(), &name)?)?;
        for _ in 0..PASSES {
            let mut has_changed = false;
            while let Some(entry) = dir.read() {
                let entry = entry?;
                if ![c".", c".."].contains(&entry.file_name()) {
                    has_changed |= self.remove(dir.fd()?, entry.file_name());
                }
            }
            let removed = rustix::fs::unlinkat(&self.pit, &name, AtFlags::REMOVEDIR);
            if removed.is_ok() || !has_changed {
                break;
            }
            dir.rewind();
        }
        Ok(())
    }

    /// Removes a file, or a directory if it is empty, or moves it to the pit. Tells whether it is gone from here.
    fn remove(&mut self, dir: BorrowedFd<'_>, name: &CStr) -> bool {
        let removed = |flags| rustix::fs::unlinkat(dir, name, flags).is_ok();
        removed(AtFlags::empty()) || removed(AtFlags::REMOVEDIR) || self.take(dir, name)
    }

    /// Moves a directory to the pit. Without being unlocked, one cannot be moved.
    fn take(&mut self, dir: BorrowedFd<'_>, name: impl rustix::path::Arg + Copy) -> bool {
        let number = self.taken;
        let is_taken = unlock(dir, name).is_ok()
            && rustix::fs::renameat(dir, name, &self.pit, number.to_string()).is_ok();
        if is_taken {
            self.waiting.push(number);
            self.taken += 1;
        }
        is_taken
    }
}

fn open(dir: BorrowedFd<'_>, name: impl rustix::path::Arg) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(dir, name, flags, Mode::empty())?)
}

/// Lets its owner use a directory. Fails where it is none.
#[cfg(target_os = "linux")]
fn unlock(dir: BorrowedFd<'_>, name: impl rustix::path::Arg) -> io::Result<()> {
    use std::os::fd::AsRawFd as _;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let handle = rustix::fs::openat(dir, name, flags, Mode::empty())?;
    // The handle is good for nothing but to name the directory, which it does through `/proc`.
    let _ = rustix::fs::chmod(format!("/proc/self/fd/{}", handle.as_raw_fd()), Mode::RWXU);
    Ok(())
}

/// Lets its owner use a directory. Fails where it is none.
#[cfg(not(target_os = "linux"))]
fn unlock(dir: BorrowedFd<'_>, name: impl rustix::path::Arg + Copy) -> io::Result<()> {
    let stat = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if !rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    let _ = rustix::fs::chmodat(dir, name, Mode::RWXU, AtFlags::SYMLINK_NOFOLLOW);
    Ok(())
}
