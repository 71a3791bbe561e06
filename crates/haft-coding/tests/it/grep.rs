//! Searching in files.

use std::fmt::Write;

use haft_policy::Rule;
use haft_protocol::{Count, ErrorKind, limits};
use serde_json::json;

use crate::rig::{Rig, failure};

fn tree() -> Rig {
    let rig = Rig::new();
    rig.file("src/a.rs", "one\nlet needle = 1;\nthree\nfour\nneedle\nsix\n")
        .file("src/b.rs", "no such thing\n")
        .file("b.txt", "\tNeedle and needles\n")
        .file("src/b/c.md", "needle\r\n")
        .file("bin", b"needle\0needle")
        .file(".hidden", "needle\n");
    rig
}

#[test]
fn matches_stand_under_their_files_in_order() {
    let rig = tree();
    insta::assert_snapshot!(rig.grep(&json!({ "pattern": "needle" })), @r"
    .hidden
    1:needle

    b.txt
    1:	Needle and needles

    src/a.rs
    2:let needle = 1;
    5:needle

    src/b/c.md
    1:needle
    [notice: 1 binary file skipped]
    ");
    let data = rig.data(
        "search",
        "grep",
        &json!({ "pattern": "needle", "path": "src/a.rs", "context": 1 }),
    );
    insta::assert_snapshot!(serde_json::to_string_pretty(&data).unwrap(), @r#"
    {
      "kind": "matches",
      "matches": [
        {
          "path": "src/a.rs",
          "line": 2,
          "column": 5,
          "text": "let needle = 1;",
          "is_cut": false,
          "before": [
            "one"
          ],
          "after": [
            "three"
          ]
        },
        {
          "path": "src/a.rs",
          "line": 5,
          "column": 1,
          "text": "needle",
          "is_cut": false,
          "before": [
            "four"
          ],
          "after": [
            "six"
          ]
        }
      ],
      "total": 2,
      "is_total_exact": true,
      "files_searched": 1,
      "skipped": {
        "binary": 0,
        "too_large": 0,
        "not_regular": 0,
        "unreadable": 0,
        "ignored_files": 0,
        "ignored_directories": 0,
        "dotted": 0,
        "protected": 0,
        "hidden_by_rule": 0
      }
    }
    "#);
}

#[test]
fn context_is_told_from_matches_and_gaps_are_marked() {
    let rig = tree();
    insta::assert_snapshot!(rig.grep(&json!({ "pattern": "needle", "path": "src", "context": 1 })), @r"
    src/a.rs
    1-one
    2:let needle = 1;
    3-three
    4-four
    5:needle
    6-six

    src/b/c.md
    1:needle
    ");
    insta::assert_snapshot!(rig.grep(&json!({ "pattern": "needle", "path": "src/a.rs", "before": 2, "after": 0 })), @r"
    src/a.rs
    1-one
    2:let needle = 1;
    3-three
    4-four
    5:needle
    ");
    insta::assert_snapshot!(rig.grep(&json!({ "pattern": "three|needle|four", "path": "src/a.rs", "context": 50 })), @r"
    src/a.rs
    1-one
    2:let needle = 1;
    3:three
    4:four
    5:needle
    6-six
    ");
}

#[test]
fn files_or_counts_are_answered_on_request() {
    let rig = tree();
    insta::assert_snapshot!(rig.grep(&json!({ "pattern": "needle", "output": "files" })), @r"
    .hidden
    b.txt
    src/a.rs
    src/b/c.md
    [notice: 1 binary file skipped]
    ");
    insta::assert_snapshot!(rig.grep(&json!({ "pattern": "needle", "output": "count", "path": "src" })), @r"
    src/a.rs:2
    src/b/c.md:1
    3 matches in 2 files
    ");
    insta::assert_snapshot!(rig.grep(&json!({ "pattern": "needle", "output": "files", "limit": 1 })), @r#"
    .hidden
    [1 file shown, 3 left out: raise "limit", or narrow "path", "include" or "pattern"]
    [notice: 1 binary file skipped]
    "#);
    let data = rig.data("search", "grep", &json!({ "pattern": "needle", "output": "count" }));
    insta::assert_snapshot!(serde_json::to_string_pretty(&data).unwrap(), @r#"
    {
      "kind": "counts",
      "counts": [
        {
          "path": ".hidden",
          "count": 1
        },
        {
          "path": "b.txt",
          "count": 1
        },
        {
          "path": "src/a.rs",
          "count": 2
        },
        {
          "path": "src/b/c.md",
          "count": 1
        }
      ],
      "total": 4,
      "total_matches": 5,
      "is_total_exact": true,
      "files_searched": 5,
      "skipped": {
        "binary": 1,
        "too_large": 0,
        "not_regular": 0,
        "unreadable": 0,
        "ignored_files": 0,
        "ignored_directories": 0,
        "dotted": 0,
        "protected": 0,
        "hidden_by_rule": 0
      }
    }
    "#);
}

#[test]
fn no_match_says_how_much_was_searched() {
    let rig = tree();
    insta::assert_snapshot!(rig.grep(&json!({ "pattern": "absent", "path": "src" })), @"no matches in 3 files");
    insta::assert_snapshot!(rig.grep(&json!({ "pattern": "needle", "include": ["*.py"] })), @"no matches in 0 files");
}

#[test]
fn case_words_and_plain_text() {
    let rig = Rig::new();
    rig.file("a.txt", "Needle\nneedles\na.b\naxb\n$(x)\n");
    let grep = |args: serde_json::Value| rig.grep(&args).replace("a.txt\n", "").replace('\n', " ");
    let texts = [
        grep(json!({ "pattern": "needle" })),
        grep(json!({ "pattern": "needle", "case": "insensitive" })),
        grep(json!({ "pattern": "needle", "case": "smart" })),
        grep(json!({ "pattern": "Needle", "case": "smart" })),
        grep(json!({ "pattern": "needle", "case": "insensitive", "word": true })),
        grep(json!({ "pattern": "a.b" })),
        grep(json!({ "pattern": "a.b", "literal": true })),
        grep(json!({ "pattern": "$(x)", "literal": true })),
    ];
    insta::assert_snapshot!(texts.join("\n"), @r"
    2:needles
    1:Needle 2:needles
    1:Needle 2:needles
    1:Needle
    1:Needle
    3:a.b 4:axb
    3:a.b
    5:$(x)
    ");
}

#[test]
fn patterns_that_cannot_be_are_refused_with_a_way_out() {
    let rig = tree();
    let texts = [
        "x*",
        "^",
        "()",
        "a|",
        "[z-a]",
        "a\\nb",
        "a\nb",
        "(?<n>",
        "\\p{Nope}",
        "(\\w{1000}){1000}",
        "\\w{4000}",
    ]
    .map(|pattern| rig.grep(&json!({ "pattern": pattern })));
    insta::assert_snapshot!(texts.join("\n"), @r#"
    failed (invalid_arguments): `x*` matches where nothing is, so in every line
    hint: write what must be there: `x+` in place of `x*`, `.` for any line with text
    failed (invalid_arguments): `^` matches where nothing is, so in every line
    hint: write what must be there: `x+` in place of `x*`, `.` for any line with text
    failed (invalid_arguments): `()` matches where nothing is, so in every line
    hint: write what must be there: `x+` in place of `x*`, `.` for any line with text
    failed (invalid_arguments): `a|` matches where nothing is, so in every line
    hint: write what must be there: `x+` in place of `x*`, `.` for any line with text
    failed (invalid_arguments): `[z-a]` is no regular expression: invalid character class range, the start must be <= the end
    hint: set "literal": true to search for the text as it is
    failed (invalid_arguments): `a\nb` holds a line end, and a match stays within one line
    hint: set "multiline": true to match over several lines
    failed (invalid_arguments): `a\nb` holds a line end, and a match stays within one line
    hint: set "multiline": true to match over several lines
    failed (invalid_arguments): `(?<n>` is no regular expression: unclosed group
    hint: set "literal": true to search for the text as it is
    failed (invalid_arguments): `\p{Nope}` is no regular expression: Unicode property not found
    hint: set "literal": true to search for the text as it is
    failed (invalid_arguments): `(\w{1000}){1000}` is too large: with what it repeats it has 1 000 000 characters and classes, and 4 096 at most are searched for
    hint: repeat less: `+` in place of a large `{n,m}`, or search for a part of it
    failed (invalid_arguments): `\w{4000}` is too large: it compiles to more than 4 MiB
    hint: repeat less, or search for a part of it
    "#);
    for pattern in [String::new(), "x".repeat(limits::SEARCH_PATTERN_CHARS + 1)] {
        let outcome = rig.call("search", "grep", &json!({ "pattern": pattern }));
        assert_eq!(failure(&outcome).kind, ErrorKind::InvalidArguments);
    }
    assert!(rig.call("search", "grep", &json!({ "pattern": "^$" })).is_ok());
}

#[test]
fn a_match_over_several_lines() {
    let rig = Rig::new();
    rig.file("a.txt", "zero\none\ntwo\nthree\n").file("crlf.txt", "one\r\ntwo\r\n");
    insta::assert_snapshot!(rig.grep(&json!({ "pattern": "one\\ntwo", "multiline": true, "context": 1 })), @r"
    a.txt
    1-zero
    2:one
    3:two
    4-three
    ");
    insta::assert_snapshot!(rig.grep(&json!({ "pattern": "one\ntwo", "multiline": true, "literal": true })), @r"
    a.txt
    2:one
    3:two

    crlf.txt
    1:one
    2:two
    ");
    let long: String = (1..=200).fold(String::new(), |mut text, number| {
        writeln!(text, "line {number}").unwrap();
        text
    });
    rig.file("long.txt", format!("begin\n{long}end\n"));
    let text = rig.grep(&json!({ "pattern": "(?s)begin.*end", "multiline": true }));
    insta::assert_snapshot!(text.lines().skip(48).collect::<Vec<_>>().join("\n"), @r"
    48:line 47
    49:line 48
    50:line 49
    51:… 152 more lines of this match
    ");
}

#[test]
fn line_ends_do_not_hide_a_match() {
    let rig = Rig::new();
    rig.file("crlf.txt", "needle\r\nother\r\n");
    assert_eq!(rig.grep(&json!({ "pattern": "^needle$" })), "crlf.txt\n1:needle");
    assert_eq!(rig.grep(&json!({ "pattern": "needle\\r" })), "crlf.txt\n1:needle");
}

#[test]
fn encodings_with_a_mark_are_searched_as_text() {
    let rig = Rig::new();
    let utf16: Vec<u8> = "\u{feff}a needle\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    rig.file("utf16.txt", &utf16).file("bom.txt", "\u{feff}needle\n");
    insta::assert_snapshot!(rig.grep(&json!({ "pattern": "^(a )?needle" })), @r"
    bom.txt
    1:needle

    utf16.txt
    1:a needle
    ");
}

#[test]
fn letters_of_old_encodings_are_found_where_a_file_can_be_decoded() {
    let rig = Rig::new();
    rig.file("latin.txt", b"na\xefve\ncaf\xe9 au lait\n").file("utf8.txt", "un caf\u{e9}\n");
    rig.file("long.txt", b"caf\xe9 au lait\n".repeat(8_000));
    insta::assert_snapshot!(rig.grep(&json!({ "pattern": "caf\u{e9}" })), @"
    latin.txt
    2:caf\u{e9} au lait

    utf8.txt
    1:un caf\u{e9}
    [notice: 1 file not in UTF-8 and too long to be decoded: characters beyond ASCII are not found there]
    ");
}

#[test]
fn globs_choose_what_is_searched() {
    let rig = tree();
    let files = |args: serde_json::Value| rig.grep(&args).replace('\n', " ");
    let texts = [
        files(json!({ "pattern": "needle", "output": "files", "include": ["*.rs", "*.md"] })),
        files(json!({ "pattern": "needle", "output": "files", "include": ["src/*"] })),
        files(json!({ "pattern": "needle", "output": "files", "exclude": ["src"] })),
        files(json!({ "pattern": "needle", "output": "files", "exclude": ["**/*.rs", "bin"] })),
        files(
            json!({ "pattern": "needle", "output": "files", "hidden": false, "exclude": ["bin"] }),
        ),
        files(json!({ "pattern": "needle", "include": ["[a"] })),
    ];
    insta::assert_snapshot!(texts.join("\n"), @r#"
    src/a.rs src/b/c.md
    src/a.rs
    .hidden b.txt [notice: 1 binary file skipped]
    .hidden b.txt src/b/c.md
    b.txt src/a.rs src/b/c.md [notice: 1 entry skipped whose name begins with a dot; "hidden": true includes them]
    failed (invalid_arguments): `[a` is not a pattern for paths: unclosed character class; missing ']' hint: write `\` before a character that stands for itself
    "#);
}

#[test]
fn a_file_named_itself_that_cannot_be_searched_is_a_failure() {
    let rig = Rig::new();
    rig.fifo("pipe").file("gz", b"\x1f\x8b\x08\0needle");
    insta::assert_snapshot!(rig.grep(&json!({ "pattern": "needle", "path": "pipe" })), @"failed (unsupported): `pipe` is a FIFO, not a regular file");
    insta::assert_snapshot!(rig.grep(&json!({ "pattern": "needle", "path": "gz" })), @r"
    no matches in 0 files
    [notice: 1 binary file skipped]
    ");
}

#[test]
fn what_reading_refuses_is_not_shown_by_searching() {
    let rig = Rig::new();
    rig.file("a.pdf", "%PDF-1.7\nneedle\n").file("a.txt", "needle\n");
    insta::assert_snapshot!(rig.grep(&json!({ "pattern": "needle" })), @r"
    a.txt
    1:needle
    [notice: 1 binary file skipped]
    ");
}

#[test]
fn what_a_rule_hides_is_not_searched_and_counted() {
    let rig = Rig::with_rules(vec![Rule::deny().path("private/**".parse().unwrap())]);
    rig.file("private/a", "needle").file("b", "needle");
    insta::assert_snapshot!(rig.grep(&json!({ "pattern": "needle" })), @r"
    b
    1:needle
    [notice: 1 entry hidden by a rule]
    ");
}

#[test]
fn the_first_matches_by_path_are_shown_however_many_there_are() {
    let rig = Rig::new();
    for directory in 0..20 {
        for file in 0..50 {
            rig.file(
                &format!("d{directory:02}/f{file:02}"),
                "needle 1\nneedle 2\nneedle 3\n".repeat(10),
            );
        }
    }
    let args = json!({ "pattern": "needle", "limit": 31 });
    let first = rig.call("search", "grep", &args);
    insta::assert_snapshot!(first.bounds[0], @r#"31 matches shown, at least 9969 left out: raise "limit", or narrow "path", "include" or "pattern""#);
    let text = first.model_text();
    assert!(text.starts_with("d00/f00\n1:needle 1\n"));
    assert!(text.contains("30:needle 3\n\nd00/f01\n1:needle 1\n["), "{text}");
    for _ in 0..5 {
        assert_eq!(rig.grep(&args), text);
    }
    let counted =
        rig.data("search", "grep", &json!({ "pattern": "needle", "output": "count", "limit": 1 }));
    assert_eq!(counted["total_matches"], json!(30_000));
    assert_eq!(counted["is_total_exact"], json!(true));
}

#[test]
fn a_count_is_exact_until_it_is_not() {
    let rig = Rig::new();
    let most = usize::try_from(limits::SEARCH_COUNTED_MATCHES).unwrap();
    let left_out = |matches: usize| {
        rig.file("a", "x\n".repeat(matches));
        let outcome = rig.call("search", "grep", &json!({ "pattern": "x", "limit": 1 }));
        outcome.bounds[0].left_out
    };
    assert_eq!(left_out(most - 1), Count::Exact(most as u64 - 2));
    assert_eq!(left_out(most), Count::AtLeast(most as u64 - 1));
    assert_eq!(left_out(most * 3), Count::AtLeast(most as u64 - 1));
}

#[test]
fn the_text_of_all_matches_is_bounded() {
    let rig = Rig::new();
    for file in 0..100 {
        rig.file(&format!("f{file:02}"), format!("{}needle\n", "\u{1b}".repeat(400)).repeat(100));
    }
    let args = json!({ "pattern": "needle", "limit": 2000, "context": 3 });
    let outcome = rig.call("search", "grep", &args);
    assert!(outcome.is_ok());
    assert_eq!(outcome.content.len(), 1, "nothing was moved into an artifact");
    let text = outcome.content[0].as_text().unwrap();
    assert!(text.len() <= limits::SEARCH_BYTES && text.len() > limits::SEARCH_BYTES / 2);
    insta::assert_snapshot!(outcome.bounds[0].way_on, @r#"narrow "path", "include" or "pattern", or set "output": "files""#);
    assert_eq!(rig.grep(&args), outcome.model_text());
}

#[test]
fn a_line_too_long_to_hold_is_named() {
    let rig = Rig::new();
    let long = "x".repeat(limits::SEARCH_HELD_LINE_BYTES + 1);
    rig.file("a", format!("needle\n{long}needle\n")).file("b", "needle\n");
    insta::assert_snapshot!(rig.grep(&json!({ "pattern": "needle" })), @r"
    a
    1:needle

    b
    1:needle
    [notice: 1 file not searched to the end: a line longer than a search holds, 16 MiB]
    ");
    insta::assert_snapshot!(rig.grep(&json!({ "pattern": "needle\\n", "multiline": true })), @r"
    b
    1:needle
    [notice: 1 file not searched to the end: more than a multi-line search holds, 16 MiB]
    ");
}

#[test]
fn a_pattern_that_takes_too_long_on_any_text_is_refused() {
    let rig = Rig::new();
    rig.file("a", "a".repeat(1024 * 1024))
        .file("b", format!("{}\n", "a".repeat(3_900)).repeat(300));
    for multiline in [false, true] {
        let pattern = "[^b]{0,2000}[ab]{2000}[^c]{0,2000}c";
        let text = rig.grep(&json!({ "pattern": pattern, "multiline": multiline }));
        insta::allow_duplicates! {
            insta::assert_snapshot!(text, @r"
            failed (invalid_arguments): `[^b]{0,2000}[ab]{2000}[^c]{0,2000}c` is too large: with what it repeats it has 6 001 characters and classes, and 4 096 at most are searched for
            hint: repeat less: `+` in place of a large `{n,m}`, or search for a part of it
            ");
        }
    }
}

#[test]
fn lines_too_long_for_a_costly_pattern_are_named_and_the_rest_is_searched() {
    let rig = Rig::new();
    // The first is searched where it lies, the second is read bit by bit.
    for (file, long) in [("a", 50_000), ("b", 1024 * 1024)] {
        rig.file(file, format!("{}c\n{}\n", "a".repeat(1200), "a".repeat(long)));
    }
    rig.file("c", format!("{}c\n", "a".repeat(1300)));
    let args =
        |output| json!({ "pattern": "[^b]{0,1000}[ab]{1000}[^c]{0,1000}c", "output": output });
    insta::assert_snapshot!(rig.grep(&args("count")), @r"
    a:1
    b:1
    c:1
    3 matches in 3 files
    [notice: 2 files not searched to the end: a line longer than is searched for so large a pattern, 21.8 KiB]
    ");
    let multiline =
        json!({ "pattern": "(?s)([ab].){1000}c", "multiline": true, "output": "files" });
    insta::assert_snapshot!(rig.grep(&multiline), @r"
    no matches in 1 file
    [notice: 2 files not searched to the end: more than a multi-line search for so large a pattern holds, 32.7 KiB]
    ");
}

#[test]
fn the_text_of_all_files_and_counts_is_bounded() {
    let rig = Rig::new();
    for file in 0..700 {
        rig.file(&format!("{file:03}: {}", "x".repeat(95)), "needle\n".repeat(11));
    }
    for output in ["files", "count", "matches"] {
        let args = json!({ "pattern": "needle", "output": output, "limit": 2000 });
        let outcome = rig.call("search", "grep", &args);
        let text = outcome.content[0].as_text().unwrap();
        let len = text.len();
        assert!(len <= limits::SEARCH_BYTES, "{output}: {len}");
        assert!(output == "matches" || len > limits::SEARCH_BYTES - 400, "{output}: {len}");
        let shown = text.lines().filter(|line| line.starts_with("./")).count();
        assert!(output == "matches" || outcome.bounds[0].kept == shown as u64, "{output}");
    }
}

#[test]
fn names_and_given_text_cannot_pass_for_lines_of_the_tool() {
    let rig = Rig::new();
    for name in ["12:fake match", "[notice: all is well]", "x@ -> .env"] {
        rig.file(name, "needle\n");
    }
    insta::assert_snapshot!(rig.grep(&json!({ "pattern": "needle" })), @r#"
    ./12:fake match
    1:needle

    ./[notice: all is well]
    1:needle

    "x@ -> .env"
    1:needle
    "#);
    insta::assert_snapshot!(rig.find(&json!({})), @r#"
    ./12:fake match
    ./[notice: all is well]
    "x@ -> .env"
    "#);
    insta::assert_snapshot!(rig.grep(&json!({ "pattern": "x", "include": ["[\nerror: x"] })), @r"
    failed (invalid_arguments): `[\nerror: x` is not a pattern for paths: unclosed character class; missing ']'
    hint: write `\` before a character that stands for itself
    ");
    let text = rig.find(&json!({ "newer_than": "1\nerror: x" }));
    assert!(text.lines().all(|line| !line.starts_with("error")), "{text}");
}
