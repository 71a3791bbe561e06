use haft_text::{Diff, DiffLimits, unified};

const LIMITS: DiffLimits = DiffLimits { context: 1, lines: 400, bytes: 4096, line_bytes: 40 };

fn diff(before: &str, after: &str) -> Diff {
    unified(before.as_bytes(), after.as_bytes(), &LIMITS)
}

#[test]
fn changes_stand_between_the_lines_around_them() {
    let before = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";
    let after = "one\n2\nthree\nfour\nfive\nsix\nseven\neight\n";
    let diff = diff(before, after);
    insta::assert_snapshot!(diff.text, @r"
    @@ -1,3 +1,3 @@
     one
    -two
    +2
     three
    @@ -7 +7,2 @@
     seven
    +eight
    ");
    assert_eq!((diff.added, diff.removed, diff.left_out), (2, 1, 0));
    assert_eq!(self::diff(before, before), Diff::default());
}

#[test]
fn empty_files_and_open_ends_are_told() {
    insta::assert_snapshot!(diff("", "a\nb").text, @r"
    @@ -0,0 +1,2 @@
    +a
    +b
    \ No newline at end of file
    ");
    insta::assert_snapshot!(diff("a\n", "a").text, @r"
    @@ -1 +1 @@
    -a
    +a
    \ No newline at end of file
    ");
    insta::assert_snapshot!(diff("a\n", "").text, @r"
    @@ -1 +0,0 @@
    -a
    ");
}

#[test]
fn line_ends_are_shown_only_where_they_differ() {
    assert_eq!(diff("a\r\nb\r\n", "a\r\nc\r\n").text, "@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
    assert_eq!(diff("a\r\nb\n", "a\nb\n").text, "@@ -1,2 +1,2 @@\n-a\r\n+a\n b\n");
    assert_eq!(diff("a\r\n", "a\n").text, "@@ -1 +1 @@\n-a\r\n+a\n");
}

#[test]
fn texts_of_any_encoding_are_compared_as_text() {
    let units =
        |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let diff = unified(&units("\u{feff}a\nb\n"), &units("\u{feff}a\nc\n"), &LIMITS);
    assert_eq!(diff.text, "@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
}

#[test]
fn a_difference_is_bounded_and_says_what_is_missing() {
    let after: String = (0..1000).map(|number| [&number.to_string(), "\n"].concat()).collect();
    let diff = unified(b"", after.as_bytes(), &DiffLimits { bytes: 30, ..LIMITS });
    assert_eq!(diff.text, "@@ -0,0 +1,1000 @@\n+0\n+1\n+2\n");
    assert_eq!((diff.added, diff.left_out), (1000, 997));
    let long = self::diff("", &"x".repeat(100));
    insta::assert_snapshot!(long.text, @r"
    @@ -0,0 +1 @@
    +xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx[60 bytes more]
    \ No newline at end of file
    ");
}

#[test]
fn of_many_lines_that_changed_both_sides_are_shown_and_no_change_in_part() {
    let lines = |word: &str| -> String {
        (0..100).flat_map(|it| [word.to_owned(), format!(" {it}\n")]).collect()
    };
    let limits = DiffLimits { lines: 50, ..LIMITS };
    let diff = unified(lines("one").as_bytes(), lines("two").as_bytes(), &limits);
    let shown: Vec<&str> = diff.text.lines().collect();
    assert_eq!((shown.len(), diff.left_out), (41, 160));
    assert_eq!((shown[1], shown[21], shown[40]), ("-one 0", "+two 0", "+two 19"));
}
