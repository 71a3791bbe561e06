//! Whether the log of latest writes is whole.
//!
//! SQLite takes a log up to its first frame that is not right for what there is, and forgets the rest without a word.
//! That suits a process that was killed within a write. It does not suit records that were committed and are gone.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};
use std::path::Path;

const HEADER_BYTES: usize = 32;
const FRAME_HEADER_BYTES: usize = 24;

/// What a log begins with; the last bit tells the order of bytes in its sums.
const MAGIC: u32 = 0x377f_0682;

/// Tells whether a log has lost writes that were committed. One that is not there, or is empty, has not.
pub(super) fn is_damaged(log: &Path) -> io::Result<bool> {
    let file = match File::open(log) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    let mut file = BufReader::with_capacity(128 * 1024, file);
    let mut header = [0; HEADER_BYTES];
    match fill(&mut file, &mut header)? {
        0 => return Ok(false),
        HEADER_BYTES => {}
        _ => return Ok(true),
    }
    let magic = word(&header, 0);
    let mut sum = Sum { little: magic & 1 == 0, one: 0, two: 0 };
    let (before_sum, _) = header.split_at(HEADER_BYTES - 8);
    sum.add(before_sum);
    let page = usize::try_from(word(&header, 8)).unwrap_or(usize::MAX);
    let is_size = page.is_power_of_two() && (512..=65_536).contains(&page);
    if magic & !1 != MAGIC || !sum.is(&header, 24) || !is_size {
        return Ok(true);
    }
    let salts = (word(&header, 16), word(&header, 20));
    let mut frame = vec![0; FRAME_HEADER_BYTES + page];
    let mut is_whole = true;
    while fill(&mut file, &mut frame)? == frame.len() {
        let (head, content) = frame.split_at(FRAME_HEADER_BYTES);
        let is_of_this_log = (word(head, 8), word(head, 12)) == salts;
        if is_whole {
            sum.add(head.get(..8).unwrap_or_default());
            sum.add(content);
            is_whole = is_of_this_log && sum.is(head, 16);
        }
        let is_commit = word(head, 4) != 0;
        // Frames of an earlier use of the file have other salts. What was not committed is no loss.
        if !is_whole && is_of_this_log && is_commit {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The running sum over a log.
struct Sum {
    little: bool,
    one: u32,
    two: u32,
}

impl Sum {
    fn add(&mut self, bytes: &[u8]) {
        let read = if self.little { u32::from_le_bytes } else { u32::from_be_bytes };
        for [first, second] in bytes.as_chunks::<4>().0.as_chunks::<2>().0 {
            self.one = self.one.wrapping_add(read(*first)).wrapping_add(self.two);
            self.two = self.two.wrapping_add(read(*second)).wrapping_add(self.one);
        }
    }

    fn is(&self, bytes: &[u8], at: usize) -> bool {
        (self.one, self.two) == (word(bytes, at), word(bytes, at + 4))
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |word| u32::from_be_bytes(*word))
}

/// Fills a buffer as far as there are bytes, and returns how many there were.
fn fill(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read(rest) {
            Ok(0) => break,
            Ok(bytes) => filled += bytes,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
