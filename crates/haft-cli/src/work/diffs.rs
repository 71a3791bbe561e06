//! Changes of files, as they are shown below the call that made them.

use haft::Change;
use haft::store::Store;
use haft::text::DiffLimits;

use crate::command::diff::{lines, shown};
use crate::print::Tone;

/// Changes of one call that are shown.
const CHANGES: usize = 5;

/// How much of each is shown.
const LIMITS: DiffLimits = DiffLimits { context: 1, lines: 24, bytes: 8 * 1024, line_bytes: 400 };

/// Shows what a call changed, line by line where what the files held is kept.
pub(super) fn of(store: Option<&Store>, changes: &[Change]) -> Vec<(Tone, String)> {
    let mut shown_lines = Vec::new();
    for change in changes.iter().take(CHANGES) {
        shown_lines.extend(lines(&shown(store, change, &LIMITS)));
    }
    match changes.len().saturating_sub(CHANGES) {
        0 => {}
        1 => shown_lines.push((Tone::Faint, "… and 1 more change".to_owned())),
        more => shown_lines.push((Tone::Faint, format!("… and {more} more changes"))),
    }
    shown_lines
}
