//! Files as they are met: kinds, identities, sizes, and an open one.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::time::{Duration, SystemTime};

use rustix::fs::{FileType, Stat};

/// A regular file, open for reading.
///
/// What it is was looked at after it was opened, so it is what it says, whatever its path means by now.
#[derive(Debug)]
pub struct OpenFile {
    file: File,
    metadata: Metadata,
}

impl OpenFile {
    pub(crate) fn new(file: File, metadata: Metadata) -> Self {
        Self { file, metadata }
    }

    /// Returns what the file was when it was opened.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Looks at the file again, through its handle.
    ///
    /// # Errors
    ///
    /// Fails when the system cannot say.
    pub fn look_again(&self) -> io::Result<Metadata> {
        Ok(Metadata::of(&rustix::fs::fstat(&self.file)?))
    }
}

impl Read for OpenFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
    }

    fn read_to_end(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        self.file.read_to_end(buffer)
    }
}

impl Read for &OpenFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&self.file).read(buffer)
    }
}

impl Seek for OpenFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// The kind of a thing with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A character device.
    CharacterDevice,
    /// A block device.
    BlockDevice,
    /// Something this system has a kind of its own for.
    Other,
}

impl FileKind {
    fn of(kind: FileType) -> Self {
        match kind {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Directory,
            FileType::Symlink => Self::Link,
            FileType::Fifo => Self::Fifo,
            FileType::Socket => Self::Socket,
            FileType::CharacterDevice => Self::CharacterDevice,
            FileType::BlockDevice => Self::BlockDevice,
            FileType::Unknown => Self::Other,
        }
    }

    /// Returns the kind a directory tells of a name in it. Some file systems do not tell.
    pub(crate) fn told(kind: FileType) -> Option<Self> {
        (kind != FileType::Unknown).then(|| Self::of(kind))
    }

    /// Returns the kind in words, with an article.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::File => "a regular file",
            Self::Directory => "a directory",
            Self::Link => "a symbolic link",
            Self::Fifo => "a FIFO",
            Self::Socket => "a socket",
            Self::CharacterDevice => "a character device",
            Self::BlockDevice => "a block device",
            Self::Other => "of an unknown kind",
        }
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.in_words())
    }
}

/// The identity of a file or directory: device and inode. Every path to it has the same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId {
    /// The device.
    pub device: u64,
    /// The inode.
    pub inode: u64,
}

/// What can be known of a file without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metadata {
    /// The kind.
    pub kind: FileKind,
    /// The identity.
    pub id: FileId,
    /// How many bytes there are.
    pub len: u64,
    /// How many names the file has.
    pub links: u64,
    /// The permission bits.
    pub mode: u32,
    /// When the content last changed, where that is within what this system can express.
    pub modified: Option<SystemTime>,
    /// The user and the group it belongs to.
    pub(crate) owner: (u32, u32),
    /// When anything about it last changed: seconds and nanoseconds.
    pub(crate) changed: (i64, u32),
}

impl Metadata {
    #[cfg_attr(
        all(target_os = "linux", target_pointer_width = "64"),
        expect(
            clippy::unnecessary_cast,
            reason = "the types of these fields differ between systems"
        )
    )]
    pub(crate) fn of(stat: &Stat) -> Self {
        Self {
            kind: FileKind::of(FileType::from_raw_mode(stat.st_mode)),
            id: FileId { device: stat.st_dev as u64, inode: stat.st_ino as u64 },
            len: stat.st_size as u64,
            links: stat.st_nlink as u64,
            mode: (stat.st_mode as u32) & 0o7777,
            modified: time(stat.st_mtime as i64, stat.st_mtime_nsec as u32),
            owner: (stat.st_uid, stat.st_gid),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as u32),
        }
    }
}

fn time(seconds: i64, nanoseconds: u32) -> Option<SystemTime> {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let at = if seconds < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(whole)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(whole)
    };
    at?.checked_add(Duration::from_nanos(u64::from(nanoseconds)))
}
