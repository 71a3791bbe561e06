use std::num::NonZeroUsize;

use haft_text::{
    Document, Edit, EditError, EditRules, Edited, LineEnding, LineHash, MatchGrade, Refusal, edit,
    insert, overwrite,
};

const RULES: EditRules = EditRules {
    highest: MatchGrade::LookAlike,
    most_places: NonZeroUsize::new(1000).unwrap(),
    most_bytes: 1024 * 1024,
};

fn one(old: &str, new: &str) -> Edit {
    Edit { old: old.to_owned(), new: new.to_owned(), replace_all: false }
}

fn all(old: &str, new: &str) -> Edit {
    Edit { replace_all: true, ..one(old, new) }
}

fn try_edit(file: impl AsRef<[u8]>, edits: &[Edit]) -> Result<Edited, EditError> {
    edit(file.as_ref(), edits, &RULES)
}

/// The grade and the file after one edit.
fn edited(file: impl AsRef<[u8]>, edit: Edit) -> (&'static str, Vec<u8>) {
    let edited = try_edit(file, &[edit]).unwrap();
    (edited.applied[0].grade.name(), edited.bytes)
}

/// The grade and the file after one edit, as text.
fn text(file: &str, edit: Edit) -> (&'static str, String) {
    let (grade, bytes) = edited(file, edit);
    (grade, String::from_utf8(bytes).unwrap())
}

fn refused(file: impl AsRef<[u8]>, edit: Edit) -> Refusal {
    try_edit(file, &[edit]).unwrap_err().refusal
}

#[test]
fn o_001_lines_of_a_crlf_file_are_found_and_keep_their_ends() {
    let file = "alpha\r\nbeta\r\ngamma";
    for edit in [one("alpha\nbeta", "ALPHA\nBETA"), all("alpha\nbeta", "ALPHA\nBETA")] {
        assert_eq!(text(file, edit), ("line_ending", "ALPHA\r\nBETA\r\ngamma".to_owned()));
    }
    // New lines end as the line they go to does.
    let (grade, after) = text(file, one("beta", "one\ntwo"));
    assert_eq!((grade, after.as_str()), ("exact", "alpha\r\none\r\ntwo\r\ngamma"));
    let (_, after) = text(file, one("gamma", "c\nd"));
    assert_eq!(after, "alpha\r\nbeta\r\nc\r\nd");
}

#[test]
fn line_ends_that_are_asked_for_are_written() {
    assert_eq!(text("a\r\nb\r\n", all("\r\n", "\n")), ("exact", "a\nb\n".to_owned()));
    assert_eq!(text("a\nb\n", all("\n", "\r\n")), ("exact", "a\r\nb\r\n".to_owned()));
    assert_eq!(text("a\nb\n", one("a", "a\r\nx")), ("exact", "a\r\nx\nb\n".to_owned()));
}

#[test]
fn each_line_of_a_mixed_file_keeps_its_end() {
    let (grade, after) = text("a\r\nb\nc\r\nd\n", one("a\nb\nc\n", "1\n2\n3\n4\n"));
    assert_eq!((grade, after.as_str()), ("line_ending", "1\r\n2\n3\r\n4\r\nd\n"));
    let edited = try_edit("a\r\nb\nc\r\n", &[one("a\nb\nc\n", "1\n2\n3\n")]).unwrap();
    assert_eq!(edited.applied[0].ending, Some(LineEnding::Mixed));
    assert_eq!(text("one\rtwo\rthree\r", one("one\ntwo", "1\n2")).1, "1\r2\rthree\r");
}

#[test]
fn o_002_a_byte_order_mark_stays() {
    let file = b"\xef\xbb\xbfhello\r\nworld\r\n";
    assert_eq!(edited(file, one("hello", "hello2")).1, b"\xef\xbb\xbfhello2\r\nworld\r\n");
    let (bytes, ending) = overwrite(file, "bye\n", 100).unwrap();
    assert_eq!((bytes.as_slice(), ending), (&b"\xef\xbb\xbfbye\r\n"[..], Some(LineEnding::Crlf)));
    let units =
        |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let (_, after) = edited(units("\u{feff}one\ntwo\n"), one("two", "2 \u{1f600}"));
    assert_eq!(after, units("\u{feff}one\n2 \u{1f600}\n"));
}

#[test]
fn o_003_bytes_that_are_not_text_survive() {
    let file = b"const x = 1;\n// caf\xe9 note\n";
    let (_, after) = edited(file, one("const x = 1;", "const x = 2;"));
    assert_eq!(after, b"const x = 2;\n// caf\xe9 note\n");
    let file = b"const x = 1;\n// \xd6\xd0\xce\xc4\n";
    let (_, after) = edited(file, one("const x = 1;", "const x = 2;"));
    assert_eq!(after, b"const x = 2;\n// \xd6\xd0\xce\xc4\n");
    // UTF-8 with one broken byte is UTF-8, and the byte is no character to look for.
    let file = "gr\u{f6}\u{df}e \u{e9}t\u{e9} ".bytes().chain(*b"\xff end\n").collect::<Vec<_>>();
    let (_, after) = edited(&file, one("end", "END"));
    assert_eq!(after, [&file[..file.len() - 4], b"END\n"].concat());
    assert!(matches!(refused(&file, one("\u{fffd}", "x")), Refusal::NotFound { .. }));
}

#[test]
fn new_text_is_written_in_the_encoding_of_the_file() {
    let file = b"na\xefve caf\xe9\n";
    assert_eq!(edited(file, one("na\u{ef}ve", "d\u{e9}j\u{e0}")).1, b"d\xe9j\xe0 caf\xe9\n");
    let error = try_edit(file, &[one("na\u{ef}ve", "a\n \u{2192}")]).unwrap_err();
    insta::assert_snapshot!(error, @"windows-1252 cannot hold U+2192 (line 2, column 2 of the text)");
}

#[test]
fn o_004_new_text_is_taken_literally() {
    let new = "log(\"$& $1 $$ ${x} $` $' \\1 \\0 ok\");";
    let file = "log(\"done\");\nlog(\"done\");\n";
    assert_eq!(text(file, all("log(\"done\");", new)).1, format!("{new}\n{new}\n"));
    assert_eq!(text("log(\"done\");", one("log(\"done\");", new)).1, new);
}

#[test]
fn o_006_quotes_are_what_they_are() {
    let file = "/LORD(['\u{2019}]s)?/ tail\n";
    assert_eq!(text(file, one("tail", "TAIL")).1, "/LORD(['\u{2019}]s)?/ TAIL\n");
    assert_eq!(text("it's\n", one("'", "\u{2019}")), ("exact", "it\u{2019}s\n".to_owned()));
    // Found by a look-alike, and written as it was given.
    let (grade, after) = text("say \u{201c}it\u{2019}s\u{201d} now\n", one("\"it's\"", "\"no\""));
    assert_eq!((grade, after.as_str()), ("look_alike", "say \"no\" now\n"));
}

#[test]
fn a_look_alike_is_found_whole_or_not_at_all() {
    assert_eq!(text("wait\u{2026} go\n", one("wait...", "go")).1, "go go\n");
    assert!(matches!(refused("wait\u{2026} go\n", one("wait..", "go")), Refusal::NotFound { .. }));
    assert_eq!(text("a\u{a0}\u{2013}\u{3000}b\n", one("a - b", "c")).1, "c\n");
    assert_eq!(text("f\u{ff08}x\u{ff09}\n", one("f(x)", "g(x)")).1, "g(x)\n");
}

#[test]
fn o_011_a_place_found_in_a_folded_copy_changes_in_the_file_alone() {
    let file = "def foo():\n    x = 1\n    y = 2\n    return x + y\n";
    assert!(matches!(refused(file, one("    x  =  1", "    x = 100")), Refusal::NotFound { .. }));
    let file = "def foo():  \n\tx = 1 \n\ty = 2\t\n\treturn x + y\n";
    let (grade, after) = text(file, one("    x = 1\n    y = 2", "    x = 100\n    y = 2"));
    assert_eq!(grade, "indentation");
    assert_eq!(after, "def foo():  \n\tx = 100\n\ty = 2\t\n\treturn x + y\n");
}

#[test]
fn trailing_space_is_let_pass_and_what_lies_outside_keeps_its_own() {
    let (grade, after) = text("a  \n\t\nb \t\nc\n", one("a\n\nb", "A\nB"));
    assert_eq!((grade, after.as_str()), ("trailing_space", "A\nB \t\nc\n"));
    // Space at the end of `old` only passes at the end of a line.
    assert!(matches!(refused("x = 1; y\n", one("x = 1;  ", "z")), Refusal::NotFound { .. }));
    assert_eq!(text("x = 1;\n", one("x = 1;  ", "z")).1, "z\n");
}

#[test]
fn new_text_is_indented_as_the_place_is() {
    let file = "class A:\n        def f(self):\n            return 1\n";
    let old = "def f(self):\n    return 1\n";
    let new = "def f(self):\n    if x:\n        return 2\n\n    return 1\n";
    let (grade, after) = text(file, one(old, new));
    assert_eq!(grade, "indentation");
    assert_eq!(
        after,
        "class A:\n        def f(self):\n            if x:\n                return 2\n\n            return 1\n"
    );
    let less = "if a:\n    b()\n";
    assert_eq!(
        text(less, one("  if a:\n      b()\n", "  if a:\n      c()\n")).1,
        "if a:\n    c()\n"
    );
    let tabs = "if a {\n\tb();\n}\n";
    assert_eq!(
        text(tabs, one("    b();", "    c();\n      d();")).1,
        "if a {\n\tc();\n\t  d();\n}\n"
    );
    let spaces = "if a {\n    b();\n}\n";
    assert_eq!(
        text(spaces, one("\tb();", "\tc();\n\t\td();")).1,
        "if a {\n    c();\n        d();\n}\n"
    );
}

#[test]
fn lines_that_are_not_all_indented_alike_are_another_place() {
    let file = "if a:\n    b()\nc()\n";
    assert!(matches!(refused(file, one("  if a:\n    b()\n", "x")), Refusal::NotFound { .. }));
    // The new text would have to be indented by less than nothing.
    let refusal = refused("if a:\n    b()\n", one("  if a:\n      b()\n", "  if a:\nb()\n"));
    let Refusal::Unindentable { line, nearest } = refusal else { panic!("{refusal:?}") };
    assert_eq!((line, nearest.first_line, nearest.last_line), (2, 1, 2));
}

#[test]
fn a_last_line_may_be_a_part_of_its_line() {
    let (grade, after) =
        text("    foo(\r\n      bar, baz)\r\n", one("foo(\n      bar", "q(\n      r"));
    assert_eq!((grade, after.as_str()), ("line_ending", "    q(\r\n      r, baz)\r\n"));
    let (grade, after) =
        text("x = foo(\n      bar,\n      baz)\n", one("foo(\n  bar,\n  b", "foo(\n  q,\n  b"));
    assert_eq!((grade, after.as_str()), ("indentation", "x = foo(\n      q,\n      baz)\n"));
}

#[test]
fn o_012_escapes_are_characters_like_others() {
    let file = "printf(\"a\\n\");\n\tx();\n";
    assert_eq!(text(file, one("a\\n", "b\\n")).1, "printf(\"b\\n\");\n\tx();\n");
    assert_eq!(text(file, one("\tx();", "\ty();")).1, "printf(\"a\\n\");\n\ty();\n");
}

#[test]
fn o_013_final_newlines_stay_as_they_are() {
    assert_eq!(text("a\nb", one("a", "A")).1, "A\nb");
    assert_eq!(text("alpha\nbeta\n\n", one("alpha", "ALPHA")).1, "ALPHA\nbeta\n\n");
    assert!(matches!(refused("a\nb", one("b\n", "c\n")), Refusal::NotFound { .. }));
}

#[test]
fn o_014_nothing_is_no_text_to_look_for() {
    for file in ["abc", ""] {
        assert_eq!(refused(file, one("", "X")), Refusal::EmptyOld);
        assert_eq!(refused(file, all("", "X")), Refusal::EmptyOld);
    }
    // White space alone is found as it is, and by nothing looser.
    assert_eq!(text("a b\n", one(" ", "_")).1, "a_b\n");
    assert!(matches!(refused("a\tb\n", one("   ", "_")), Refusal::NotFound { .. }));
}

#[test]
fn o_017_an_edit_that_changes_nothing_is_refused() {
    assert_eq!(refused("abc", one("b", "b")), Refusal::Identical);
    let error = try_edit("abc", &[one("b", "x"), one("x", "b")]).unwrap_err();
    assert_eq!((error.edit, error.refusal), (1, Refusal::Unchanged));
    assert_eq!(try_edit("abc", &[]).unwrap_err().refusal, Refusal::Unchanged);
}

#[test]
fn o_020_a_text_in_several_places_is_ambiguous() {
    let file = "fn a(){\n  x = 1;\n}\nfn b(){\n  x = 1;\n}\n";
    let refusal = refused(file, one("  x = 1;", "  x = 2;"));
    let Refusal::Ambiguous { lines, only, is_overlapping, .. } = refusal else {
        panic!("{refusal:?}")
    };
    assert_eq!((lines, is_overlapping), (vec![2, 5], false));
    let told: Vec<_> = only.iter().map(|it| (it.line, &*it.before, &*it.after)).collect();
    assert_eq!(told, [(2, "fn a(){\n", ""), (5, "fn b(){\n", "")]);
    let edited = try_edit(file, &[all("  x = 1;", "  x = 2;")]).unwrap();
    assert_eq!(edited.applied[0].places, 2);
    assert_eq!(edited.bytes, file.replace('1', "2").into_bytes());

    for edit in [one("aa", "b"), all("aa", "b")] {
        let refusal = refused("aaa", edit);
        assert!(matches!(refusal, Refusal::Ambiguous { is_overlapping: true, .. }), "{refusal:?}");
    }
}

#[test]
fn o_021_an_edit_without_a_place_is_no_overwrite() {
    let file: String =
        (1..=600).map(|number| ["line ", &number.to_string(), "\n"].concat()).collect();
    for old in ["// ... existing code ...\n", "Here is the new file:\n\nnothing else"] {
        assert!(matches!(refused(&file, one(old, "short\n")), Refusal::NotFound { .. }));
    }
}

#[test]
fn several_edits_each_work_on_what_those_before_left() {
    let edits = [one("one", "two"), all("two", "three")];
    assert_eq!(try_edit("one two\n", &edits).unwrap().bytes, b"three three\n");
    let error = try_edit("one two\n", &[one("one", "1"), one("one", "x")]).unwrap_err();
    assert_eq!(error.edit, 1);
    // An encoding that was told from characters which are gone is still the encoding.
    let edits = [one("\u{e9}", ""), one("caf", "\u{e8}")];
    assert_eq!(try_edit(b"na caf\xe9\n", &edits).unwrap().bytes, b"na \xe8\n");
}

#[test]
fn the_lines_that_changed_are_told() {
    let edited = try_edit("a\nb\nc\nd\n", &[one("b\n", "")]).unwrap();
    let touched = &edited.applied[0].touched;
    assert_eq!((touched[0].first_line, touched.len()), (2, 1));
    assert_eq!((touched[0].old.as_slice(), touched[0].new.len()), (&[LineHash::of("b")][..], 0));
    // What joins the next line changes it.
    let edited = try_edit("a\nb\nc\nd\n", &[one("b\n", "x")]).unwrap();
    let touched = &edited.applied[0].touched[0];
    assert_eq!(touched.old, [LineHash::of("b"), LineHash::of("c")]);
    assert_eq!(touched.new, [LineHash::of("xc")]);
    let edited = try_edit("a a\nb\na\n", &[all("a", "z")]).unwrap();
    let lines: Vec<u64> = edited.applied[0].touched.iter().map(|it| it.first_line).collect();
    assert_eq!((edited.applied[0].places, lines), (3, vec![1, 3]));
}

#[test]
fn a_file_does_not_grow_without_bound() {
    let rules = EditRules { most_bytes: 100, ..RULES };
    let error = edit(&[b'a'; 50], &[all("a", "bbb")], &rules).unwrap_err();
    insta::assert_snapshot!(error, @"the file would become longer than 100 bytes");
    let error = try_edit("a".repeat(1001), &[all("a", "b")]).unwrap_err();
    insta::assert_snapshot!(error, @"the old text stands in more than 1000 places");
}

#[test]
fn grades_go_no_higher_than_they_may() {
    let rules = EditRules { highest: MatchGrade::LineEnding, ..RULES };
    assert!(edit(b"a \r\nb", &[one("a\nb", "c")], &rules).is_err());
    assert!(edit(b"a\r\nb", &[one("a\nb", "c")], &rules).is_ok());
}

#[test]
fn line_numbers_that_were_copied_are_recognised() {
    let refusal = refused("one\ntwo\n", one(" 1\tone\n 2\ttwo", " 1\tONE\n 2\ttwo"));
    let Refusal::NotFound { without_numbers: Some(edit), .. } = refusal else {
        panic!("{refusal:?}")
    };
    assert_eq!(*edit, one("one\ntwo", "ONE\ntwo"));
}

#[test]
fn refusals_are_fragments() {
    let said = [
        refused("abc", one("", "x")),
        refused("abc", one("a", "a")),
        refused("abc", one("x", "y")),
        refused("abab", one("ab", "y")),
        refused("ab ".repeat(50), one("ab", "y")),
    ]
    .map(|refusal| refusal.to_string());
    insta::assert_snapshot!(said.join("\n"), @r"
    the old text is empty
    the old and the new text are the same
    the old text stands nowhere in the file
    the old text stands in 2 places
    the old text stands in more than 20 places
    ");
}

#[test]
fn lines_are_inserted_whole() {
    let insert = |file: &str, after, lines: &str| {
        insert(file.as_bytes(), after, lines, 1000).map(|it| String::from_utf8(it.bytes).unwrap())
    };
    assert_eq!(insert("a\nb\n", 0, "x").unwrap(), "x\na\nb\n");
    assert_eq!(insert("a\nb\n", 1, "x\n").unwrap(), "a\nx\nb\n");
    assert_eq!(insert("a\nb\n", 2, "x\ny").unwrap(), "a\nb\nx\ny\n");
    assert_eq!(insert("a\nb", 2, "x\n").unwrap(), "a\nb\nx");
    assert_eq!(insert("a\r\nb\u{e9}", 2, "x\ny").unwrap(), "a\r\nb\u{e9}\r\nx\r\ny");
    assert_eq!(insert("a", 1, "x\n").unwrap(), "a\nx");
    assert_eq!(insert("", 0, "x").unwrap(), "x");
    assert_eq!(insert("a\n", 1, "\n").unwrap(), "a\n\n");
    let error = insert("a\nb\n", 3, "x").unwrap_err();
    insta::assert_snapshot!(error, @"there is no line 3 to insert after: the file has 2 lines");
    insta::assert_snapshot!(insert("a\n", 1, "").unwrap_err(), @"the text to insert is empty");
}

#[test]
fn a_whole_text_is_written_as_the_file_was() {
    let write = |file: &[u8], text: &str| overwrite(file, text, 1000).map(|(bytes, _)| bytes);
    assert_eq!(write(b"caf\xe9 na\xefve\n", "\u{e8}\n").unwrap(), b"\xe8\n");
    assert_eq!(write(b"a\r\nb\r\n", "x\r\ny\n").unwrap(), b"x\r\ny\n");
    assert_eq!(write(b"a\nb\r\n", "x\n").unwrap(), b"x\n");
    assert_eq!(write(b"", "x\n").unwrap(), b"x\n");
    assert!(write(b"caf\xe9 na\xefve\n", "\u{2192}").is_err());
    assert!(write(b"", &"x".repeat(1001)).is_err());
    assert_eq!(Document::new(b"a\r\n").line_ending(), LineEnding::Crlf);
}
