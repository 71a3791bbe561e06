//! Joining two changes of one file.

use std::ops::Range;

use crate::compare::{Hunk, hunks};
use crate::encoding::{Charset, PREFIX, sniff};

/// What comes of two changes of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merge {
    /// They do not get in each other's way: the file with both.
    Clean(Vec<u8>),
    /// They change the same lines, or lines side by side, in different ways.
    Conflict(Vec<Conflict>),
}

/// Lines that both sides changed, each as lines from 0 up to and without the end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conflict {
    /// The lines in the file that both began with.
    pub base: Range<usize>,
    /// The lines of one side.
    pub ours: Range<usize>,
    /// The lines of the other side.
    pub theirs: Range<usize>,
}

/// Puts the changes that lead from `base` to `ours` and to `theirs` into one file.
///
/// Lines are compared as bytes, ends included, and none is rewritten: every line of the result stands
/// in one of the three. Nobody's change wins over another: what both changed differently is a
/// conflict.
///
/// ```
/// use haft_text::{Merge, merge};
///
/// let base = b"one\ntwo\nthree\n";
/// assert_eq!(
///     merge(base, b"ONE\ntwo\nthree\n", b"one\ntwo\nTHREE\n"),
///     Merge::Clean(b"ONE\ntwo\nTHREE\n".to_vec()),
/// );
/// assert!(matches!(merge(base, b"1\ntwo\nthree\n", b"I\ntwo\nthree\n"), Merge::Conflict(_)));
/// ```
pub fn merge(base: &[u8], ours: &[u8], theirs: &[u8]) -> Merge {
    let prefix = base.get(..PREFIX).unwrap_or(base);
    let charset = sniff(prefix, base.len() < PREFIX).charset;
    let base = lines(base, charset);
    let mut ours = Side::new(&base, lines(ours, charset));
    let mut theirs = Side::new(&base, lines(theirs, charset));
    let mut merged = Vec::new();
    let mut conflicts = Vec::new();
    let mut at = 0;
    while let Some(start) = [ours.start(), theirs.start()].into_iter().flatten().min() {
        // Changes that touch belong together.
        let mut end = start;
        loop {
            let (a, b) = (ours.take_up_to(end), theirs.take_up_to(end));
            let Some(further) = a.max(b) else { break };
            end = end.max(further);
        }
        let (changed_ours, ours_range) = ours.close(start..end);
        let (changed_theirs, theirs_range) = theirs.close(start..end);
        push(&mut merged, &base, at..start);
        at = end;
        let (a, b) = (ours.lines.get(ours_range.clone()), theirs.lines.get(theirs_range.clone()));
        if !changed_theirs || a == b {
            push(&mut merged, &ours.lines, ours_range);
        } else if changed_ours {
            let base = start..end;
            conflicts.push(Conflict { base, ours: ours_range, theirs: theirs_range });
        } else {
            push(&mut merged, &theirs.lines, theirs_range);
        }
    }
    push(&mut merged, &base, at..base.len());
    if conflicts.is_empty() { Merge::Clean(merged) } else { Merge::Conflict(conflicts) }
}

/// One of the changes.
struct Side<'a> {
    lines: Vec<&'a [u8]>,
    hunks: std::iter::Peekable<std::vec::IntoIter<Hunk>>,
    /// How many lines it has more than the base so far, and how many fewer.
    more: usize,
    fewer: usize,
    /// The hunks of the place that is being joined, as lines more and fewer.
    taken: Option<(usize, usize)>,
}

impl<'a> Side<'a> {
    fn new(base: &[&[u8]], lines: Vec<&'a [u8]>) -> Self {
        let hunks = hunks(base, &lines).into_iter().peekable();
        Self { lines, hunks, more: 0, fewer: 0, taken: None }
    }

    /// Where in the base its next change begins.
    fn start(&mut self) -> Option<usize> {
        self.hunks.peek().map(|hunk| hunk.old.start)
    }

    /// Takes the changes that begin at or before a line of the base; returns where the last one ends.
    fn take_up_to(&mut self, line: usize) -> Option<usize> {
        let mut end = None;
        while let Some(hunk) = self.hunks.next_if(|hunk| hunk.old.start <= line) {
            let taken = self.taken.get_or_insert((0, 0));
            taken.0 += hunk.new.len();
            taken.1 += hunk.old.len();
            end = Some(hunk.old.end);
        }
        end
    }

    /// Ends a place: whether anything in it changed, and its lines on this side.
    fn close(&mut self, base: Range<usize>) -> (bool, Range<usize>) {
        let start = base.start + self.more - self.fewer;
        let taken = self.taken.take();
        if let Some((more, fewer)) = taken {
            self.more += more;
            self.fewer += fewer;
        }
        (taken.is_some(), start..base.end + self.more - self.fewer)
    }
}

fn push(merged: &mut Vec<u8>, lines: &[&[u8]], range: Range<usize>) {
    for line in lines.get(range).unwrap_or_default() {
        merged.extend_from_slice(line);
    }
}

/// Splits bytes behind every line feed.
fn lines(bytes: &[u8], charset: Charset) -> Vec<&[u8]> {
    let unit = match charset {
        Charset::Utf8 | Charset::Legacy(_) => {
            return bytes.split_inclusive(|b| *b == b'\n').collect();
        }
        Charset::Utf16Le => *b"\n\0",
        Charset::Utf16Be => *b"\0\n",
    };
    let mut lines = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let units = rest.as_chunks::<2>().0;
        let end = units.iter().position(|found| *found == unit).map_or(rest.len(), |at| 2 * at + 2);
        let (line, after) = rest.split_at_checked(end).unwrap_or((rest, &[]));
        lines.push(line);
        rest = after;
    }
    lines
}
