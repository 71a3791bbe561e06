//! How changes are shown.

use haft_protocol::{Bound, Count, limits};
use haft_text::{DiffLimits, LineEnding, unified, visible};

use super::Difference;

/// Compares a file before and after, within limits.
pub(super) fn difference(before: &[u8], after: &[u8]) -> (Difference, Option<Bound>) {
    let limits = DiffLimits {
        context: limits::DIFF_CONTEXT_LINES,
        lines: limits::DIFF_LINES,
        bytes: limits::DIFF_BYTES,
        line_bytes: limits::DIFF_LINE_BYTES,
    };
    let diff = unified(before, after, &limits);
    let text = visible(&diff.text).trim_end_matches('\n').to_owned();
    let bound = (diff.left_out > 0).then(|| Bound {
        unit: "lines of the difference".to_owned(),
        kept: text.lines().count() as u64,
        left_out: Count::Exact(diff.left_out),
        way_on: "read the file to see all of it".to_owned(),
    });
    let is_cut = bound.is_some();
    (Difference { added: diff.added, removed: diff.removed, diff: text, is_cut }, bound)
}

/// Names line ends in words.
pub(super) fn ends(ending: LineEnding) -> &'static str {
    match ending {
        LineEnding::Lf => "LF",
        LineEnding::Crlf => "CR LF",
        LineEnding::Cr => "CR",
        LineEnding::Mixed => "different ways",
        LineEnding::None => "no ends",
    }
}
