use crate::breaks::Breaks;
use crate::document::{Document, Splice};
use crate::find::LineNumbers;
use crate::window::LineHash;

/// Lines that stand one after another, before and after an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Touched {
    /// The number of the first of them before the edit, from 1.
    pub first_line: u64,
    /// The lines before.
    pub old: Vec<LineHash>,
    /// The lines after.
    pub new: Vec<LineHash>,
}

/// Groups splices by the lines they change.
///
/// Where new text joins the line that follows, that line is changed too.
pub(super) fn touched(document: &Document<'_>, splices: &[Splice<'_>]) -> Vec<Touched> {
    let text = document.text();
    let hashes = |text: &str| document.split(text).map(|line| LineHash::of(line.content)).collect();
    let mut borders = Borders::new(document);
    let mut all = Vec::new();
    let mut rest = splices.iter().peekable();
    while let Some(first) = rest.peek() {
        let (start, first_line) = borders.at_or_before(first.range.start);
        let mut end = start;
        let mut new = String::new();
        let mut at = start;
        let mut is_first = true;
        loop {
            while let Some(splice) =
                rest.next_if(|splice| std::mem::take(&mut is_first) || splice.range.start < end)
            {
                new.push_str(text.get(at..splice.range.start).unwrap_or_default());
                new.push_str(&splice.text);
                at = splice.range.end;
                if at > end {
                    end = borders.at_or_after(at);
                }
            }
            let joins_next = at == end
                && end < text.len()
                && !new.is_empty()
                && !document.breaks().ends_line(new.as_bytes());
            if !joins_next {
                break;
            }
            end = borders.next(end);
        }
        new.push_str(text.get(at..end).unwrap_or_default());
        let old = hashes(text.get(start..end).unwrap_or_default());
        all.push(Touched { first_line, old, new: hashes(&new) });
    }
    all
}

/// Finds where lines start and end, near where it is asked.
struct Borders<'d> {
    text: &'d str,
    breaks: Breaks,
    numbers: LineNumbers<'d>,
}

impl<'d> Borders<'d> {
    fn new(document: &'d Document<'_>) -> Self {
        Self {
            text: document.text(),
            breaks: document.breaks(),
            numbers: LineNumbers::new(document),
        }
    }

    /// The start of the line that a position is in, and its number. Positions must not decrease.
    fn at_or_before(&mut self, position: usize) -> (usize, u64) {
        // No place begins within a CR LF, so what was found ends a line.
        let before = self.text.as_bytes().get(..position).unwrap_or_default();
        let start = self.breaks.rfind(before).map_or(0, |at| at + 1);
        (start, self.numbers.at(start))
    }

    /// The end of the line that a position is in; a line that starts there does not count.
    fn at_or_after(&self, position: usize) -> usize {
        let (before, rest) = self.text.split_at_checked(position).unwrap_or((self.text, ""));
        let is_within = before.ends_with('\r') && rest.starts_with('\n');
        if before.is_empty() || (self.breaks.ends_line(before.as_bytes()) && !is_within) {
            return position;
        }
        self.next(position)
    }

    /// The end of the line that goes on at a position.
    fn next(&self, position: usize) -> usize {
        let rest = self.text.get(position..).unwrap_or_default();
        self.breaks.find(rest.as_bytes()).map_or(self.text.len(), |found| position + found.next)
    }
}
