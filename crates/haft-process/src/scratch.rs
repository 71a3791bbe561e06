//! Temporary files and directories.

mod private;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Mutex;

use tempfile::TempDir;

pub(crate) use private::{Private, remove};

/// Makes an empty directory that nobody else can read; it goes with the value.
pub(crate) fn directory(scratch: &Path) -> io::Result<TempDir> {
    tempfile::Builder::new().prefix("haft-").tempdir_in(scratch)
}

/// A file without a name that holds the start of a stream.
#[derive(Debug)]
pub(crate) struct Spool {
    file: Mutex<File>,
    len: u64,
    cap: u64,
}

impl Spool {
    pub(crate) fn open(scratch: &Path, cap: u64) -> io::Result<Self> {
        Ok(Self { file: Mutex::new(tempfile::tempfile_in(scratch)?), len: 0, cap })
    }

    /// Returns how many bytes it holds.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Takes the next bytes, as far as they fit.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        let room = usize::try_from(self.cap.saturating_sub(self.len)).unwrap_or(usize::MAX);
        let bytes = bytes.get(..room.min(bytes.len())).unwrap_or_default();
        let file = self.file.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        file.write_all(bytes)?;
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// Reads everything it holds.
    pub(crate) fn read(&self) -> io::Result<Vec<u8>> {
        let mut file = self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        file.seek(SeekFrom::Start(0))?;
        let mut bytes = Vec::with_capacity(usize::try_from(self.len).unwrap_or(0));
        Read::by_ref(&mut *file).take(self.len).read_to_end(&mut bytes)?;
        file.seek(SeekFrom::End(0))?;
        Ok(bytes)
    }
}
