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

#[test]
fn a_place_begins_with_the_indentation_it_is_shifted_by_and_takes_nothing_else() {
    for (file, old, expected) in [
        ("    a\n      b\n", "a\n  b", ("indentation", (0, 13))),
        ("z\n    a\n      b\n", "a\n  b", ("indentation", (2, 15))),
        // What stands before it in its line stays, and so does a line that is blank.
        ("    x a\n      b\n", "a\n  b", ("indentation", (6, 15))),
        ("  \n    b\n", "\nb", ("indentation", (2, 8))),
        // Nothing tells by how much the lines are shifted.
        ("    it\u{2019}s\n\n", "it's\n\t\n", ("look_alike", (4, 12))),
    ] {
        let (grade, found) = places(file, old);
        let spans: Vec<_> = found.iter().map(|(start, end, ..)| (*start, *end)).collect();
        assert_eq!((grade, spans), (expected.0, vec![expected.1]), "{old:?} in {file:?}");
    }
}

#[test]
fn lines_are_shifted_alike_or_are_not_the_place() {
    for (file, old, grade) in [
        // By tabs for spaces, or spaces for tabs, where nothing else is indented.
        ("x\na\n\tb\n\t\tc\n", "x\na\n    b\n        c", "indentation"),
        ("x\na\n    b\n        c\n", "x\na\n\tb\n\t\tc", "indentation"),
        ("x\n  a\n\tb\n", "x\n  a\n    b", "nowhere"),
        ("x\n\tb\n\tc\n", "x\n    b\n      c", "nowhere"),
        ("x\n    b\n    c\n", "x\n\tb\n\t\tc", "nowhere"),
        // A mixture is neither.
        ("x\n\tb\n", "x\n \t  b", "nowhere"),
        ("x\n\t b\n", "x\n    b", "nowhere"),
        ("x\n \t  b\n", "x\n\tb", "nowhere"),
        ("x\n    b\n", "x\n\t b", "nowhere"),
        // By more, or by less.
        ("x\n    b\n      c\n", "x\n  b\n    c", "indentation"),
        ("x\n  b\n    c\n", "x\n    b\n      c", "indentation"),
        ("x\n    b\n     c\n", "x\n  b\n    c", "nowhere"),
    ] {
        assert_eq!(places(file, old).0, grade, "{old:?} in {file:?}");
    }
}

#[test]
fn places_by_look_alikes_are_found_in_every_line() {
    let file = "xx it\u{2019}s\nyy\u{2019}y it\u{2019}s it\u{2019}s\n  it\u{2019}s\n";
    let (grade, found) = places(file, "it's");
    assert_eq!(grade, "look_alike");
    let found = found.iter().map(|(start, end, line, _)| (&file[*start..*end], *line));
    assert_eq!(found.collect::<Vec<_>>(), [1, 2, 2, 3].map(|line| ("it\u{2019}s", line)));
}
