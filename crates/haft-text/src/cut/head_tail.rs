use std::collections::VecDeque;
use std::fmt;

use super::write_cut;

/// Keeps the first and the last bytes of an endless stream and counts the rest.
///
/// Memory is bounded by the two caps, whatever is pushed. A cap of 0 keeps nothing.
///
/// ```
/// use haft_text::HeadTail;
///
/// let mut output = HeadTail::new(4, 4);
/// for piece in [&b"start "[..], b"and a long middle ", b"end"] {
///     output.push(piece);
/// }
/// assert_eq!(output.total(), 27);
/// assert_eq!(output.kept().to_string(), "star\n… [19 bytes left out] …\n end");
/// ```
#[derive(Clone, Debug)]
pub struct HeadTail {
    head_cap: usize,
    tail_cap: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl HeadTail {
    /// Starts an empty stream of which the first `head_cap` and the last `tail_cap` bytes stay.
    pub fn new(head_cap: usize, tail_cap: usize) -> Self {
        Self { head_cap, tail_cap, head: Vec::new(), tail: VecDeque::new(), total: 0 }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.total = self.total.saturating_add(bytes.len() as u64);
        let room = bytes.len().min(self.head_cap - self.head.len());
        let (head, rest) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
        self.head.extend_from_slice(head);

        let last = rest.get(rest.len().saturating_sub(self.tail_cap)..).unwrap_or_default();
        let surplus = (self.tail.len() + last.len()).saturating_sub(self.tail_cap);
        self.tail.drain(..surplus);
        self.tail.extend(last);
    }

    /// How many bytes were pushed.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// How many bytes were pushed but not kept.
    pub fn left_out(&self) -> u64 {
        self.total.saturating_sub((self.head.len() + self.tail.len()) as u64)
    }

    /// The first bytes.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// The last bytes, those in [`head`](Self::head) apart, in two pieces.
    pub fn tail(&self) -> (&[u8], &[u8]) {
        self.tail.as_slices()
    }

    /// Decodes what was kept as UTF-8.
    ///
    /// A character that was cut by leaving bytes out counts as left out; other malformed sequences
    /// become U+FFFD.
    pub fn kept(&self) -> Kept {
        let mut kept = self.head.clone();
        let (front, back) = self.tail.as_slices();
        if self.left_out() == 0 {
            kept.extend_from_slice(front);
            kept.extend_from_slice(back);
            let head = String::from_utf8_lossy(&kept).into_owned();
            return Kept { head, tail: String::new(), left_out: 0, total: self.total };
        }
        let whole = without_cut_end(&self.head);
        let tail = [front, back].concat();
        let start = tail.iter().take(3).take_while(|&&byte| is_continuation(byte)).count();
        let rest = tail.get(start..).unwrap_or_default();
        Kept {
            head: String::from_utf8_lossy(whole).into_owned(),
            tail: String::from_utf8_lossy(rest).into_owned(),
            left_out: self.total.saturating_sub((whole.len() + rest.len()) as u64),
            total: self.total,
        }
    }
}

/// The start and the end of a stream as text. Displays as both with a marker between them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Kept {
    /// The start, or the whole text when nothing was left out.
    pub head: String,
    /// The end; empty when `head` is the whole text.
    pub tail: String,
    /// How many bytes stand between them.
    pub left_out: u64,
    /// How many bytes the stream had.
    pub total: u64,
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_cut(f, &self.head, self.left_out, &self.tail)
    }
}

/// Drops the first bytes of a character whose last bytes are missing.
fn without_cut_end(bytes: &[u8]) -> &[u8] {
    let cut = match bytes.utf8_chunks().last().map(|chunk| chunk.invalid()) {
        Some(invalid) if std::str::from_utf8(invalid).is_err_and(|e| e.error_len().is_none()) => {
            invalid.len()
        }
        _ => 0,
    };
    bytes.get(..bytes.len() - cut).unwrap_or_default()
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}
