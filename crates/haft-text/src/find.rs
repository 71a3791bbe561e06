//! Finding the place that an edit is for.

mod exact;
mod folded;
mod hits;
mod shift;

use std::num::NonZeroUsize;
use std::ops::Range;

use crate::breaks::Breaks;
use crate::document::Document;
use crate::grade::MatchGrade;
use crate::stop::{CalledOff, Stop};

pub(crate) use shift::Shift;

/// Where a text was found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Found {
    /// The first grade by which it was found anywhere.
    pub grade: MatchGrade,
    /// The places, in order; at least one.
    pub spans: Vec<Span>,
    /// Whether the last two places share characters, as those of `aa` in `aaa` do. The search ends
    /// there.
    pub is_overlapping: bool,
    /// Whether there are more places than were asked for.
    pub has_more: bool,
}

/// One place in a document.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Span {
    /// Its bytes in the file.
    pub bytes: Range<usize>,
    /// Its bytes in the [text](Document::text) of the document.
    pub text: Range<usize>,
    /// The line it starts in, from 1.
    pub first_line: u64,
    /// The line its last character is in; the end of a line is in that line.
    pub last_line: u64,
    /// How lines are indented there, measured by what was looked for.
    pub(crate) shift: Shift,
    /// Whether its first line is shifted like the others.
    pub(crate) shifts_first: bool,
}

impl Document<'_> {
    /// Looks for a text, by one grade after another up to the `highest`, and returns at most `most`
    /// places.
    ///
    /// A place is never found
    ///
    /// * across more or fewer lines than `old` has;
    /// * in malformed bytes, which stand in the text as U+FFFD;
    /// * from the second half of a CR LF on, by the exact grade: what begins with LF is found there
    ///   by the next one;
    /// * by more than line endings where `old` is nothing but white space.
    ///
    /// Nothing is found where `old` is empty. The search takes time in proportion to the document;
    /// where `old` is so repetitive that it would not, it is given up and nothing is found.
    ///
    /// ```
    /// use std::num::NonZeroUsize;
    /// use haft_text::{Document, MatchGrade};
    ///
    /// let document = Document::new(b"if x {\r\n    y();\r\n}\r\n");
    /// let found = document.find("y();\n}", MatchGrade::LookAlike, NonZeroUsize::MIN).unwrap();
    /// assert_eq!(found.grade, MatchGrade::LineEnding);
    /// assert_eq!(found.spans[0].bytes, 12..19);
    /// assert_eq!((found.spans[0].first_line, found.spans[0].last_line), (2, 3));
    /// ```
    pub fn find(&self, old: &str, highest: MatchGrade, most: NonZeroUsize) -> Option<Found> {
        self.find_until(old, highest, most, &|| false).unwrap_or_default()
    }

    /// Looks for a text like [`find`](Self::find), until the word to stop.
    pub(crate) fn find_until(
        &self,
        old: &str,
        highest: MatchGrade,
        most: NonZeroUsize,
        stop: Stop<'_>,
    ) -> Result<Option<Found>, CalledOff> {
        if old.is_empty() {
            return Ok(None);
        }
        let tried = MatchGrade::ALL.into_iter().filter(|grade| *grade <= highest);
        for grade in tried.filter(|grade| self.is_worth_trying(*grade, old)) {
            let hits = match grade {
                MatchGrade::Exact => exact::find(self, old, most, stop)?,
                _ => folded::find(self, old, grade, most, stop)?,
            };
            if !hits.places.is_empty() {
                return Ok(Some(self.found(grade, hits)));
            }
        }
        Ok(None)
    }

    /// Whether a grade can find what those before it did not.
    fn is_worth_trying(&self, grade: MatchGrade, old: &str) -> bool {
        match grade {
            MatchGrade::Exact => true,
            MatchGrade::LineEnding => {
                old.contains(['\r', '\n']) && (old.contains('\r') || self.text().contains('\r'))
            }
            _ => old.chars().any(|char| !char.is_whitespace()),
        }
    }

    fn found(&self, grade: MatchGrade, hits: hits::Hits) -> Found {
        let mut lines = LineNumbers::new(self);
        let spans = hits.places.into_iter().map(|place| {
            let last = self.text().floor_char_boundary(place.text.end.saturating_sub(1));
            let first_line = lines.at(place.text.start);
            // The next place may begin before this one ends.
            let last_line = lines.clone().at(last);
            Span {
                bytes: self.bytes_of(place.text.clone()),
                text: place.text,
                first_line,
                last_line,
                shift: place.shift,
                shifts_first: place.shifts_first,
            }
        });
        Found {
            grade,
            spans: spans.collect(),
            is_overlapping: hits.is_overlapping,
            has_more: hits.has_more,
        }
    }
}

/// Counts lines up to positions that do not decrease.
#[derive(Clone)]
pub(crate) struct LineNumbers<'d> {
    text: &'d str,
    breaks: Breaks,
    at: usize,
    line: u64,
}

impl<'d> LineNumbers<'d> {
    pub(crate) fn new(document: &'d Document<'_>) -> Self {
        Self { text: document.text(), breaks: document.breaks(), at: 0, line: 1 }
    }

    /// The number of the line that a position is in. Within a CR LF that is the line it ends.
    pub(crate) fn at(&mut self, position: usize) -> u64 {
        let bytes = self.text.as_bytes();
        let before = position.checked_sub(1).and_then(|before| bytes.get(before));
        let within = (before, bytes.get(position)) == (Some(&b'\r'), Some(&b'\n'));
        let position = position - usize::from(within);
        if let Some(passed) = bytes.get(self.at..position) {
            self.line += self.breaks.count(passed).total();
            self.at = position;
        }
        self.line
    }
}
