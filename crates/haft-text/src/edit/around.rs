use std::num::NonZeroUsize;

use crate::breaks::Ending;
use crate::document::Document;
use crate::find::Span;
use crate::grade::MatchGrade;

/// What makes one of several places the only one: text to put before and after both `old` and `new`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Around {
    /// The line that the place starts in.
    pub line: u64,
    /// The text before it.
    pub before: String,
    /// The text after it.
    pub after: String,
}

/// How many times more is tried.
const TRIES: usize = 6;

/// The most bytes of text that make a place the only one.
const MOST: usize = 2_000;

/// Looks for the fewest whole lines around a place that stand nowhere else.
pub(super) fn around(document: &Document<'_>, span: &Span) -> Option<Around> {
    let text = document.text();
    let mut range = span.text.clone();
    for attempt in 0..TRIES {
        if attempt % 2 == 0 {
            range.start = line_start(document, range.start)?;
        } else {
            range.end = line_end(document, range.end)?;
        }
        if range.len() > MOST + span.text.len() {
            return None;
        }
        let wider = text.get(range.clone())?;
        if wider.contains(char::REPLACEMENT_CHARACTER) {
            return None;
        }
        let found = document.find(wider, MatchGrade::Exact, NonZeroUsize::MIN)?;
        if !found.has_more && !found.is_overlapping {
            return Some(Around {
                line: span.first_line,
                before: text.get(range.start..span.text.start)?.to_owned(),
                after: text.get(span.text.end..range.end)?.to_owned(),
            });
        }
    }
    None
}

/// Where the line of a position starts; where it starts there, the line before.
fn line_start(document: &Document<'_>, position: usize) -> Option<usize> {
    let text = document.text().get(..position)?;
    let near = text.get(text.ceil_char_boundary(text.len().saturating_sub(MOST))..)?;
    let mut inner = near;
    if document.breaks().ends_line(near.as_bytes()) {
        inner = inner.strip_suffix("\r\n").or_else(|| inner.strip_suffix(['\r', '\n']))?;
    }
    let mut last = 0;
    for line in document.split(inner) {
        last = if line.ending.is_some() { line.end() } else { line.start };
    }
    Some(text.len() - near.len() + last)
}

/// Where the line of a position ends, before its line end; where it ends there, the line after.
fn line_end(document: &Document<'_>, position: usize) -> Option<usize> {
    let rest = document.text().get(position..)?;
    let mut lines = document.split(rest);
    let first = lines.next()?;
    if !first.content.is_empty() {
        return Some(position + first.content_end());
    }
    first.ending.map(Ending::as_str)?;
    Some(position + lines.next()?.content_end())
}
