//! Which lines of two texts differ.

use std::hash::Hash;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Up to how many lines two texts are compared line by line, once what they begin and end with alike
/// is left aside. Beyond that, all that is between counts as changed.
pub(crate) const MOST_LINES: usize = 100_000;

/// Lines of one text in the place of lines of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hunk {
    pub(crate) old: Range<usize>,
    pub(crate) new: Range<usize>,
}

/// Compares two lists of lines. Hunks stand in order and do not touch.
pub(crate) fn hunks<T: Hash + Ord>(old: &[T], new: &[T]) -> Vec<Hunk> {
    let pairs = old.iter().zip(new);
    let head = pairs.take_while(|(old, new)| old == new).count();
    let (old_rest, new_rest) =
        (old.get(head..).unwrap_or_default(), new.get(head..).unwrap_or_default());
    let pairs = old_rest.iter().rev().zip(new_rest.iter().rev());
    let tail = pairs.take_while(|(old, new)| old == new).count();
    let (old_len, new_len) = (old_rest.len() - tail, new_rest.len() - tail);
    if old_len == 0 && new_len == 0 {
        return Vec::new();
    }
    if old_len.min(new_len) == 0 || old_len + new_len > MOST_LINES {
        return vec![Hunk { old: head..head + old_len, new: head..head + new_len }];
    }
    let ops = capture_diff_slices(
        Algorithm::Myers,
        old_rest.get(..old_len).unwrap_or_default(),
        new_rest.get(..new_len).unwrap_or_default(),
    );
    let mut hunks: Vec<Hunk> = Vec::new();
    for op in ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. })) {
        let shifted = |range: Range<usize>| range.start + head..range.end + head;
        let (old, new) = (shifted(op.old_range()), shifted(op.new_range()));
        match hunks.last_mut() {
            Some(last) if last.old.end == old.start && last.new.end == new.start => {
                last.old.end = old.end;
                last.new.end = new.end;
            }
            _ => hunks.push(Hunk { old, new }),
        }
    }
    hunks
}
