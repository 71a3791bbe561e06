//! Finding a text in a copy of the document from which a grade took what does not count.
//!
//! The copy is only searched. A hit is a range of the document itself, so what lies outside it keeps
//! its bytes, spaces and line ends.

use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::ops::Range;

use super::Shift;
use super::exact::is_sound;
use super::hits::{Hits, Place, collect};
use crate::document::{Document, Line};
use crate::grade::MatchGrade;
use crate::stop::{CalledOff, Patience, Stop};

pub(super) fn find(
    document: &Document<'_>,
    old: &str,
    grade: MatchGrade,
    most: NonZeroUsize,
    stop: Stop<'_>,
) -> Result<Hits, CalledOff> {
    let Some(sought) = Sought::new(document, old, grade) else { return Ok(Hits::default()) };
    let mut copy = Copy::new(document, grade, stop)?;
    if !copy.text.contains(&sought.needle) {
        return Ok(Hits::default());
    }
    copy.mark_rows(stop)?;
    let (mut starts, mut ends) = (Cursor::default(), Cursor::default());
    collect(&copy.text, &sought.needle, most, stop, |at| {
        let start = at + usize::from(sought.from_line_start);
        let end = at + sought.needle.len() - usize::from(sought.to_line_end);
        if start == 0 || end > copy.text.len() - usize::from(copy.is_last_line_open) {
            // It would need a line end that the document does not have.
            return None;
        }
        let (place, row) = sought.begin(&copy, start, &mut starts)?;
        let end = sought.finish(&copy, end, &mut ends)?;
        let place = sought.shifted(&copy, row, place)?;
        let range = place.text.start..end;
        is_sound(document, old, &range).then_some(Place { text: range, ..place })
    })
}

/// A document after folding: a line feed, then every line with one at its end.
struct Copy<'d> {
    document: &'d Document<'d>,
    grade: MatchGrade,
    text: String,
    /// Where each line is, and where the last one ends; empty before they are marked, which is only worth it where
    /// something was found.
    rows: Vec<Row>,
    /// Whether the last line feed stands for none in the document.
    is_last_line_open: bool,
}

/// Where a line starts.
#[derive(Clone, Copy)]
struct Row {
    /// In the copy.
    folded: usize,
    /// In the text of the document.
    start: usize,
}

/// What it costs to fold a line, in bytes of a line.
const LINE: usize = 16;

impl<'d> Copy<'d> {
    fn new(
        document: &'d Document<'_>,
        grade: MatchGrade,
        stop: Stop<'_>,
    ) -> Result<Self, CalledOff> {
        let whole = document.text();
        let mut patience = Patience::new(stop);
        let mut text = String::with_capacity(whole.len() + 2);
        text.push('\n');
        let mut is_last_line_open = false;
        for line in document.split(whole) {
            patience.work(LINE.max(line.content.len()))?;
            grade.fold_line(line.content, &mut text);
            text.push('\n');
            is_last_line_open = line.ending.is_none();
        }
        Ok(Self { document, grade, text, rows: Vec::new(), is_last_line_open })
    }

    /// Marks where the lines are.
    fn mark_rows(&mut self, stop: Stop<'_>) -> Result<(), CalledOff> {
        let whole = self.document.text();
        let mut patience = Patience::new(stop);
        let lines = usize::try_from(self.document.line_count()).unwrap_or(0);
        self.rows.reserve_exact(lines.saturating_add(1));
        let mut folded = 1;
        let mut line_folded = String::new();
        for line in self.document.split(whole) {
            patience.work(LINE.max(line.content.len()))?;
            self.rows.push(Row { folded, start: line.start });
            line_folded.clear();
            self.grade.fold_line(line.content, &mut line_folded);
            folded += line_folded.len() + 1;
        }
        self.rows.push(Row { folded, start: whole.len() });
        Ok(())
    }

    /// The row that a position of the copy is in, with its line.
    fn row_at(&self, folded: usize) -> Option<(usize, Row, Line<'d>)> {
        let index = self.rows.partition_point(|row| row.folded <= folded).checked_sub(1)?;
        let row = *self.rows.get(index)?;
        Some((index, row, self.lines_from(row).next()?))
    }

    /// The lines from a row on, and an empty one where the text ends.
    fn lines_from(&self, row: Row) -> impl Iterator<Item = Line<'d>> + use<'d> {
        let text = self.document.text();
        let end = Line { start: text.len(), content: "", ending: None };
        let lines = self.document.split(text.get(row.start..).unwrap_or_default());
        let lines = lines.map(move |line| Line { start: line.start + row.start, ..line });
        lines.chain(std::iter::once(end))
    }
}

/// A text that is looked for, after folding.
struct Sought<'o> {
    pieces: Vec<&'o str>,
    needle: String,
    /// Whether space was taken from its front, so that it begins where a line does; the needle then
    /// has a line feed more.
    from_line_start: bool,
    /// Whether space was taken from its back, so that it ends where a line does.
    to_line_end: bool,
}

impl<'o> Sought<'o> {
    /// Splits and folds; nothing where that leaves nothing.
    fn new(document: &Document<'_>, old: &'o str, grade: MatchGrade) -> Option<Self> {
        let mut pieces = Vec::new();
        let mut is_ended = false;
        for line in document.split(old) {
            pieces.push(line.content);
            is_ended = line.ending.is_some();
        }
        if is_ended {
            pieces.push("");
        }
        let (first, last) = (*pieces.first()?, *pieces.last()?);
        let folds_front = grade >= MatchGrade::Indentation || grade.kept(first).is_empty();
        let from_line_start = grade >= MatchGrade::TrailingSpace
            && folds_front
            && first.starts_with(|char| grade.is_blank(char));
        let to_line_end =
            grade >= MatchGrade::TrailingSpace && last.ends_with(|char| grade.is_blank(char));

        let mut needle = String::with_capacity(old.len() + 2);
        if from_line_start {
            needle.push('\n');
        }
        for (index, piece) in pieces.iter().enumerate() {
            if index > 0 {
                needle.push('\n');
            }
            grade.fold_line(piece, &mut needle);
        }
        if to_line_end {
            needle.push('\n');
        }
        Some(Self { pieces, needle, from_line_start, to_line_end })
    }

    /// Where a hit starts: a place that is still without its end, and the row.
    fn begin(&self, copy: &Copy<'_>, folded: usize, cursor: &mut Cursor) -> Option<(Place, Row)> {
        let (index, row, line) = copy.row_at(folded)?;
        let at = |start| Place { text: start..start, shift: Shift::None, shifts_first: false };
        let place = if self.from_line_start {
            Place { shifts_first: true, ..at(line.start) }
        } else if self.pieces.first().is_some_and(|first| first.is_empty()) {
            at(line.content_end())
        } else {
            let column = cursor.column(copy.grade, index, line.content, folded - row.folded)?;
            at(line.start + column)
        };
        Some((place, row))
    }

    /// Where a hit ends in the document.
    fn finish(&self, copy: &Copy<'_>, folded: usize, cursor: &mut Cursor) -> Option<usize> {
        let (index, row, line) = copy.row_at(folded)?;
        if self.to_line_end {
            Some(line.content_end())
        } else if self.pieces.last().is_some_and(|last| last.is_empty()) {
            Some(line.start)
        } else {
            let column = cursor.column(copy.grade, index, line.content, folded - row.folded)?;
            Some(line.start + column)
        }
    }

    /// Finds out how the lines are indented; nothing where they are not all indented alike.
    fn shifted(&self, copy: &Copy<'_>, row: Row, place: Place) -> Option<Place> {
        let grade = copy.grade;
        if grade < MatchGrade::Indentation {
            return Some(place);
        }
        let lines = || copy.lines_from(row).map(|line| line.content);
        if place.shifts_first {
            let shift = Shift::between(indentations(grade, &self.pieces, lines()))?;
            return Some(Place { shift, ..place });
        }
        let first = lines().next()?;
        let (piece, other_pieces) = self.pieces.split_first()?;
        let shift = Shift::between(indentations(grade, other_pieces, lines().skip(1)))?;
        // What begins with a whole line that is shifted like the others begins at its start.
        let kept = grade.kept(first);
        if shift != Shift::None
            && !piece.is_empty()
            && place.text.start == row.start + kept.start
            && let Some(shift) = Shift::between(indentations(grade, &self.pieces, lines()))
        {
            let start = row.start;
            return Some(Place { text: start..start, shift, shifts_first: true });
        }
        Some(Place { shift, ..place })
    }
}

/// How lines are indented: as they were written and as they are, where they are not blank.
fn indentations<'p>(
    grade: MatchGrade,
    pieces: &'p [&'p str],
    lines: impl Iterator<Item = &'p str>,
) -> impl Iterator<Item = (Cow<'p, str>, Cow<'p, str>)> {
    let lines = pieces.iter().zip(lines).filter(move |(piece, _)| !grade.kept(piece).is_empty());
    lines.map(move |(piece, line)| (grade.indentation(piece), grade.indentation(line)))
}

/// Walks along folded lines; positions of one cursor grow, so a long line is walked once.
#[derive(Default)]
struct Cursor {
    row: Option<usize>,
    folded: usize,
    raw: usize,
}

impl Cursor {
    /// Turns a column of a folded line into one of the line itself; nothing within a character.
    fn column(
        &mut self,
        grade: MatchGrade,
        index: usize,
        content: &str,
        column: usize,
    ) -> Option<usize> {
        let Range { start, end } = grade.kept(content);
        if grade < MatchGrade::LookAlike {
            return Some(start + column);
        }
        if self.row != Some(index) {
            *self = Self { row: Some(index), folded: 0, raw: start };
        }
        let mut chars = content.get(self.raw..end)?.chars();
        while self.folded < column {
            let char = chars.next()?;
            self.folded += MatchGrade::folded_len(char);
            self.raw += char.len_utf8();
        }
        (self.folded == column).then_some(self.raw)
    }
}
