use crate::document::{Document, Splice};
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
    let borders = Borders::new(document);
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
                end = end.max(borders.at_or_after(at));
            }
            let joins_next = at == end
                && end < text.len()
                && !new.is_empty()
                && !document.breaks().ends_line(new.as_bytes());
            if !joins_next {
                break;
            }
            end = borders.at_or_after(end + 1);
        }
        new.push_str(text.get(at..end).unwrap_or_default());
        let old = hashes(text.get(start..end).unwrap_or_default());
        all.push(Touched { first_line, old, new: hashes(&new) });
    }
    all
}

/// Where lines start, and where the last one ends.
struct Borders(Vec<usize>);

impl Borders {
    fn new(document: &Document<'_>) -> Self {
        let text = document.text();
        let mut borders: Vec<usize> = document.split(text).map(|line| line.start).collect();
        borders.push(text.len());
        Self(borders)
    }

    /// The last border that is not behind a position, and the number of the line that starts there.
    fn at_or_before(&self, position: usize) -> (usize, u64) {
        let number = self.0.partition_point(|border| *border <= position);
        (self.0.get(number.saturating_sub(1)).copied().unwrap_or(0), number as u64)
    }

    /// The first border that is not before a position.
    fn at_or_after(&self, position: usize) -> usize {
        let index = self.0.partition_point(|border| *border < position);
        self.0.get(index).or(self.0.last()).copied().unwrap_or(0)
    }
}
