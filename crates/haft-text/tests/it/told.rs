//! What an edit says of what it did, and where its limits are.

use std::num::NonZeroUsize;

use haft_text::{
    Applied, Edit, EditError, EditRules, Edited, LineEnding, LineHash, MatchGrade, Refusal,
    SpliceError, edit, insert, overwrite,
};

fn rules(most_bytes: usize) -> EditRules {
    EditRules {
        highest: MatchGrade::LookAlike,
        most_places: NonZeroUsize::new(10).unwrap(),
        most_bytes,
    }
}

fn try_edit(file: &[u8], old: &str, new: &str, most_bytes: usize) -> Result<Edited, EditError> {
    let one = Edit { old: old.to_owned(), new: new.to_owned(), replace_all: true };
    edit(file, &[one], &rules(most_bytes))
}

fn applied(file: &str, old: &str, new: &str) -> Applied {
    try_edit(file.as_bytes(), old, new, 1000).unwrap().applied.remove(0)
}

#[test]
fn line_ends_are_told_where_they_are_not_as_they_were_given() {
    use LineEnding::{Cr, Crlf, Mixed};
    for (file, old, new, ending) in [
        ("a\nb\n", "a", "x\ny", None),
        ("a\nb\n", "a", "x\ny\nz", None),
        ("a\r\nb\r\n", "a", "x", None),
        ("a\r\nb\r\n", "a", "x\ny", Some(Crlf)),
        ("a\r\nb\r\n", "a", "x\ny\nz", Some(Crlf)),
        ("a\r\nb\r\n", "a", "x\r\ny", None),
        ("a\rb\r", "a", "x\ny", Some(Cr)),
        ("a\r\nb\n", "a\nb\n", "x\ny\n", Some(Mixed)),
    ] {
        assert_eq!(applied(file, old, new).ending, ending, "{old:?} to {new:?} in {file:?}");
    }
}

#[test]
fn it_is_told_whether_new_text_was_indented_anew() {
    for (file, old, new, is_indented_anew) in [
        ("  a\n  b\n", "a\nb", "x\ny", true),
        ("  a\n  b\n", "  a\n  b", "  x\n  y", false),
        ("  a\n  b\n", "a", "x\ny", false),
    ] {
        let applied = applied(file, old, new);
        assert_eq!(applied.is_indented_anew, is_indented_anew, "{old:?} to {new:?} in {file:?}");
    }
}

#[test]
fn a_tab_is_no_space_however_the_file_spells_its_spaces() {
    let file = "\t\u{a0}if x\n\t\u{a0}y\n";
    let edited = try_edit(file.as_bytes(), "\t if x\n\t y", "\t z", 100).unwrap();
    assert_eq!(edited.applied[0].grade, MatchGrade::LookAlike);
    assert_eq!(edited.bytes, b"\t z\n");
    assert!(!edited.applied[0].is_indented_anew);
}

#[test]
fn places_in_different_lines_are_told_apart() {
    let hashes = |lines: &[&str]| lines.iter().map(|it| LineHash::of(it)).collect::<Vec<_>>();
    let check = |file, old, new, expected: &[(u64, &[&str], &[&str])]| {
        let all = applied(file, old, new).touched;
        let all: Vec<_> = all.into_iter().map(|it| (it.first_line, it.old, it.new)).collect();
        let expected = expected.iter().map(|(at, old, new)| (*at, hashes(old), hashes(new)));
        assert_eq!(all, expected.collect::<Vec<_>>(), "{old:?} to {new:?} in {file:?}");
    };
    check(
        "x\nx\nx x\n",
        "x",
        "y",
        &[(1, &["x"], &["y"]), (2, &["x"], &["y"]), (3, &["x x"], &["y y"])],
    );
    check("a\nxb\nc\n", "x", "", &[(2, &["xb"], &["b"])]);
    check("a\r\nxb\r\nc\r\n", "x", "", &[(2, &["xb"], &["b"])]);
    // What joins the next line changes that one too, and what stands in it.
    check("x\nx\nb\nc\n", "x\n", "y", &[(1, &["x", "x", "b"], &["yyb"])]);
    check("a\nx\n", "x\n", "", &[(2, &["x"], &[])]);
    check("a\n\nb\n", "a\n", "x\n", &[(1, &["a"], &["x"])]);
}

#[test]
fn a_file_may_be_as_long_as_it_may_be_and_no_longer() {
    let too_long = |most| SpliceError::TooLong { most };
    for file in ["ab", "abcdef", "cdefab"] {
        let length = file.len() + 1;
        assert_eq!(try_edit(file.as_bytes(), "ab", "xyz", length).unwrap().bytes.len(), length);
        let error = try_edit(file.as_bytes(), "ab", "xyz", length - 1).unwrap_err();
        assert_eq!(error.refusal, Refusal::Unwritable(too_long(length - 1)), "{file}");
    }
    assert_eq!(overwrite(b"ab", "xyz", 3), Ok((b"xyz".to_vec(), None)));
    assert_eq!(overwrite(b"ab", "xyz", 2), Err(too_long(2)));
}

#[test]
fn text_that_would_join_damaged_bytes_into_a_character_is_refused() {
    let file = "gr\u{f6}\u{df}e \u{e9}t\u{e9} ".bytes().chain(*b"\xc3X\xa9\n").collect::<Vec<_>>();
    let error = try_edit(&file, "X", "", 100).unwrap_err();
    assert_eq!(error.refusal, Refusal::Unwritable(SpliceError::Unclean { encoding: "utf-8" }));
    assert!(try_edit(&file, "X", "Y", 100).is_ok(), "what keeps them apart is written");
}

#[test]
fn inserted_lines_end_as_their_neighbours_and_the_file_as_it_did() {
    for (file, after, lines, expected) in [
        ("a\r\nb\r\n", 0, "x", "x\r\na\r\nb\r\n"),
        ("a\r\nb\r\n", 1, "x", "a\r\nx\r\nb\r\n"),
        ("a\r\nb\r\n", 2, "x\ny\n", "a\r\nb\r\nx\r\ny\r\n"),
        ("a\nb\r\nc\n", 1, "x", "a\nx\nb\r\nc\n"),
        ("a\nb\r\nc\n", 2, "x", "a\nb\r\nx\r\nc\n"),
        ("a\nb", 2, "x\ny\n", "a\nb\nx\ny"),
        ("a\nb", 2, "x\r\n", "a\nb\nx"),
        ("a\r\nb", 2, "x\n", "a\r\nb\r\nx"),
        ("a\rb", 2, "x\n", "a\rb\rx"),
        ("a\nb", 2, "\n", "a\nb\n\n"),
        ("a\nb", 2, "x\n\n", "a\nb\nx\n\n"),
    ] {
        let edited = insert(file.as_bytes(), after, lines, 100).unwrap();
        let bytes = String::from_utf8(edited.bytes).unwrap();
        assert_eq!(bytes, expected, "{lines:?} after line {after} of {file:?}");
    }
}

#[test]
fn a_grade_counts_as_blank_what_looks_so_to_it() {
    for (grade, text, rest) in [
        (MatchGrade::TrailingSpace, " a\u{a0} \t", " a\u{a0}"),
        (MatchGrade::Indentation, "\t\u{a0}a\u{a0}", "\u{a0}a\u{a0}"),
        (MatchGrade::LookAlike, "\t\u{a0}a\u{3000}\u{2009}", "a"),
    ] {
        assert_eq!(grade.normalise(text), rest, "{grade}");
    }
}

#[test]
fn a_grade_is_named_by_what_it_lets_pass() {
    let shown = MatchGrade::ALL.map(|grade| format!("{}: {grade}", grade.name()));
    insta::assert_snapshot!(shown.join("\n"), @r"
    exact: exact
    line_ending: line endings
    trailing_space: trailing space
    indentation: indentation
    look_alike: look-alike characters
    ");
}
