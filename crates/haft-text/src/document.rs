//! A whole text in memory, with the way from each character back to its bytes.

mod map;
mod splice;

use std::borrow::Cow;
use std::ops::Range;

use crate::breaks::{Breaks, Ending, Tally};
use crate::encoding::{Encoding, PREFIX, sniff};
use crate::window::{LineEnding, LineHash};
use map::Map;

pub(crate) use splice::Splice;
pub use splice::SpliceError;

/// The text of a file: decoded, and mapped back to the bytes it was decoded from.
///
/// Encoding and lines are what a [`Window`](crate::Window) on the same bytes shows. Malformed
/// sequences stand in the text as U+FFFD; they are positions that no search finds.
///
/// ```
/// use haft_text::Document;
///
/// let document = Document::new(b"caf\xe9\r\nth\xe9\r\n");
/// assert_eq!(document.text(), "caf\u{e9}\r\nth\u{e9}\r\n");
/// assert_eq!(document.encoding().name(), "windows-1252");
/// assert_eq!(document.lines().collect::<Vec<_>>(), ["caf\u{e9}", "th\u{e9}"]);
/// assert_eq!(document.bytes_of(3..5), 3..4);
/// ```
#[derive(Debug)]
pub struct Document<'a> {
    bytes: &'a [u8],
    encoding: Encoding,
    breaks: Breaks,
    text: Cow<'a, str>,
    map: Map,
    malformed: u64,
}

/// One line of a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'d> {
    /// Where it starts in the text.
    pub(crate) start: usize,
    pub(crate) content: &'d str,
    pub(crate) ending: Option<Ending>,
}

impl Line<'_> {
    /// Where its content ends in the text.
    pub(crate) fn content_end(&self) -> usize {
        self.start + self.content.len()
    }

    /// Where the next line starts in the text.
    pub(crate) fn end(&self) -> usize {
        self.content_end() + self.ending.map_or(0, |ending| ending.as_str().len())
    }
}

impl<'a> Document<'a> {
    /// Decodes the bytes of a file.
    pub fn new(bytes: &'a [u8]) -> Self {
        let prefix = bytes.get(..PREFIX).unwrap_or(bytes);
        let whole_input = bytes.len() < PREFIX;
        let encoding = sniff(prefix, whole_input);
        let breaks = Breaks::sniff(prefix, encoding.charset, whole_input);
        Self::read(bytes, encoding, breaks)
    }

    /// Decodes the bytes of a file that was this document before it was edited.
    pub(crate) fn again<'b>(&self, bytes: &'b [u8]) -> Document<'b> {
        Document::read(bytes, self.encoding, self.breaks)
    }

    fn read(bytes: &'a [u8], encoding: Encoding, breaks: Breaks) -> Self {
        let (text, map, malformed) = map::read(bytes, encoding);
        Self { bytes, encoding, breaks, text, map, malformed }
    }

    /// The bytes, byte order mark included.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The text, without its byte order mark and with its line ends as they are.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What the bytes are encoded in.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// How many malformed sequences stand in the text as U+FFFD.
    pub fn malformed(&self) -> u64 {
        self.malformed
    }

    /// The lines, without their ends.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.split(&self.text).map(|line| line.content)
    }

    /// The lines as hashes, the same as those of a window.
    pub fn line_hashes(&self) -> Vec<LineHash> {
        self.lines().map(LineHash::of).collect()
    }

    /// How many lines there are.
    pub fn line_count(&self) -> u64 {
        let text = self.text.as_bytes();
        let unended = !text.is_empty() && !self.breaks.ends_line(text);
        self.tally().total() + u64::from(unended)
    }

    /// How the lines end.
    pub fn line_ending(&self) -> LineEnding {
        self.tally().line_ending()
    }

    /// Whether the last line has a line end; false where there is no line.
    pub fn ends_with_newline(&self) -> bool {
        self.breaks.ends_line(self.text.as_bytes())
    }

    /// The bytes that a range of the text was decoded from.
    ///
    /// Both ends of the range are ends of characters; an end within one counts as its start.
    pub fn bytes_of(&self, range: Range<usize>) -> Range<usize> {
        let start = self.map.byte_at(self.bytes, range.start);
        start..self.map.byte_at(self.bytes, range.end).max(start)
    }

    /// Splits a text into lines by the rules of this document.
    pub(crate) fn split<'t>(&self, text: &'t str) -> impl Iterator<Item = Line<'t>> + use<'t> {
        let breaks = self.breaks;
        let mut start = 0;
        std::iter::from_fn(move || {
            let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
            let (content, next, ending) = match breaks.find(rest.as_bytes()) {
                Some(found) => (found.content, found.next, Some(found.ending)),
                None => (rest.len(), rest.len(), None),
            };
            let line = Line { start, content: rest.get(..content)?, ending };
            start += next;
            Some(line)
        })
    }

    pub(crate) fn breaks(&self) -> Breaks {
        self.breaks
    }

    pub(crate) fn tally(&self) -> Tally {
        self.breaks.count(self.text.as_bytes())
    }
}
