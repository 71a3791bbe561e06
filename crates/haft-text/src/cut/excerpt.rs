use std::ops::Range;

use super::{head, tail};

/// Stands where a line was cut.
const ELLIPSIS: &str = "…";

/// The least cap: both ellipses and a few characters between them.
const MIN_CAP: usize = 16;

/// A part of a line around a match.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Excerpt {
    /// The part, with `…` on each side that was cut.
    pub text: String,
    /// Where the match stands in `text`. Shorter than the match when that alone exceeds the cap.
    pub matched: Range<usize>,
}

/// Cuts a line down to `max` bytes around a match.
///
/// The context is spread evenly on both sides; what one side does not need goes to the other. The
/// result, ellipses included, is never longer than `max`; values below 16 count as 16. A range that
/// does not fit the line, or cuts characters, is widened or clamped to one that does.
///
/// ```
/// let line = format!("{}needle{}", "<".repeat(5000), ">".repeat(5000));
/// let excerpt = haft_text::around(&line, 5000..5006, 24);
/// assert_eq!(excerpt.text, "…<<<<<<needle>>>>>>…");
/// assert_eq!(&excerpt.text[excerpt.matched], "needle");
/// ```
pub fn around(line: &str, matched: Range<usize>, max: usize) -> Excerpt {
    let max = max.max(MIN_CAP);
    let start = line.floor_char_boundary(matched.start);
    let end = line.ceil_char_boundary(matched.end.max(start));
    if line.len() <= max {
        return Excerpt { text: line.to_owned(), matched: start..end };
    }
    let room = max - 2 * ELLIPSIS.len();
    let hit = head(line.get(start..end).unwrap_or_default(), room);
    let before = line.get(..start).unwrap_or_default();
    let after = line.get(start + hit.len()..).unwrap_or_default();
    let room = room - hit.len();
    let half = room / 2;
    let left = tail(before, room - after.len().min(half));
    let right = head(after, room - left.len());

    let mut text = String::with_capacity(max);
    if left.len() < before.len() {
        text.push_str(ELLIPSIS);
    }
    text.push_str(left);
    let at = text.len();
    text.push_str(hit);
    let matched = at..text.len();
    text.push_str(right);
    if right.len() < after.len() {
        text.push_str(ELLIPSIS);
    }
    Excerpt { text, matched }
}
