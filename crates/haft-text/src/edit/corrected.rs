//! The edit that was meant, for a place that is like its old text.
//!
//! It is sent as it is written here, so it is only written where nothing has to be guessed: the old
//! text goes over whole lines, or begins and ends at the very words of the one that was given, and
//! the new text is indented as the lines are.

use std::num::NonZeroUsize;
use std::ops::Range;

use super::Edit;
use crate::document::{Document, Line};
use crate::find::Shift;
use crate::grade::MatchGrade;
use crate::nearest::{Nearest, changes};

/// How alike, in hundredths, each line has to be to what was given for it.
const ALIKE: usize = 50;

/// How alike a line has to be that is taken as a whole for a part of it.
const ALIKE_WHOLE: usize = 70;

/// In how many lines around one its given text must not stand.
const BESIDE: usize = 4;

/// Writes the edit that finds the nearest place and changes it as was meant; nothing where that is
/// not sure.
pub(super) fn corrected(
    document: &Document<'_>,
    edit: &Edit,
    nearest: &Nearest,
    highest: MatchGrade,
) -> Option<Edit> {
    let part = nearest.part.clone()?;
    let text = document.text();
    let pieces: Vec<&str> = document.split(&edit.old).map(|line| line.content).collect();
    let first = usize::try_from(nearest.first_line).ok()?.checked_sub(1)?;
    let skipped = first.min(BESIDE);
    let around: Vec<Line<'_>> =
        document.split(text).skip(first - skipped).take(skipped + pieces.len() + BESIDE).collect();
    let lines = around.get(skipped..skipped + pieces.len())?;
    if is_displaced(&pieces, &around, skipped) {
        return None;
    }

    let ends_line = document.breaks().ends_line(edit.old.as_bytes());
    let (from, to) = (lines.first()?, lines.last()?);
    let (first_piece, last_piece) = (*pieces.first()?, *pieces.last()?);
    let first_there = text.get(part.start..part.end.min(from.content_end()))?;
    let last_there = text.get(part.start.max(to.start)..part.end)?;
    let edges = [(first_piece, first_there), (last_piece, last_there)];
    if !edges.iter().all(|(given, there)| are_alike(given, there, ALIKE)) {
        return None;
    }
    let front = text.get(from.start..part.start)?;
    let mut is_front = is_blank(front) && begin_alike(first_piece, first_there);
    let back = text.get(part.end..to.content_end())?;
    let mut is_back = is_blank(back) && (ends_line || end_alike(last_piece, last_there));
    if ends_line && !is_back {
        // What was given for the line is the whole of it.
        is_back = are_alike(last_piece, to.content, ALIKE_WHOLE);
        if !is_back {
            return None;
        }
        if pieces.len() == 1 {
            is_front = is_front || is_blank(front);
        }
    }

    let mut start = part.start;
    let mut new = edit.new.clone();
    if is_front {
        let (at, shift, shifts_first) = indented(&pieces, lines, &new)?;
        start = at;
        new = shift.apply(&new, shifts_first).ok()?;
    } else {
        if !begins_with_words(text, &part, &edit.old, &edit.new) {
            return None;
        }
        let shift = Shift::between(indentations(&pieces, lines, 1))?;
        new = shift.apply(&new, false).ok()?;
    }
    let end = match (is_back, ends_line) {
        (true, true) => to.end(),
        (true, false) => to.content_end(),
        (false, _) if ends_with_words(text, &part, &edit.old, &edit.new) => part.end,
        (false, _) => return None,
    };
    let old = only_there(document, start..end, highest.min(MatchGrade::LineEnding))?;
    let is_news = old != edit.old && old != new;
    is_news.then_some(Edit { old, new, replace_all: edit.replace_all })
}

/// Writes a place as an old text that finds it, and nothing else.
fn only_there(document: &Document<'_>, place: Range<usize>, grade: MatchGrade) -> Option<String> {
    let there = document.text().get(place.clone())?;
    let plain = MatchGrade::LineEnding.normalise(there).into_owned();
    [plain, there.to_owned()].into_iter().find(|old| {
        let found = document.find(old, grade, NonZeroUsize::MIN);
        found.is_some_and(|found| {
            let is_there = found.spans.iter().all(|span| span.text == place);
            is_there && !found.has_more && !found.is_overlapping
        })
    })
}

/// Whether lines are missing from what was given, or are too many, so that it goes on elsewhere.
fn is_displaced(pieces: &[&str], around: &[Line<'_>], skipped: usize) -> bool {
    let inner = 1..pieces.len().saturating_sub(1);
    pieces.iter().enumerate().any(|(index, piece)| {
        let at = index + skipped;
        let Some(line) = around.get(at) else { return true };
        let (given, there) = (piece.trim(), line.content.trim());
        if given == there {
            return false;
        }
        let beside = around.iter().enumerate().skip(at.saturating_sub(BESIDE)).take(2 * BESIDE + 1);
        let stands_beside = !given.is_empty()
            && beside.into_iter().any(|(other, line)| other != at && line.content.trim() == given);
        let is_alike = !inner.contains(&index) || are_alike(given, there, ALIKE);
        stands_beside || !is_alike || (given.is_empty() && inner.contains(&index))
    })
}

/// Whether two lines are alike but for blanks around them, by so many hundredths.
fn are_alike(given: &str, there: &str, hundredths: usize) -> bool {
    let (given, there) = (given.trim(), there.trim());
    let longest = given.chars().count().max(there.chars().count());
    changes(given, there).is_some_and(|changes| changes * 100 <= (100 - hundredths) * longest)
}

/// Finds where a place that begins with a line starts, and how the new text is to be indented.
fn indented(pieces: &[&str], lines: &[Line<'_>], new: &str) -> Option<(usize, Shift, bool)> {
    let (piece, line) = (*pieces.first()?, lines.first()?);
    let (given, there) = (indentation(piece), indentation(line.content));
    let behind = line.start + there.len();
    let others = Shift::between(indentations(pieces, lines, 1))?;
    if !given.is_empty() || there.is_empty() {
        let shift = Shift::between(indentations(pieces, lines, 0))?;
        return Some((line.start, shift, true));
    }
    if others != Shift::None
        && let Some(shift) = Shift::between(indentations(pieces, lines, 0))
    {
        return Some((line.start, shift, true));
    }
    // What is given without the indentation of its first line says nothing of how further lines
    // are indented, unless it has some itself.
    let mut further = new.lines().skip(1).filter(|line| !line.trim().is_empty());
    let is_told = pieces.iter().skip(1).any(|piece| !piece.trim().is_empty());
    (is_told || further.all(|line| line.starts_with(there))).then_some((behind, others, false))
}

/// How lines are indented: as they were given and as they are, where they are not blank.
fn indentations<'p>(
    pieces: &'p [&'p str],
    lines: &'p [Line<'p>],
    from: usize,
) -> impl Iterator<Item = (std::borrow::Cow<'p, str>, std::borrow::Cow<'p, str>)> {
    let both = pieces.iter().zip(lines).skip(from).filter(|(piece, _)| !is_blank(piece));
    both.map(|(piece, line)| (indentation(piece).into(), indentation(line.content).into()))
}

fn indentation(line: &str) -> &str {
    line.strip_suffix(line.trim_start_matches([' ', '\t'])).unwrap_or_default()
}

fn is_blank(text: &str) -> bool {
    text.chars().all(|char| matches!(char, ' ' | '\t'))
}

/// Whether two texts begin with the same sign, or both with a word.
fn begin_alike(given: &str, there: &str) -> bool {
    same_sign(given.trim().chars().next(), there.trim().chars().next())
}

/// Whether two texts end in the same sign, or both in a word.
fn end_alike(given: &str, there: &str) -> bool {
    same_sign(given.trim().chars().next_back(), there.trim().chars().next_back())
}

fn same_sign(given: Option<char>, there: Option<char>) -> bool {
    given == there || given.zip(there).is_some_and(|(a, b)| is_of_word(a) && is_of_word(b))
}

fn is_of_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// Whether a part begins within a line at a word or sign that the given texts begin with as well.
fn begins_with_words(text: &str, part: &Range<usize>, old: &str, new: &str) -> bool {
    let word = first_word(old);
    let Some((before, there)) = text.get(..part.end).and_then(|it| it.split_at_checked(part.start))
    else {
        return false;
    };
    let cuts = |char: char| is_of_word(char) && word.starts_with(is_of_word);
    !word.trim().is_empty()
        && [there, new].into_iter().all(|it| first_word(it) == word)
        && !before.ends_with(cuts)
}

/// Whether a part ends within a line at a word or sign that the given texts end with as well.
fn ends_with_words(text: &str, part: &Range<usize>, old: &str, new: &str) -> bool {
    let word = last_word(old);
    let Some((there, after)) =
        text.get(part.start..).and_then(|it| it.split_at_checked(part.len()))
    else {
        return false;
    };
    let cuts = |char: char| is_of_word(char) && word.ends_with(is_of_word);
    !word.trim().is_empty()
        && [there, new].into_iter().all(|it| last_word(it) == word)
        && !after.starts_with(cuts)
}

/// The word or sign that a text begins with, and the blanks before it.
fn first_word(text: &str) -> &str {
    let rest = text.trim_start_matches([' ', '\t']);
    let word = match rest.chars().next() {
        Some(char) if is_of_word(char) => rest.trim_start_matches(is_of_word),
        Some(char) => rest.get(char.len_utf8()..).unwrap_or_default(),
        None => rest,
    };
    text.strip_suffix(word).unwrap_or_default()
}

/// The word or sign that a text ends with, and the blanks after it.
fn last_word(text: &str) -> &str {
    let rest = text.trim_end_matches([' ', '\t']);
    let word = match rest.chars().next_back() {
        Some(char) if is_of_word(char) => rest.trim_end_matches(is_of_word),
        Some(char) => rest.get(..rest.len() - char.len_utf8()).unwrap_or_default(),
        None => rest,
    };
    text.strip_prefix(word).unwrap_or_default()
}
