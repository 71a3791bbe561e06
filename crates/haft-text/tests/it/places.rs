//! Where a text is found: by which grade, over which lines, and where it is not.

use std::num::NonZeroUsize;

use haft_text::{Document, Found, MatchGrade};

const MOST: NonZeroUsize = NonZeroUsize::new(100).unwrap();

fn find(file: &str, old: &str) -> Option<Found> {
    Document::new(file.as_bytes()).find(old, MatchGrade::LookAlike, MOST)
}

/// The grade, and each place as its bytes with its first and last line.
fn places(file: &str, old: &str) -> (&'static str, Vec<(usize, usize, u64, u64)>) {
    let Some(found) = find(file, old) else { return ("nowhere", Vec::new()) };
    let place = |it: &haft_text::Span| (it.bytes.start, it.bytes.end, it.first_line, it.last_line);
    (found.grade.name(), found.spans.iter().map(place).collect())
}

#[test]
fn white_space_is_found_as_it_is_or_with_other_line_ends_alone() {
    assert_eq!(places("a\n\nb\n", " \n"), ("nowhere", vec![]));
    assert_eq!(places("a  b\n", "\t"), ("nowhere", vec![]));
    assert_eq!(places("a\u{a0}b\n", " "), ("nowhere", vec![]));
    assert_eq!(places("a\r\n\r\nb", "\n\n"), ("line_ending", vec![(1, 5, 1, 2)]));
    assert_eq!(places("a\rb", "\r\n"), ("line_ending", vec![(1, 2, 1, 1)]));
    assert_eq!(places("a\nb", "\r\n"), ("line_ending", vec![(1, 2, 1, 1)]));
}

#[test]
fn a_place_is_told_by_the_lines_of_its_first_and_last_character() {
    for (file, old, place) in [
        ("a\r\nb\r\n", "a\n", (0, 3, 1, 1)),
        ("a\r\nb\r\n", "\nb", (1, 4, 1, 2)),
        ("a\r\nb\r\n", "b", (3, 4, 2, 2)),
        ("a\nb\nc", "b\nc", (2, 5, 2, 3)),
        ("a\rb\rc", "b\nc", (2, 5, 2, 3)),
    ] {
        assert_eq!(places(file, old).1, [place], "{old:?} in {file:?}");
    }
    // Where places overlap, the second begins within the lines of the first.
    let found = find("x\nx\nx\nx\n", "x\nx\nx").unwrap();
    assert!(found.is_overlapping);
    assert_eq!(places("x\nx\nx\nx\n", "x\nx\nx").1, [(0, 5, 1, 3), (2, 7, 2, 4)]);
}
