//! What changed between two texts, in the form that `diff -u` made known.

use std::fmt::Write;
use std::ops::Range;

use crate::compare::{Hunk, hunks};
use crate::document::{Document, Line};
use crate::window::LineEnding;

/// The difference between two texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diff {
    /// Hunks of lines, each after a line such as `@@ -1,3 +1,4 @@`; empty where no line differs.
    ///
    /// Control characters stand in it as they do in the texts. Where not all lines of both texts end
    /// alike, a line that ends in CR LF or CR has the CR at its end.
    pub text: String,
    /// How many lines are new.
    pub added: u64,
    /// How many lines are gone.
    pub removed: u64,
    /// How many lines of the difference are left out at its end.
    pub left_out: u64,
}

/// How much of a difference to show.
#[derive(Clone, Copy, Debug)]
pub struct DiffLimits {
    /// Lines shown around a change.
    pub context: usize,
    /// The most lines.
    pub lines: usize,
    /// The most bytes of all lines together; the first line is shown in any case.
    pub bytes: usize,
    /// The most bytes of one line; a longer one is cut, and says how much is missing.
    pub line_bytes: usize,
}

/// How many lines are shown at once of many that follow each other and each became another.
const AT_ONCE: usize = 20;

/// Compares two files as texts, line by line.
///
/// Texts that differ in more than 100 000 lines are not compared in between: all those lines then
/// count as changed.
///
/// ```
/// use haft_text::{DiffLimits, unified};
///
/// let limits = DiffLimits { context: 1, lines: 100, bytes: 4096, line_bytes: 200 };
/// let diff = unified(b"a\nb\nc\nd\n", b"a\nb\nC\nd", &limits);
/// assert_eq!(
///     diff.text,
///     "@@ -2,3 +2,3 @@\n b\n-c\n-d\n+C\n+d\n\\ No newline at end of file\n",
/// );
/// assert_eq!((diff.added, diff.removed, diff.left_out), (2, 2, 0));
/// ```
pub fn unified(before: &[u8], after: &[u8], limits: &DiffLimits) -> Diff {
    let (before, after) = (Document::new(before), Document::new(after));
    let shows_cr = match (before.line_ending(), after.line_ending()) {
        (LineEnding::Mixed, _) | (_, LineEnding::Mixed) => true,
        (LineEnding::None, _) | (_, LineEnding::None) => false,
        (old, new) => old != new,
    };
    let old = Side::new(&before);
    let new = Side::new(&after);
    let hunks = hunks(&old.whole, &new.whole);
    let mut page =
        Page { diff: Diff::default(), limits, shows_cr, is_full: false, lines: 0, whole: None };
    for group in grouped(&hunks, limits.context) {
        page.group(group, &old, &new);
    }
    page.diff
}

/// One of the two texts.
struct Side<'d> {
    /// Lines with their ends, which is what is compared.
    whole: Vec<&'d str>,
    lines: Vec<Line<'d>>,
}

impl<'d> Side<'d> {
    fn new(document: &'d Document<'_>) -> Self {
        let text = document.text();
        let lines: Vec<Line<'_>> = document.split(text).collect();
        let whole = lines.iter().filter_map(|line| text.get(line.start..line.end())).collect();
        Self { whole, lines }
    }
}

/// Groups hunks with no more lines between them than are shown around both.
fn grouped(hunks: &[Hunk], context: usize) -> impl Iterator<Item = &[Hunk]> {
    hunks.chunk_by(move |a, b| b.old.start - a.old.end <= context.saturating_mul(2))
}

/// A difference in the making.
struct Page<'l> {
    diff: Diff,
    limits: &'l DiffLimits,
    shows_cr: bool,
    is_full: bool,
    /// How many lines are shown.
    lines: usize,
    /// What is shown up to the end of the last change that is shown as a whole.
    whole: Option<(usize, usize)>,
}

impl Page<'_> {
    fn group(&mut self, group: &[Hunk], old: &Side<'_>, new: &Side<'_>) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
        let before = first.old.start.min(self.limits.context);
        let after = (old.lines.len() - last.old.end).min(self.limits.context);
        let old_range = first.old.start - before..last.old.end + after;
        let new_range = first.new.start - before..last.new.end + after;
        self.line(&format!("@@ -{} +{} @@", position(&old_range), position(&new_range)));
        let mut at = old_range.start;
        for hunk in group {
            self.lines(' ', old, at..hunk.old.start);
            // Where each line became another one, both are shown near to each other.
            let at_once = if hunk.old.len() == hunk.new.len() { AT_ONCE } else { usize::MAX };
            let rest = |range: &Range<usize>, done: usize| {
                range.start + done..range.end.min((range.start + done).saturating_add(at_once))
            };
            for done in (0..hunk.old.len().max(hunk.new.len())).step_by(at_once) {
                self.lines('-', old, rest(&hunk.old, done));
                self.lines('+', new, rest(&hunk.new, done));
                self.end_change();
            }
            self.diff.removed += hunk.old.len() as u64;
            self.diff.added += hunk.new.len() as u64;
            at = hunk.old.end;
        }
        self.lines(' ', old, at..old_range.end);
    }

    /// Takes back what is shown of a change that has no room as a whole, unless it is the first.
    fn end_change(&mut self) {
        if !self.is_full {
            self.whole = Some((self.diff.text.len(), self.lines));
        } else if let Some((bytes, lines)) = self.whole {
            self.diff.left_out += (self.lines - lines) as u64;
            self.diff.text.truncate(bytes);
            self.lines = lines;
        }
    }

    fn lines(&mut self, sign: char, side: &Side<'_>, range: Range<usize>) {
        for line in side.lines.get(range).unwrap_or_default() {
            if self.is_full {
                self.diff.left_out += 1;
                continue;
            }
            let most = self.limits.line_bytes;
            let kept =
                line.content.get(..line.content.floor_char_boundary(most)).unwrap_or_default();
            let mut text = format!("{sign}{kept}");
            if kept.len() < line.content.len() {
                // Writing to a string cannot fail.
                let _ = write!(text, "[{} bytes more]", line.content.len() - kept.len());
            }
            match line.ending {
                Some(ending) if self.shows_cr && ending.as_str().starts_with('\r') => {
                    text.push('\r');
                }
                Some(_) => {}
                None => text.push_str("\n\\ No newline at end of file"),
            }
            self.line(&text);
        }
    }

    fn line(&mut self, line: &str) {
        let text = &mut self.diff.text;
        let is_over =
            self.lines >= self.limits.lines || text.len() + line.len() + 1 > self.limits.bytes;
        if self.is_full || (!text.is_empty() && is_over) {
            self.is_full = true;
            self.diff.left_out += 1;
            return;
        }
        text.push_str(line);
        text.push('\n');
        self.lines += 1;
    }
}

/// Writes a range of lines as a hunk's head has it.
fn position(range: &Range<usize>) -> String {
    match range.len() {
        // Of no lines, the one before them is named.
        0 => format!("{},0", range.start),
        1 => format!("{}", range.start + 1),
        len => format!("{},{len}", range.start + 1),
    }
}
