//! The place that is most like a text that stands nowhere.

mod align;
mod likeness;

use std::ops::Range;

use crate::document::{Document, Line};
use crate::find::Span;
use crate::grade::MatchGrade;
use crate::stop::{CalledOff, Stop};
use likeness::{Alike, Likeness, lines_like};

pub(crate) use align::changes;

/// A place in a document that is like a text, and how it differs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Nearest {
    /// The first line of the place, from 1.
    pub first_line: u64,
    /// The last.
    pub last_line: u64,
    /// Its lines, as the file has them, without the last line end; cut to 4 KiB.
    pub text: String,
    /// Where the first difference is.
    pub differs: Difference,
    /// Which part of the lines the text stands for, where it surely is the place that was meant.
    pub(crate) part: Option<Range<usize>>,
}

/// What came of looking for the nearest place.
pub(crate) struct Nearby {
    pub(crate) nearest: Option<Nearest>,
    /// How many lines were looked at, where not all were.
    pub(crate) looked_at: Option<u64>,
}

/// The first difference between a text and a place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The line of the file, from 1.
    pub line: u64,
    /// The character of that line, from 1.
    pub column: u64,
    /// What the text has from there on, up to 24 characters; empty where it ends.
    pub given: String,
    /// What the file has from there on.
    pub there: String,
}

/// The most bytes of a place that are shown.
const SHOWN: usize = 4 * 1024;

/// The most bytes of a place that is taken for the one that was meant.
const PART: usize = 4 * 1024;

/// How many characters are shown from a difference on.
const DIFFERENCE: usize = 24;

/// From which likeness on, in hundredths, the place is taken for the one that was meant.
const MEANT: u32 = 55;

impl Document<'_> {
    /// Finds the lines that are most like a text; nothing where none are alike.
    ///
    /// Takes time in proportion to the document; of one with millions of lines, the first are looked at.
    ///
    /// ```
    /// use haft_text::Document;
    ///
    /// let document = Document::new(b"def foo():\n    x = 1\n    return x\n");
    /// let nearest = document.nearest("    x  =  1").unwrap();
    /// assert_eq!((nearest.first_line, nearest.text.as_str()), (2, "    x = 1"));
    /// assert_eq!((nearest.differs.column, nearest.differs.there.as_str()), (7, "= 1"));
    /// ```
    pub fn nearest(&self, old: &str) -> Option<Nearest> {
        self.nearby(old, &|| false).ok()?.nearest
    }

    /// Finds the nearest place, and tells how far it was looked for.
    pub(crate) fn nearby(&self, old: &str, stop: Stop<'_>) -> Result<Nearby, CalledOff> {
        let pieces: Vec<&str> = self.split(old).map(|line| line.content).collect();
        let Alike { place, looked_at } = lines_like(self, &pieces, stop)?;
        let nearest = place.and_then(|(first, likeness)| {
            let lines = self.split(self.text()).skip(first).take(pieces.len()).collect();
            self.compared(old, &pieces, first, lines, likeness)
        });
        Ok(Nearby { nearest, looked_at })
    }

    /// Compares a text to a place where it was found by some grade.
    pub(crate) fn nearest_of(&self, span: &Span, old: &str) -> Nearest {
        let pieces: Vec<&str> = self.split(old).map(|line| line.content).collect();
        let first = usize::try_from(span.first_line).unwrap_or(1).saturating_sub(1);
        let count = usize::try_from(span.last_line).unwrap_or(1).saturating_sub(first);
        let lines: Vec<_> = self.split(self.text()).skip(first).take(count).collect();
        let same = Likeness::SAME;
        self.compared(old, &pieces, first, lines, same).unwrap_or_else(|| Nearest {
            first_line: span.first_line,
            last_line: span.last_line,
            text: String::new(),
            differs: Difference {
                line: span.first_line,
                column: 1,
                given: String::new(),
                there: String::new(),
            },
            part: None,
        })
    }

    fn compared(
        &self,
        old: &str,
        pieces: &[&str],
        first: usize,
        lines: Vec<Line<'_>>,
        likeness: Likeness,
    ) -> Option<Nearest> {
        let (from, to) = (lines.first()?, lines.last()?);
        let whole = self.text().get(from.start..to.content_end())?;
        let aligned = align::aligned(pieces, &lines);
        let range = aligned.clone().unwrap_or(from.start..to.content_end());
        let ends_line = self.breaks().ends_line(old.as_bytes());
        let end = if ends_line && range.end == to.content_end() { to.end() } else { range.end };
        let there = self.text().get(range.start..end)?;
        let differs =
            difference(old, there, first as u64 + 1, from.content, range.start - from.start);
        let part = aligned.filter(|_| likeness >= Likeness::of(MEANT) && there.len() <= PART);
        Some(Nearest {
            first_line: first as u64 + 1,
            last_line: first as u64 + lines.len() as u64,
            text: whole.get(..whole.floor_char_boundary(SHOWN)).unwrap_or(whole).to_owned(),
            differs,
            part,
        })
    }
}

/// Finds where a text and a place begin to differ; `from` is where the place begins in its first line.
fn difference(given: &str, there: &str, line: u64, first_line: &str, from: usize) -> Difference {
    let before = first_line.get(..from).unwrap_or_default().chars().count() as u64;
    let (mut line, mut column) = (line, before + 1);
    // Line ends that are merely other ones are no difference.
    let (given, there) =
        (MatchGrade::LineEnding.normalise(given), MatchGrade::LineEnding.normalise(there));
    let (mut given, mut there) = (given.chars(), there.chars());
    loop {
        let (rest_given, rest_there) = (given.clone(), there.clone());
        match (given.next(), there.next()) {
            (Some(a), Some(b)) if a == b => {
                (line, column) = if a == '\n' { (line + 1, 1) } else { (line, column + 1) };
            }
            _ => {
                let shown = |chars: std::str::Chars<'_>| chars.take(DIFFERENCE).collect();
                let (given, there) = (shown(rest_given), shown(rest_there));
                return Difference { line, column, given, there };
            }
        }
    }
}
