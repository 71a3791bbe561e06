//! What a command wrote to one of its streams.

use std::io;
use std::path::{Path, PathBuf};

use haft_text::{HeadTail, Kept};

use crate::command::Capture;
use crate::scratch::Spool;

/// What a command wrote to one of its streams: start and end in memory, more of it on disk, all of it counted.
#[derive(Debug)]
pub struct Captured {
    ends: HeadTail,
    spool: Option<Spool>,
}

impl Captured {
    /// Returns how many bytes were written.
    pub fn total(&self) -> u64 {
        self.ends.total()
    }

    /// Returns the start and the end as text; malformed UTF-8 becomes U+FFFD.
    pub fn kept(&self) -> Kept {
        self.ends.kept()
    }

    /// Returns the start and the end as they were written.
    pub fn ends(&self) -> &HeadTail {
        &self.ends
    }

    /// Tells whether start and end are everything.
    pub fn is_whole(&self) -> bool {
        self.ends.left_out() == 0
    }

    /// Returns how many bytes from the start on [`bytes`](Self::bytes) gives.
    pub fn available(&self) -> u64 {
        match &self.spool {
            Some(spool) => spool.len(),
            None if self.is_whole() => self.total(),
            None => self.ends.head().len() as u64,
        }
    }

    /// Returns the bytes from the start on, as many as were kept. Blocks where they are on disk.
    ///
    /// # Errors
    ///
    /// Fails when the temporary file cannot be read.
    pub fn bytes(&self) -> io::Result<Vec<u8>> {
        if let Some(spool) = &self.spool {
            return spool.read();
        }
        let mut bytes = self.ends.head().to_vec();
        if self.is_whole() {
            let (front, back) = self.ends.tail();
            bytes.extend_from_slice(front);
            bytes.extend_from_slice(back);
        }
        Ok(bytes)
    }
}

/// A stream that is being captured.
#[derive(Debug)]
pub(crate) struct Collector {
    captured: Captured,
    capture: Capture,
    scratch: PathBuf,
    is_spooling: bool,
}

impl Collector {
    pub(crate) fn new(capture: Capture, scratch: &Path) -> Self {
        Self {
            captured: Captured { ends: HeadTail::new(capture.head, capture.tail), spool: None },
            capture,
            scratch: scratch.to_owned(),
            is_spooling: capture.spool > 0,
        }
    }

    /// Takes the next bytes. What cannot go to disk is counted all the same.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.is_spooling && self.spool(bytes).is_err() {
            self.is_spooling = false;
        }
        self.captured.ends.push(bytes);
    }

    fn spool(&mut self, bytes: &[u8]) -> io::Result<()> {
        let in_memory = self.captured.ends.total();
        let fits = (self.capture.head + self.capture.tail) as u64;
        if let Some(spool) = &mut self.captured.spool {
            return spool.push(bytes);
        }
        if in_memory + bytes.len() as u64 <= fits {
            return Ok(());
        }
        // Everything so far is still in memory: the file begins with it.
        let mut spool = Spool::open(&self.scratch, self.capture.spool)?;
        spool.push(&self.captured.bytes()?)?;
        spool.push(bytes)?;
        self.captured.spool = Some(spool);
        Ok(())
    }

    pub(crate) fn finish(self) -> Captured {
        self.captured
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collected(pieces: &[&[u8]], capture: Capture) -> Captured {
        let scratch = tempfile::tempdir().unwrap();
        let mut collector = Collector::new(capture, scratch.path());
        for piece in pieces {
            collector.push(piece);
        }
        collector.finish()
    }

    #[test]
    fn what_fits_in_memory_needs_no_file() {
        let captured = collected(&[b"abc", b"defgh"], Capture { head: 4, tail: 4, spool: 100 });
        assert!(captured.spool.is_none() && captured.is_whole());
        assert_eq!(captured.bytes().unwrap(), b"abcdefgh");
    }

    #[test]
    fn the_whole_is_on_disk_from_the_first_byte_on() {
        let captured =
            collected(&[b"abc", b"defgh", b"ijk"], Capture { head: 4, tail: 4, spool: 100 });
        assert_eq!((captured.total(), captured.ends().left_out()), (11, 3));
        assert_eq!(captured.bytes().unwrap(), b"abcdefghijk");
    }

    #[test]
    fn the_file_has_a_cap_and_the_count_has_none() {
        let captured =
            collected(&[&b"abcdefghijk"[..]; 3], Capture { head: 4, tail: 4, spool: 13 });
        assert_eq!((captured.total(), captured.available()), (33, 13));
        assert_eq!(captured.bytes().unwrap(), b"abcdefghijkab");
    }

    #[test]
    fn a_directory_that_takes_no_file_costs_only_the_middle() {
        let capture = Capture { head: 4, tail: 4, spool: 100 };
        let mut collector = Collector::new(capture, Path::new("/nonexistent"));
        collector.push(b"abcdefghijk");
        let captured = collector.finish();
        assert_eq!((captured.total(), captured.available()), (11, 4));
        assert_eq!(captured.kept().to_string(), "abcd\n… [3 bytes left out] …\nhijk");
    }
}
