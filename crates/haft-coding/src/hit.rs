//! One match, cut to what is shown of it.

use std::borrow::Cow;
use std::ops::Range;

use haft_protocol::limits;
use haft_text::{around, head, visible};

/// Bytes of a row beside its text: the number, the sign after it, and the line end.
const BESIDE: usize = 8;

/// Lines of one match that are shown.
const LINES: usize = limits::SEARCH_CONTEXT_LINES as usize;

/// One match with the lines around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    /// The number of its first line.
    pub(crate) line: u64,
    /// Bytes before the match in that line.
    pub(crate) column: usize,
    /// Its lines, or what is shown of them.
    pub(crate) text: Vec<String>,
    /// Whether the text is less than the lines.
    pub(crate) is_cut: bool,
    /// How many lines it goes over.
    pub(crate) lines: u64,
    /// Lines before it that do not stand with the match before.
    pub(crate) before: Vec<String>,
    /// Lines after it, up to the next match.
    pub(crate) after: Vec<String>,
}

impl Hit {
    /// Cuts the lines of a match around it. `matched` is where the match stands in `lines`.
    pub(crate) fn new(line: u64, lines: &[u8], matched: Range<usize>, before: Vec<String>) -> Self {
        let mut split = without_end(lines).split(|byte| *byte == b'\n').map(without_end);
        let first = split.next().unwrap_or_default();
        let column = matched.start.min(first.len());
        let (text, mut is_cut) = excerpt(first, column..matched.end.clamp(column, first.len()));
        let mut text = vec![text];
        let mut count = 1;
        for line in split {
            count += 1;
            if text.len() < LINES {
                let (line, is_line_cut) = excerpt(line, 0..0);
                is_cut |= is_line_cut;
                text.push(line);
            }
        }
        is_cut |= count > text.len() as u64;
        Self { line, column, text, is_cut, lines: count, before, after: Vec::new() }
    }

    /// Returns how many bytes it takes to show the match, without lines after it.
    pub(crate) fn bytes(&self) -> usize {
        self.before.iter().chain(&self.text).map(|line| row_bytes(line)).sum()
    }
}

/// Returns how many bytes a row takes when it is shown.
pub(crate) fn row_bytes(text: &str) -> usize {
    visible(text).len() + BESIDE
}

/// Cuts a line of context.
pub(crate) fn context_line(line: &[u8]) -> String {
    excerpt(without_end(line), 0..0).0
}

pub(crate) fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Cuts a line around a match, and tells whether something was cut.
pub(crate) fn excerpt(line: &[u8], matched: Range<usize>) -> (String, bool) {
    let most = limits::SEARCH_LINE_BYTES;
    if line.len() <= most {
        return (String::from_utf8_lossy(line).into_owned(), false);
    }
    // Only what could be shown is decoded: such a line may have megabytes.
    let part = |range: Range<usize>| -> Cow<'_, str> {
        String::from_utf8_lossy(line.get(range).unwrap_or_default())
    };
    let end = matched.end.min(matched.start.saturating_add(most));
    let before = part(matched.start.saturating_sub(most)..matched.start);
    let hit = part(matched.start..end);
    let after = part(end..line.len().min(end.saturating_add(most)));
    let text = [before.as_ref(), hit.as_ref(), after.as_ref()].concat();
    let at = before.len();
    if matched.is_empty() && at == 0 {
        return (format!("{}…", head(&text, most - '…'.len_utf8())), true);
    }
    (around(&text, at..at + hit.len(), most).text, true)
}
