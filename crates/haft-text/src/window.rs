//! A numbered window of lines, read from a stream in constant memory.

mod reading;
mod render;
mod row;
mod scan;

use std::fmt;
use std::io::{self, Read};
use std::num::NonZeroU32;

use crate::digits::grouped;
use crate::encoding::Encoding;

pub use row::{LineCut, LineHash, Row};

/// The lines of a stream from an offset on, as many as fit.
///
/// # Lines
///
/// `\n` and `\r\n` end a line. A lone `\r` is content, shown escaped, unless the first 64 KiB hold
/// a `\r` and no `\n` at all (files of the classic Mac): then `\r`, `\n` and `\r\n` all end a line.
/// What follows the last line end is a line when it is not empty, so an empty stream has no lines
/// and `"\n"` has one.
///
/// Sizes count bytes of decoded text, UTF-8, without line ends and the byte order mark.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Window {
    /// The lines in the window. Empty only when the stream has no line at the offset.
    pub rows: Vec<Row>,
    /// How many lines the stream has.
    pub total: Total,
    /// The offset at which the next window starts, nothing when the stream ended before it.
    ///
    /// When the last row was cut and its end never seen, it is unknown whether a line stands there.
    pub next_offset: Option<u64>,
    /// What the stream is encoded in, guessed from its first 64 KiB.
    pub encoding: Encoding,
    /// Malformed sequences that became U+FFFD in the lines of the window. In UTF-16, those of
    /// every byte that was read.
    pub invalid: u64,
    /// How lines end in the part that was read.
    pub line_ending: LineEnding,
    /// Whether the last line of the stream has a line end.
    pub final_newline: FinalNewline,
    /// Why the window has no more rows.
    pub stopped: Stopped,
    /// How many bytes were read from the stream.
    pub bytes_read: u64,
}

/// What to read, and how much of it.
#[derive(Clone, Debug)]
pub struct WindowRequest {
    /// The number of the first line, from 1; 0 means 1.
    pub offset: u64,
    /// How many bytes of that first line to pass over: 0, or [`LineCut::next_column`] of an
    /// earlier window, to go on inside a line that was cut.
    pub column: u64,
    /// The most rows.
    pub limit: NonZeroU32,
    /// The most bytes of all rows together, with one more between two rows. The first row is cut
    /// to fit; a later row that does not fit is left to the next window.
    pub max_bytes: usize,
    /// The most bytes of one row; longer lines are cut at a character. Values below 4, the longest
    /// character, count as 4 for both caps, so that every window makes progress.
    pub max_line_bytes: usize,
    /// How far into the stream, in bytes, lines are counted once the window is full. It also limits
    /// how many bytes are read to find the ends of lines that were cut.
    pub count_to: u64,
}

impl Window {
    /// Reads a window from the start of a stream.
    ///
    /// Memory stays constant whatever the stream holds: one buffer of 64 KiB, one chunk of decoded
    /// text, and the rows. Lines before the offset are skipped at the speed of a byte search.
    /// `cancelled` is asked before each read.
    ///
    /// # Errors
    ///
    /// [`WindowError::Read`] when the stream fails, [`WindowError::Cancelled`] when asked to stop.
    ///
    /// ```
    /// use std::num::NonZeroU32;
    /// use haft_text::{Total, Window, WindowRequest};
    ///
    /// let request = WindowRequest {
    ///     offset: 2,
    ///     column: 0,
    ///     limit: NonZeroU32::new(2).unwrap(),
    ///     max_bytes: 64 * 1024,
    ///     max_line_bytes: 2000,
    ///     count_to: 16 * 1024 * 1024,
    /// };
    /// let window = Window::read(&b"one\ntwo\nthree\nfour"[..], &request, &|| false)?;
    /// assert_eq!(window.render(), "2\ttwo\n3\tthree");
    /// assert_eq!(window.total, Total::Exact(4));
    /// assert_eq!(window.next_offset, Some(4));
    /// # Ok::<(), haft_text::WindowError>(())
    /// ```
    pub fn read(
        mut reader: impl Read,
        request: &WindowRequest,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Self, WindowError> {
        reading::read(&mut reader, request, cancelled, reading::BUFFER)
    }
}

/// An amount that may not be known to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Total {
    /// Exactly this many.
    Exact(u64),
    /// At least this many; counting stopped here.
    AtLeast(u64),
}

impl Total {
    /// The number that is certain.
    pub fn known(self) -> u64 {
        match self {
            Self::Exact(known) | Self::AtLeast(known) => known,
        }
    }

    /// What is left after `part`.
    #[must_use]
    pub fn minus(self, part: u64) -> Self {
        match self {
            Self::Exact(known) => Self::Exact(known.saturating_sub(part)),
            Self::AtLeast(known) => Self::AtLeast(known.saturating_sub(part)),
        }
    }
}

impl fmt::Display for Total {
    /// Writes `12 345`, or `at least 12 345`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::AtLeast(_) = self {
            f.write_str("at least ")?;
        }
        f.write_str(&grouped(self.known()))
    }
}

/// How the lines of a text end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LineEnding {
    /// `\n` everywhere.
    Lf,
    /// `\r\n` everywhere.
    Crlf,
    /// `\r` everywhere.
    Cr,
    /// More than one of them.
    Mixed,
    /// No line end was met.
    None,
}

/// Whether the last line of a text has a line end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FinalNewline {
    /// It has.
    Present,
    /// It has not, or there is no line.
    Missing,
    /// The end was not read.
    Unseen,
}

/// Why a window has no more rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stopped {
    /// The stream has no more lines.
    End,
    /// The window has as many rows as were asked for.
    Lines,
    /// The next row did not fit, or the end of a cut line was too far away.
    Bytes,
}

/// Why a window could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WindowError {
    /// The stream failed.
    #[error("reading failed after {bytes_read} bytes")]
    Read {
        /// How many bytes came before.
        bytes_read: u64,
        /// What the stream said.
        #[source]
        source: io::Error,
    },
    /// The caller asked to stop.
    #[error("reading was cancelled after {bytes_read} bytes")]
    Cancelled {
        /// How many bytes were read until then.
        bytes_read: u64,
    },
}
