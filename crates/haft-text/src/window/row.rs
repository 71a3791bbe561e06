use std::fmt;
use std::hash::Hasher;

use siphasher::sip128::{Hasher128, SipHasher24};

use super::Total;

/// One line in a window.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row {
    /// The line number, from 1.
    pub number: u64,
    /// The text without its line end, exactly as decoded: [`visible`](crate::visible()) has not seen
    /// it yet.
    pub text: String,
    /// How many bytes of the line stand before `text`; not 0 only where the request asked to start
    /// inside the line.
    pub column: u64,
    /// What is left out after `text`; nothing when the rest of the line is shown.
    pub cut: Option<LineCut>,
    /// Stands for the content of the full line, shown or not.
    pub hash: LineHash,
}

/// Where a row breaks off before its line does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LineCut {
    /// The length of the row's text, in bytes.
    pub shown_bytes: usize,
    /// The length of the full line, in bytes.
    pub line_bytes: Total,
    /// The column at which a further window of this line goes on.
    pub next_column: u64,
}

impl Row {
    /// How many bytes of the line are left out after the text.
    pub fn left_out(&self) -> Total {
        self.cut.map_or(Total::Exact(0), |cut| cut.line_bytes.minus(cut.next_column))
    }
}

/// A 128-bit fingerprint of the decoded content of a line, without its line end.
///
/// Equal lines have equal hashes in every run, release and platform, whatever their encoding and
/// line ends. A line whose end was not read has a hash that no full line shares.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LineHash([u8; 16]);

impl LineHash {
    /// Hashes a full line.
    ///
    /// ```
    /// use haft_text::LineHash;
    ///
    /// assert_ne!(LineHash::of("let x = 1;"), LineHash::of("let x = 1; "));
    /// ```
    pub fn of(line: &str) -> Self {
        let mut hasher = LineHasher::default();
        hasher.write(line);
        hasher.full()
    }

    /// The bytes, for storage.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0
    }

    /// Restores a hash from stored bytes.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for LineHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LineHash({:032x})", u128::from_be_bytes(self.0))
    }
}

/// Builds a [`LineHash`] from the pieces of a line.
#[derive(Clone, Default)]
pub(super) struct LineHasher(SipHasher24);

impl LineHasher {
    pub(super) fn write(&mut self, piece: &str) {
        self.0.write(piece.as_bytes());
    }

    pub(super) fn full(self) -> LineHash {
        LineHash(self.0.finish128().as_bytes())
    }

    /// A newline cannot be in a full line, so it sets this hash apart.
    pub(super) fn unfinished(mut self) -> LineHash {
        self.write("\n");
        self.full()
    }
}

/// A row that is being read.
#[derive(Default)]
pub(super) struct OpenRow {
    text: String,
    cap: usize,
    column: u64,
    start: Option<u64>,
    seen: u64,
    cut: bool,
    hasher: LineHasher,
}

impl OpenRow {
    /// Starts a row that keeps at most `cap` bytes after the first `column`.
    pub(super) fn new(column: u64, cap: usize) -> Self {
        Self { cap, column, ..Self::default() }
    }

    /// Takes the next decoded piece of the line.
    pub(super) fn take(&mut self, piece: &str) {
        self.hasher.write(piece);
        let before = self.seen;
        self.seen += piece.len() as u64;
        if self.cut || self.seen <= self.column {
            return;
        }
        let skip = usize::try_from(self.column.saturating_sub(before)).unwrap_or(usize::MAX);
        let skip = piece.ceil_char_boundary(skip);
        let piece = piece.get(skip..).unwrap_or_default();
        if piece.is_empty() {
            return;
        }
        self.start.get_or_insert(before + skip as u64);
        let room = self.cap.saturating_sub(self.text.len());
        self.cut = piece.len() > room;
        let kept = piece.get(..piece.floor_char_boundary(room)).unwrap_or_default();
        self.text.push_str(kept);
    }

    /// The most bytes that the row keeps.
    pub(super) fn cap(&self) -> usize {
        self.cap
    }

    /// Whether the line is longer than the row may be.
    pub(super) fn is_cut(&self) -> bool {
        self.cut
    }

    /// Ends the row; `ended` says whether the line has ended too.
    pub(super) fn close(self, number: u64, ended: bool) -> Row {
        let column = self.start.unwrap_or(self.seen);
        let next_column = column + self.text.len() as u64;
        let line_bytes = if ended { Total::Exact(self.seen) } else { Total::AtLeast(self.seen) };
        let cut =
            self.cut.then_some(LineCut { shown_bytes: self.text.len(), line_bytes, next_column });
        let hash = if ended { self.hasher.full() } else { self.hasher.unfinished() };
        Row { number, text: self.text, column, cut, hash }
    }
}
