//! Which part of the lines of a place a text stands for, where it is not whole lines.

use std::ops::Range;

use crate::document::Line;

/// The most characters of a line that are aligned.
const CHARS: usize = 400;

/// Finds the part of the text that the pieces stand for: from somewhere in the first line to
/// somewhere in the last. Nothing where a line is too long to tell.
pub(super) fn aligned(pieces: &[&str], lines: &[Line<'_>]) -> Option<Range<usize>> {
    let (first, last) = (lines.first()?, lines.last()?);
    if pieces.len() != lines.len() {
        return None;
    }
    if let [piece] = pieces {
        let range = best(piece, first.content, true)?;
        return Some(first.start + range.start..first.start + range.end);
    }
    // Turned round, the free end of a line is its front.
    let backwards = |text: &str| text.chars().rev().collect::<String>();
    let head = best(&backwards(pieces.first()?), &backwards(first.content), false)?;
    let tail = best(pieces.last()?, last.content, false)?;
    Some(first.content_end() - head.end..last.start + tail.end)
}

/// Finds the part of a line that can be turned into a piece by the fewest changes of characters: from
/// its start, or from anywhere.
fn best(piece: &str, line: &str, from_anywhere: bool) -> Option<Range<usize>> {
    let piece: Vec<char> = piece.chars().take(CHARS + 1).collect();
    let chars: Vec<(usize, char)> = line.char_indices().take(CHARS + 1).collect();
    if piece.len() > CHARS || chars.len() > CHARS {
        return None;
    }
    // For each length of the piece: the changes so far, and where in the line they began.
    let mut column: Vec<(usize, usize)> = (0..=piece.len()).map(|changes| (changes, 0)).collect();
    let mut best = (*column.last()?, 0);
    for (at, char) in &chars {
        let end = at + char.len_utf8();
        let mut diagonal = *column.first()?;
        let (changes, start) = diagonal;
        *column.first_mut()? = if from_anywhere { (0, end) } else { (changes + 1, start) };
        let mut above = *column.first()?;
        for (cell, wanted) in column.iter_mut().skip(1).zip(&piece) {
            let kept = (diagonal.0 + usize::from(wanted != char), diagonal.1);
            let dropped = (cell.0 + 1, cell.1);
            let added = (above.0 + 1, above.1);
            diagonal = *cell;
            *cell = [kept, dropped, added].into_iter().min()?;
            above = *cell;
        }
        let whole = *column.last()?;
        // Of equally good parts the longest: what follows was most likely meant.
        if (whole.0, whole.1) <= (best.0.0, best.0.1) {
            best = (whole, end);
        }
    }
    let ((_, start), end) = best;
    Some(start..end.max(start))
}

/// Counts the changes of characters that turn one text into another. Nothing where one is too long to tell.
pub(crate) fn changes(from: &str, to: &str) -> Option<usize> {
    let from: Vec<char> = from.chars().take(CHARS + 1).collect();
    let to: Vec<char> = to.chars().take(CHARS + 1).collect();
    if from.len() > CHARS || to.len() > CHARS {
        return None;
    }
    let mut column: Vec<usize> = (0..=from.len()).collect();
    for (done, wanted) in to.iter().enumerate() {
        let mut diagonal = done;
        let mut above = done + 1;
        *column.first_mut()? = above;
        for (cell, char) in column.iter_mut().skip(1).zip(&from) {
            let kept = diagonal + usize::from(char != wanted);
            diagonal = *cell;
            *cell = kept.min(*cell + 1).min(above + 1);
            above = *cell;
        }
    }
    column.last().copied()
}
