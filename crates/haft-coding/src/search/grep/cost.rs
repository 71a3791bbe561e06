//! What a pattern costs, before it is compiled.

use haft_protocol::limits;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind};

/// The positions that plain text counts as, however long it is: it leads an automaton nowhere but on.
pub(super) const PLAIN: u64 = 4;

/// Counts the positions of a pattern: the characters and classes it is made of, each as often as it may be repeated.
///
/// However a pattern is run, a byte is tried with no more positions than there are, so positions times bytes bounds the
/// work: the automaton is never larger, and no engine in use goes back. What cannot be parsed has none.
pub(super) fn positions(pattern: &str) -> u64 {
    let parsed = ParserBuilder::new().utf8(false).multi_line(true).build().parse(pattern);
    parsed.map_or(0, |hir| match hir.kind() {
        HirKind::Literal(_) => PLAIN,
        _ => positions_of(&hir),
    })
}

/// Returns the most bytes that a pattern is tried on at once.
pub(super) fn longest(positions: u64) -> usize {
    usize::try_from(limits::PATTERN_WORK / positions.max(1)).unwrap_or(usize::MAX)
}

// The parser bounds how deep a pattern goes.
fn positions_of(hir: &Hir) -> u64 {
    let sum = |parts: &[Hir]| parts.iter().map(positions_of).fold(0, u64::saturating_add);
    match hir.kind() {
        HirKind::Empty => 0,
        // A byte of a character is tried where the one before it was found, and nowhere else.
        HirKind::Literal(literal) => String::from_utf8_lossy(&literal.0).chars().count() as u64,
        HirKind::Class(_) | HirKind::Look(_) => 1,
        HirKind::Capture(capture) => positions_of(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => sum(parts),
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min).max(1);
            positions_of(&repetition.sub).max(1).saturating_mul(times.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_count_as_often_as_they_may_repeat() {
        let cases = [
            ("needle", 4),
            (r"fn\s+\w+\(", 5),
            ("a|bc", 3),
            ("a{3}", 3),
            ("(a[bc]){2,10}", 20),
            ("(a{100}){100,}", 10_000),
            ("(?:){1000}", 0),
            ("[^b]{0,2000}[ab]{2000}[^c]{0,2000}c", 6_001),
            ("中{1,300}$", 301),
            ("(((a{1000}){1000}){1000}){1000}", 1_000_000_000_000),
            ("(", 0),
        ];
        for (pattern, count) in cases {
            assert_eq!(positions(pattern), count, "{pattern}");
        }
    }

    #[test]
    fn a_cheap_pattern_is_tried_on_any_line_that_is_held() {
        assert!(longest(4) >= limits::SEARCH_HELD_LINE_BYTES);
        assert_eq!(longest(limits::PATTERN_POSITIONS), 16 * 1024);
    }
}
