//! Line ends of new text: those of the place it goes to.

use std::ops::{Range, RangeInclusive};

use crate::breaks::Ending;
use crate::document::Document;
use crate::find::Span;
use crate::grade::MatchGrade;
use crate::window::LineEnding;

/// How line ends are written.
pub(super) struct Endings<'d> {
    document: &'d Document<'d>,
    mode: Mode,
    /// What is known of the lines near the last place.
    near: Option<(RangeInclusive<usize>, Option<Ending>)>,
    /// How lines were written.
    written: Option<LineEnding>,
    /// Whether one of them was not written as it was given.
    is_unlike: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// As they were given.
    AsGiven,
    /// A line feed as the end of the line it goes to.
    OfTheLine,
    /// Each as its counterpart in the place.
    OfThePlace,
}

impl<'d> Endings<'d> {
    /// For new text in the places where `old` was found.
    pub(super) fn new(document: &'d Document<'_>, old: &str, grade: MatchGrade) -> Self {
        let mode = match grade {
            MatchGrade::Exact if old.contains(['\r', '\n']) => Mode::AsGiven,
            MatchGrade::Exact => Mode::OfTheLine,
            _ => Mode::OfThePlace,
        };
        Self { document, mode, near: None, written: None, is_unlike: false }
    }

    /// For whole lines put into a document.
    pub(super) fn of_lines(document: &'d Document<'_>) -> Self {
        Self { document, mode: Mode::OfTheLine, near: None, written: None, is_unlike: false }
    }

    /// Writes new text for a place.
    pub(super) fn written(&mut self, new: String, span: &Span) -> String {
        if self.mode == Mode::AsGiven || !new.contains('\n') {
            return new;
        }
        let place = self.document.text().get(span.text.clone()).unwrap_or_default();
        let of_place: Vec<Ending> = match self.mode {
            Mode::OfThePlace => self.document.split(place).filter_map(|line| line.ending).collect(),
            Mode::AsGiven | Mode::OfTheLine => Vec::new(),
        };
        let line = match of_place.last() {
            Some(last) => Some(*last),
            None => self.of_line(&span.text),
        };
        self.rewritten(&new, &of_place, line)
    }

    /// Writes whole lines that go to a position.
    pub(super) fn written_at(&mut self, new: &str, position: usize) -> String {
        let line = self.of_line(&(position..position));
        self.rewritten(new, &[], line)
    }

    /// The line end of the line that a place ends in, or else of the one before; nothing where the
    /// document has no line end.
    pub(super) fn of_line(&mut self, place: &Range<usize>) -> Option<Ending> {
        if let Some((known, ending)) = &self.near
            && known.contains(&place.start)
            && known.contains(&place.end)
        {
            return *ending;
        }
        let text = self.document.text();
        let after = text.get(place.end..).unwrap_or_default();
        let breaks = self.document.breaks();
        let (known, ending) = if let Some(found) = breaks.find(after.as_bytes()) {
            let at = place.end + found.content;
            // From LF alone it does not follow that no CR stands before it, in the place.
            let is_crlf = found.ending == Ending::Lf
                && text.get(..at).is_some_and(|before| before.ends_with('\r'));
            (place.start..=at, Some(if is_crlf { Ending::Crlf } else { found.ending }))
        } else {
            let before = text.get(..place.start).unwrap_or_default();
            (place.start..=text.len(), last_ending(before))
        };
        self.near = Some((known, ending));
        ending
    }

    /// How lines of new text end, where that is not as they were given.
    pub(super) fn unlike_given(self) -> Option<LineEnding> {
        self.written.filter(|_| self.is_unlike)
    }

    fn rewritten(&mut self, new: &str, of_place: &[Ending], line: Option<Ending>) -> String {
        let mut text = String::with_capacity(new.len() + 16);
        for (index, piece) in new.split_inclusive('\n').enumerate() {
            let Some(content) = piece.strip_suffix('\n') else {
                text.push_str(piece);
                continue;
            };
            let (content, given) = match content.strip_suffix('\r') {
                Some(content) => (content, Ending::Crlf),
                None => (content, Ending::Lf),
            };
            // Behind a lone CR, another end would become one with it.
            let kept =
                (self.mode == Mode::OfTheLine && given == Ending::Crlf) || content.ends_with('\r');
            let there = if kept { None } else { of_place.get(index).copied().or(line) };
            text.push_str(content);
            let ending = there.unwrap_or(given);
            text.push_str(ending.as_str());
            self.is_unlike |= ending != given;
            let ending = match ending {
                Ending::Lf => LineEnding::Lf,
                Ending::Crlf => LineEnding::Crlf,
                Ending::Cr => LineEnding::Cr,
            };
            let before = self.written.get_or_insert(ending);
            if *before != ending {
                *before = LineEnding::Mixed;
            }
        }
        text
    }
}

/// The last line end of a text.
fn last_ending(text: &str) -> Option<Ending> {
    let at = text.rfind(['\n', '\r'])?;
    let (before, end) = text.split_at_checked(at)?;
    Some(match (before.ends_with('\r'), end.starts_with('\n')) {
        (true, true) => Ending::Crlf,
        (false, true) => Ending::Lf,
        (_, false) => Ending::Cr,
    })
}
