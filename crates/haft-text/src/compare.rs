//! Which lines of two texts differ.

use std::collections::HashMap;
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

/// Up to how many lines two stretches are compared line by line. What is longer is first split at lines that stand once
/// in both, and what is between them counts as changed where it is still longer: the work then grows with the length,
/// and not with its square.
const MOST_AT_ONCE: usize = 2_000;

/// Compares two lists of lines. Hunks stand in order and do not touch.
pub(crate) fn hunks<T: Hash + Ord>(old: &[T], new: &[T]) -> Vec<Hunk> {
    let mut hunks = Vec::new();
    compare(old, new, 0..old.len(), 0..new.len(), true, &mut hunks);
    hunks
}

/// Compares two stretches, and splits them where they are long.
fn compare<T: Hash + Ord>(
    old: &[T],
    new: &[T],
    mut in_old: Range<usize>,
    mut in_new: Range<usize>,
    may_split: bool,
    hunks: &mut Vec<Hunk>,
) {
    let lines = |range: &Range<usize>| old.get(range.clone()).unwrap_or_default();
    let new_lines = |range: &Range<usize>| new.get(range.clone()).unwrap_or_default();
    let pairs = lines(&in_old).iter().zip(new_lines(&in_new));
    let head = pairs.take_while(|(old, new)| old == new).count();
    (in_old.start, in_new.start) = (in_old.start + head, in_new.start + head);
    let pairs = lines(&in_old).iter().rev().zip(new_lines(&in_new).iter().rev());
    let tail = pairs.take_while(|(old, new)| old == new).count();
    (in_old.end, in_new.end) = (in_old.end - tail, in_new.end - tail);
    let (old_rest, new_rest) = (lines(&in_old), new_lines(&in_new));
    let length = old_rest.len() + new_rest.len();
    if length == 0 {
        return;
    }
    let is_plain = old_rest.is_empty() || new_rest.is_empty() || length > MOST_LINES;
    if is_plain || (length > MOST_AT_ONCE && !may_split) {
        push(hunks, Hunk { old: in_old, new: in_new });
    } else if length <= MOST_AT_ONCE {
        let ops = capture_diff_slices(Algorithm::Myers, old_rest, new_rest);
        for op in ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. })) {
            let shifted = |range: Range<usize>, by: usize| range.start + by..range.end + by;
            let (old, new) = (op.old_range(), op.new_range());
            let (old, new) = (shifted(old, in_old.start), shifted(new, in_new.start));
            push(hunks, Hunk { old, new });
        }
    } else {
        let (mut old_at, mut new_at) = (in_old.start, in_new.start);
        for (anchor_old, anchor_new) in anchors(old_rest, new_rest) {
            let (anchor_old, anchor_new) = (anchor_old + in_old.start, anchor_new + in_new.start);
            compare(old, new, old_at..anchor_old, new_at..anchor_new, false, hunks);
            (old_at, new_at) = (anchor_old + 1, anchor_new + 1);
        }
        compare(old, new, old_at..in_old.end, new_at..in_new.end, false, hunks);
    }
}

fn push(hunks: &mut Vec<Hunk>, next: Hunk) {
    match hunks.last_mut() {
        Some(last) if last.old.end == next.old.start && last.new.end == next.new.start => {
            last.old.end = next.old.end;
            last.new.end = next.new.end;
        }
        _ => hunks.push(next),
    }
}

/// Finds the most lines that stand once in both stretches and in the same order, by their places.
fn anchors<T: Hash + Ord>(old: &[T], new: &[T]) -> Vec<(usize, usize)> {
    let mut places: HashMap<&T, [Option<(usize, bool)>; 2]> = HashMap::new();
    for (side, lines) in [old, new].into_iter().enumerate() {
        for (at, line) in lines.iter().enumerate() {
            if let Some(place) = places.entry(line).or_default().get_mut(side) {
                *place = Some((place.map_or(at, |(first, _)| first), place.is_none()));
            }
        }
    }
    let mut pairs: Vec<(usize, usize)> = places
        .into_values()
        .filter_map(|place| match place {
            [Some((old, true)), Some((new, true))] => Some((old, new)),
            _ => None,
        })
        .collect();
    pairs.sort_unstable();
    // For each length the pair that ends the chain with the smallest place in `new`; each pair knows the one before it.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (index, (_, new)) in pairs.iter().enumerate() {
        let is_less = |end: &usize| pairs.get(*end).is_some_and(|(_, at)| at < new);
        let length = ends.partition_point(is_less);
        before.push(length.checked_sub(1).and_then(|last| ends.get(last)).copied());
        match ends.get_mut(length) {
            Some(end) => *end = index,
            None => ends.push(index),
        }
    }
    let mut chain = Vec::with_capacity(ends.len());
    let mut at = ends.last().copied();
    while let Some(index) = at {
        chain.extend(pairs.get(index).copied());
        at = before.get(index).copied().flatten();
    }
    chain.reverse();
    chain
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that hunks lead from one list to the other.
    fn leads(old: &[u32], new: &[u32]) -> Vec<Hunk> {
        let hunks = hunks(old, new);
        let (mut at, mut rebuilt) = (0, Vec::new());
        for hunk in &hunks {
            rebuilt.extend_from_slice(&old[at..hunk.old.start]);
            assert_eq!(rebuilt.len(), hunk.new.start);
            rebuilt.extend_from_slice(&new[hunk.new.clone()]);
            at = hunk.old.end;
        }
        rebuilt.extend_from_slice(&old[at..]);
        assert_eq!(rebuilt, new);
        let touch =
            |it: &[Hunk]| it[0].old.end == it[1].old.start && it[0].new.end == it[1].new.start;
        assert!(!hunks.windows(2).any(touch));
        hunks
    }

    #[test]
    fn few_changes_in_many_lines_stay_few() {
        let old: Vec<u32> = (0..40_000).collect();
        let mut new = old.clone();
        new[100] = 90_000;
        new.remove(20_000);
        new.insert(39_000, 90_001);
        let found = leads(&old, &new);
        let lines: Vec<_> = found.iter().map(|hunk| (hunk.old.len(), hunk.new.len())).collect();
        assert_eq!(lines, [(1, 1), (1, 0), (0, 1)]);
    }

    #[test]
    fn nothing_in_common_and_everything_twice_are_no_great_work() {
        let old: Vec<u32> = (0..50_000).collect();
        let other: Vec<u32> = (50_000..100_000).collect();
        assert_eq!(leads(&old, &other).len(), 1);
        let shuffled: Vec<u32> = (0..50_000).map(|it| it * 7_919 % 50_000).collect();
        leads(&old, &shuffled);
        let repeated = |by: u32| (0..50_000).map(|it| it * by % 1_000).collect::<Vec<u32>>();
        leads(&repeated(7), &repeated(11));
    }
}
