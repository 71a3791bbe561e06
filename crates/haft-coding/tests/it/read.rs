//! Reading files.

use haft_policy::Rule;
use haft_protocol::{ContentPart, ErrorKind, ImageType, limits};
use serde_json::json;

use crate::rig::{Rig, failure};

#[test]
fn lines_are_numbered_and_a_plain_file_gets_no_further_words() {
    let rig = Rig::new();
    rig.file("a.txt", "alpha\n\n\tgamma\n");
    insta::assert_snapshot!(rig.read(&json!({ "path": "a.txt" })), @r"
    1	alpha
    2	
    3		gamma
    ");
    let data = rig.data("reader", "read", &json!({ "path": "a.txt" }));
    insta::assert_snapshot!(serde_json::to_string_pretty(&data).unwrap(), @r#"
    {
      "kind": "text",
      "path": "a.txt",
      "lines": [
        {
          "number": 1,
          "text": "alpha"
        },
        {
          "number": 2,
          "text": ""
        },
        {
          "number": 3,
          "text": "\tgamma"
        }
      ],
      "total_lines": 3,
      "is_total_exact": true,
      "encoding": "utf-8",
      "has_bom": false,
      "line_ending": "lf",
      "ends_with_newline": true,
      "malformed": 0
    }
    "#);
}

#[test]
fn a_part_says_where_the_next_one_begins() {
    let rig = Rig::new();
    let lines: Vec<String> = (1..=25).map(|number| format!("line {number}")).collect();
    rig.file("a.txt", lines.join("\n") + "\n");
    insta::assert_snapshot!(rig.read(&json!({ "path": "a.txt", "offset": 9, "limit": 3 })), @r#"
     9	line 9
    10	line 10
    11	line 11
    [3 lines shown, 14 left out: call again with "offset": 12]
    "#);
    insta::assert_snapshot!(rig.read(&json!({ "path": "a.txt", "offset": 24, "limit": 3 })), @r"
    24	line 24
    25	line 25
    ");
}

#[test]
fn a_long_file_comes_in_parts_of_bounded_size() {
    let rig = Rig::new();
    rig.file("a.txt", "0123456789 0123456789 0123456789 0123456789\n".repeat(5000));
    let outcome = rig.call("reader", "read", &json!({ "path": "a.txt" }));
    assert!(outcome.is_ok());
    let bounds: Vec<String> = outcome.bounds.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(bounds.join("\n"), @r#"1375 lines shown, 3625 left out: call again with "offset": 1376"#);
}

#[test]
fn an_empty_file_is_named_as_such() {
    let rig = Rig::new();
    rig.file("empty", "").file("bom", "\u{feff}").file("newline", "\n");
    assert_eq!(rig.read(&json!({ "path": "empty" })), "(empty file)");
    assert_eq!(rig.read(&json!({ "path": "empty", "offset": 5 })), "(empty file)");
    insta::assert_snapshot!(rig.read(&json!({ "path": "bom" })), @r"
    (empty file)
    [notice: utf-8 with BOM]
    ");
    assert_eq!(rig.read(&json!({ "path": "newline" })), "1\t");
}

#[test]
fn positions_behind_the_end_are_refused_with_those_that_there_are() {
    let rig = Rig::new();
    rig.file("a.txt", "one\ntwo\n");
    insta::assert_snapshot!(rig.read(&json!({ "path": "a.txt", "offset": 3 })), @r#"
    failed (invalid_arguments): "offset": 3 is past the end: `a.txt` has 2 lines
    hint: use an "offset" from 1 to 2
    "#);
    insta::assert_snapshot!(rig.read(&json!({ "path": "a.txt", "offset": 2, "column": 4 })), @r#"
    failed (invalid_arguments): "column": 4 is past the end: line 2 of `a.txt` has 3 bytes
    hint: leave "column" out to read the line from its start
    "#);
    assert_eq!(
        rig.read(&json!({ "path": "a.txt", "offset": 2, "column": 1 })),
        "2\t[1 bytes of this line before] … wo"
    );
}

#[test]
fn zero_and_negative_positions_never_reach_the_body() {
    let rig = Rig::new();
    rig.file("a.txt", "one\n");
    for args in [
        json!({ "path": "a.txt", "offset": 0 }),
        json!({ "path": "a.txt", "limit": 0 }),
        json!({ "path": "a.txt", "limit": 2001 }),
        json!({ "path": "a.txt", "offset": -1 }),
        json!({ "path": "" }),
        json!({}),
    ] {
        let outcome = rig.call("reader", "read", &args);
        assert_eq!(failure(&outcome).kind, ErrorKind::InvalidArguments, "{args}");
    }
    insta::assert_snapshot!(rig.read(&json!({ "path": "a.txt", "limit": 0 })), @"failed (invalid_arguments): /limit: found 0, expected an integer from 1 to 2000");
    insta::assert_snapshot!(rig.read(&json!({ "path": "a.txt", "recursive": true })), @r#"
    1	one
    [notice: /recursive: dropped a key that belongs to "list_dir"]
    "#);
}

#[test]
fn what_sets_a_file_apart_is_named_once() {
    let rig = Rig::new();
    rig.file("crlf", "a\r\nb\r\n")
        .file("cr", "a\rb\r")
        .file("mixed", "a\r\nb\n")
        .file("open", "a\nb")
        .file("bom", "\u{feff}a\n")
        .file("latin", b"caf\xe9 na\xefve\n")
        .file("all", b"\xff\xfea\0\r\0\n\0b\0");
    let read = |path: &str| rig.read(&json!({ "path": path }));
    let texts = ["crlf", "cr", "mixed", "open", "bom", "latin", "all"]
        .map(|path| format!("== {path}\n{}", read(path)));
    insta::assert_snapshot!(texts.join("\n"), @r"
    == crlf
    1	a
    2	b
    [notice: lines end in CRLF]
    == cr
    1	a
    2	b
    [notice: lines end in CR]
    == mixed
    1	a
    2	b
    [notice: lines end in different ways]
    == open
    1	a
    2	b
    [notice: no newline at the end]
    == bom
    1	a
    [notice: utf-8 with BOM]
    == latin
    1	café naïve
    [notice: windows-1252]
    == all
    1	a
    2	b
    [notice: utf-16le with BOM, lines end in CRLF, no newline at the end]
    ");
    let part = rig.read(&json!({ "path": "open", "limit": 1 }));
    assert!(!part.contains("no newline"), "{part}");
}

#[test]
fn malformed_bytes_are_counted() {
    let rig = Rig::new();
    rig.file("a.txt", b"good \xc3\xa9\xc3\xa9 line\nbad \xff line\n");
    insta::assert_snapshot!(rig.read(&json!({ "path": "a.txt" })), @r"
    1	good éé line
    2	bad � line
    [notice: 1 malformed byte sequence shown as U+FFFD]
    ");
}

#[test]
fn other_kinds_of_content_are_named() {
    let rig = Rig::new();
    rig.file("a.gz", b"\x1f\x8b\x08\0rest")
        .file("a.txt", b"text\0\x01\x02text")
        .file("a.pdf", "%PDF-1.7\n");
    rig.dir("d/e");
    let read = |path: &str| rig.read(&json!({ "path": path }));
    let texts = ["a.gz", "a.txt", "a.pdf", "d", "."].map(read);
    insta::assert_snapshot!(texts.join("\n"), @r#"
    failed (unsupported): `a.gz` cannot be shown as text: gzip data, 8 bytes
    hint: convert it to text with a program made for it
    failed (unsupported): `a.txt` cannot be shown as text: binary data, 11 bytes
    hint: convert it to text with a program made for it
    failed (unsupported): `a.pdf` cannot be shown as text: PDF document, 9 bytes
    hint: convert it to text with a program made for it
    failed (unsupported): `d` is a directory, not a file
    hint: use "action": "list_dir", or name a file in it
    failed (unsupported): `.` is a directory, not a file
    hint: use "action": "list_dir", or name a file in it
    "#);
}

/// A PNG of one grey pixel and as many bytes after it as asked for.
pub(crate) fn png(width: u32, height: u32) -> Vec<u8> {
    fn crc(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(!0_u32, |crc, byte| {
            (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
                if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 }
            })
        })
    }
    fn chunk(kind: &[u8], data: &[u8]) -> Vec<u8> {
        let body = [kind, data].concat();
        let len = u32::try_from(data.len()).unwrap();
        [&len.to_be_bytes(), body.as_slice(), &crc(&body).to_be_bytes()].concat()
    }
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 0, 0, 0, 0]].concat();
    let pixels = [0x78, 0x01, 0x01, 2, 0, 0xfd, 0xff, 0, 0x80, 0, 0x82, 0, 0x81];
    [
        b"\x89PNG\r\n\x1a\n".to_vec(),
        chunk(b"IHDR", &header),
        chunk(b"IDAT", &pixels),
        chunk(b"IEND", b""),
    ]
    .concat()
}

#[test]
fn an_image_is_shown_as_an_image() {
    let rig = Rig::new();
    let bytes = png(120, 80);
    rig.file("a.txt", &bytes);
    let outcome = rig.call("reader", "read", &json!({ "path": "a.txt" }));
    insta::assert_snapshot!(outcome.model_text(), @r"
    image/png, 120×80 pixels, 70 bytes
    [image, image/png, 70 bytes]
    ");
    let image = ContentPart::Image { media_type: ImageType::Png, data: bytes.into() };
    assert_eq!(outcome.content[1], image);
    insta::assert_snapshot!(outcome.structured.unwrap(), @r#"{"kind":"image","path":"a.txt","media_type":"image/png","width":120,"height":80,"bytes":70}"#);
}

#[test]
fn images_that_no_model_takes_are_refused() {
    let rig = Rig::new();
    let mut heavy = png(1, 1);
    heavy.resize(usize::try_from(limits::IMAGE_BYTES).unwrap() + 1, 0);
    rig.file("wide.png", png(8001, 1)).file("heavy.png", &heavy);
    let texts = ["wide.png", "heavy.png"].map(|path| rig.read(&json!({ "path": path })));
    insta::assert_snapshot!(texts.join("\n"), @r"
    failed (limit_exceeded): `wide.png` is an image of 8001×1 pixels; at most 8 000 along a side can be shown
    hint: make a smaller copy of it
    failed (limit_exceeded): `heavy.png` is an image of more than 5 242 880 bytes, the most that can be shown
    hint: make a smaller copy of it
    ");
    heavy.pop();
    rig.file("heavy.png", &heavy);
    assert!(rig.call("reader", "read", &json!({ "path": "heavy.png" })).is_ok());
}

#[test]
fn what_a_rule_hides_is_not_read() {
    let rig = Rig::with_rules(vec![Rule::deny().path("private/**".parse().unwrap())]);
    rig.file("private/a.txt", "x");
    insta::assert_snapshot!(rig.read(&json!({ "path": "private/a.txt" })), @r#"
    denied by policy: the rule `deny path = "private/**"` (default) denies `builtin/reader` on `private/a.txt`
    hint: a person can change that rule (default)
    "#);
}

#[test]
fn a_missing_file_is_answered_with_its_neighbours() {
    let rig = Rig::new();
    rig.file("src/lib.rs", "").file("src/main.rs", "");
    insta::assert_snapshot!(rig.read(&json!({ "path": "src/libs.rs" })), @r"
    failed (not_found): `src/libs.rs` does not exist
    hint: near it: `src/lib.rs`
    ");
    insta::assert_snapshot!(rig.read(&json!({ "path": "../out/secret.txt" })), @r"
    denied by workspace: `../out/secret.txt` leads outside the workspace
    hint: use a path within `.`
    ");
}

#[test]
fn lines_of_escapes_still_fit_an_outcome() {
    let rig = Rig::new();
    rig.file("esc.txt", format!("{}\n", "\u{1b}".repeat(1000)).repeat(100));
    let outcome = rig.call("reader", "read", &json!({ "path": "esc.txt" }));
    assert!(outcome.is_ok());
    let text = outcome.content[0].as_text().unwrap();
    assert!(text.len() <= limits::READ_SHOWN_BYTES, "{}", text.len());
    assert!(outcome.content.len() == 1, "nothing was moved into an artifact");
    let next = &outcome.structured.as_ref().unwrap()["next_offset"];
    assert_eq!(outcome.bounds[0].kept + 1, next.as_u64().unwrap());
}
