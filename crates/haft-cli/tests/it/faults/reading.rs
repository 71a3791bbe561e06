//! Reading.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::rig::Rig;

/// The lines that a read shows, as data.
fn lines(rig: &Rig, path: &str) -> Vec<String> {
    let called = rig.read(&json!({ "path": path }));
    let lines = called.data()["lines"].as_array().unwrap().clone();
    lines.iter().map(|it| it["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn o_001_a_read_shows_lines_without_their_ends_and_names_the_ends() {
    let rig = Rig::new();
    rig.file("f.txt", "alpha\r\nbeta\r\ngamma");
    assert_eq!(lines(&rig, "f.txt"), ["alpha", "beta", "gamma"]);
    insta::assert_snapshot!(rig.read(&json!({ "path": "f.txt" })).text, @r"
    1	alpha
    2	beta
    3	gamma
    [notice: lines end in CRLF, no newline at the end]
    ");
    let over_lines = json!({ "pattern": "alpha\nbeta", "literal": true, "multiline": true });
    insta::assert_snapshot!(rig.grep(&over_lines).text, @r"
    f.txt
    1:alpha
    2:beta
    ");
}

#[test]
fn o_002_the_byte_order_mark_is_named_and_never_shown() {
    let rig = Rig::new();
    let utf16 = |text: &str| -> Vec<u8> {
        [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
    };
    rig.file("f.ps1", "\u{feff}hello\r\nworld\r\n").file("g.txt", utf16("hello\nworld\n"));
    for path in ["f.ps1", "g.txt"] {
        assert_eq!(lines(&rig, path), ["hello", "world"]);
        let read = rig.read(&json!({ "path": path }));
        assert!(!read.text.contains('\u{feff}') && !read.text.contains("feff"), "{}", read.text);
        assert_eq!(read.data()["has_bom"], true);
        assert!(read.notices().contains("with BOM"), "{}", read.text);

        // What stands first in the file stands first in the line.
        let grep = rig.grep(&json!({ "pattern": "^hello", "path": path }));
        let hit = &grep.data()["matches"][0];
        assert_eq!((&hit["text"], &hit["column"]), (&json!("hello"), &json!(1)), "{path}");
        assert!(!grep.text.contains('\u{feff}') && !grep.text.contains("feff"), "{}", grep.text);
    }
}

#[test]
fn o_003_bytes_of_a_legacy_encoding_are_read_as_what_they_are() {
    let rig = Rig::new();
    rig.file("s.txt", b"const x = 1;\n// caf\xe9 note\n")
        .file("t.txt", b"const x = 1;\n// \xd6\xd0\xce\xc4\xb2\xe2\xca\xd4\xd7\xd6\xb7\xfb\n");
    assert_eq!(lines(&rig, "s.txt"), ["const x = 1;", "// café note"]);
    insta::assert_snapshot!(rig.read(&json!({ "path": "s.txt" })).notices(), @"windows-1252");
    assert_eq!(lines(&rig, "t.txt"), ["const x = 1;", "// 中文测试字符"]);
    insta::assert_snapshot!(rig.read(&json!({ "path": "t.txt" })).notices(), @"gbk");
}

#[test]
fn o_007_a_name_with_a_special_space_is_found_as_it_is_spelled() {
    let rig = Rig::new();
    rig.file("shot 3.00\u{202f}PM.png", "narrow\n").file("v\u{a0}13.05.png", "no break\n");
    assert_eq!(lines(&rig, "shot 3.00\u{202f}PM.png"), ["narrow"]);
    assert_eq!(lines(&rig, "v\u{a0}13.05.png"), ["no break"]);
    let exact = rig.read(&json!({ "path": "v\u{a0}13.05.png" }));
    assert_eq!(exact.notices(), "", "an exact path needs no remark");

    // An ordinary space reaches the one name that it can mean, and the answer says which that is.
    let folded = rig.read(&json!({ "path": "shot 3.00 PM.png" }));
    insta::assert_snapshot!(folded.text, @r"
    1	narrow
    [notice: `shot 3.00 PM.png` does not exist; used `shot 3.00<U+202F>PM.png`, the one name that differs only in spaces or accents]
    ");
    assert_eq!(folded.data()["path"], "shot 3.00\u{202f}PM.png");

    // Where it can mean two, it means neither.
    rig.file("shot 3.00\u{a0}PM.png", "other\n");
    let ambiguous = rig.read(&json!({ "path": "shot 3.00 PM.png" }));
    insta::assert_snapshot!(ambiguous.text, @r"
    failed (conflict): `shot 3.00 PM.png` does not exist, and `shot 3.00<U+00A0>PM.png`, `shot 3.00<U+202F>PM.png` differ from it only in spaces or accents
    hint: copy the exact name from a listing
    ");
    assert_eq!(lines(&rig, "shot 3.00\u{202f}PM.png"), ["narrow"]);

    // And an exact name always comes first.
    rig.file("shot 3.00 PM.png", "ordinary\n");
    assert_eq!(lines(&rig, "shot 3.00 PM.png"), ["ordinary"]);
}

#[test]
fn o_008_a_read_is_bounded_in_bytes_however_few_lines_there_are() {
    let rig = Rig::new();
    rig.file("f.json", "é".repeat(1_000_000));
    let called = rig.read(&json!({ "path": "f.json" }));
    assert!((1_900..3_000).contains(&called.text.len()), "{} bytes", called.text.len());
    assert!(called.text.starts_with("1\té"), "{}", called.text);
    insta::assert_snapshot!(called.bounds(), @r#"2000 bytes of line 1 shown, 1998000 left out: call again with "offset": 1, "column": 2000 to go on in line 1"#);
    assert!(called.text.contains("998 000") || called.text.contains("1998000"), "{}", called.text);

    // The way on leads through the rest without a gap.
    let mut column = 0;
    for _ in 0..3 {
        let part = rig.read(&json!({ "path": "f.json", "column": column }));
        let line = &part.data()["lines"][0];
        let text = line["text"].as_str().unwrap();
        assert!(!text.is_empty() && text.chars().all(|char| char == 'é'), "{text}");
        assert_eq!(line["next_column"], column + text.len() as u64);
        column += text.len() as u64;
    }
}

#[test]
fn o_008_a_read_is_bounded_in_bytes_whatever_number_of_lines_is_asked_for() {
    let rig = Rig::new();
    rig.file("g.txt", format!("{}\n", "x".repeat(3_000)).repeat(1_500));
    let called = rig.read(&json!({ "path": "g.txt", "limit": 2_000 }));
    assert!(called.text.len() < 96 * 1024, "{} bytes", called.text.len());
    insta::assert_snapshot!(called.bounds(), @r#"
    32 lines shown, 1468 left out: call again with "offset": 33
    64000 bytes of 32 long lines shown, 32000 left out: call again with "offset": 1, "column": 2000 to go on in line 1, and likewise in the others
    "#);
    let shown = called.data()["lines"].as_array().unwrap().len();
    assert_eq!(called.text.matches(" … [1 000 more bytes of this line]\n").count(), shown);
    let next = called.data()["next_offset"].as_u64().unwrap();
    let more = rig.read(&json!({ "path": "g.txt", "offset": next }));
    assert_eq!(more.data()["lines"][0]["number"], next);
}

#[test]
fn o_015_nothing_waits_for_a_pipe_a_socket_or_a_device() {
    let rig = Rig::new();
    rig.fifo("p").socket("s").link("z", "/dev/zero").link("q", "p").file("ok.txt", "needle\n");
    let begun = Instant::now();
    for path in ["p", "s", "q"] {
        for called in [
            rig.read(&json!({ "path": path })),
            rig.grep(&json!({ "pattern": "needle", "path": path })),
            rig.list_dir(&json!({ "path": path })),
        ] {
            assert_eq!((called.failure(), called.exit), ("unsupported", 1), "{}", called.text);
        }
    }
    insta::assert_snapshot!(rig.read(&json!({ "path": "p" })).text, @"failed (unsupported): `p` is a FIFO, not a regular file");
    insta::assert_snapshot!(rig.read(&json!({ "path": "s" })).text, @"failed (unsupported): `s` is a socket, not a regular file");
    assert_eq!(rig.read(&json!({ "path": "z" })).control(), "workspace");
    insta::assert_snapshot!(rig.grep(&json!({ "pattern": "needle" })).text, @r"
    ok.txt
    1:needle
    [notice: 2 entries skipped: not regular files]
    ");
    insta::assert_snapshot!(rig.find(&json!({})).text, @r"
    ok.txt
    p  (FIFO)
    q@ -> p
    s  (socket)
    z@ -> (out of reach)
    ");
    insta::assert_snapshot!(rig.list_dir(&json!({})).text, @r"
    ok.txt  7 B
    p  (FIFO)
    q@ -> p
    s  (socket)
    z@ -> (out of reach)
    ");
    assert!(begun.elapsed() < Duration::from_secs(30), "it took {:?}", begun.elapsed());
}

#[test]
fn o_015_a_device_in_a_root_is_no_file() {
    let rig = Rig::new();
    for path in ["/dev/zero", "/dev/null"] {
        let called = rig.call_with(&["-C", "/dev"], "reader", "read", &json!({ "path": path }));
        assert_eq!(called.failure(), "unsupported", "{}", called.text);
    }
}

#[test]
fn o_015_a_pipe_in_the_place_of_a_configuration_or_ignore_file_holds_nobody_up() {
    let rig = Rig::new();
    rig.file("ok.txt", "needle\n").fifo(".gitignore").fifo(".ignore");
    insta::assert_snapshot!(rig.grep(&json!({ "pattern": "needle" })).text, @r"
    ok.txt
    1:needle
    [notice: 2 entries skipped: not regular files]
    [notice: 2 files of ignore rules not followed: too long, or not regular files]
    ");
    rig.dir(".haft").fifo(".haft/config.toml");
    let ran = rig.haft(&["policy", "show"]);
    assert_eq!(ran.exit, 2);
    assert!(ran.stderr.contains("it is not a regular file"), "{}", ran.stderr);
}

/// The smallest JPEG file that has all its parts.
fn jpeg() -> Vec<u8> {
    let mut bytes = vec![0xff, 0xd8];
    bytes.extend([0xff, 0xe0, 0, 16]);
    bytes.extend(b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0");
    bytes.extend([0xff, 0xc0, 0, 11, 8, 0, 2, 0, 3, 1, 1, 0x11, 0]);
    bytes.extend([0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 0x2a, 0xff, 0xd9]);
    bytes
}

#[test]
fn o_016_the_type_of_an_image_comes_from_its_bytes() {
    let rig = Rig::new();
    rig.file("fake.png", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n")
        .file("page.jpg", "<!doctype html>\n")
        .file("photo.png", jpeg())
        .file("empty.png", "")
        .file("cut.png", b"\x89PNG\r\n\x1a\n")
        .file("cut.jpg", &jpeg()[..30]);
    let photo = rig.read(&json!({ "path": "photo.png" }));
    assert_eq!(photo.data()["media_type"], "image/jpeg");
    let image = serde_json::to_value(&photo.outcome.content[1]).unwrap();
    assert_eq!((&image["type"], &image["media_type"]), (&json!("image"), &json!("image/jpeg")));

    // What is no image is text or an error, and never an image.
    let no_image = |path: &str| {
        let called = rig.read(&json!({ "path": path }));
        let content = serde_json::to_value(&called.outcome.content).unwrap();
        assert!(!content.to_string().contains("\"image\""), "{content}");
        called.text
    };
    insta::assert_snapshot!(no_image("fake.png"), @r#"1	<svg xmlns="http://www.w3.org/2000/svg"/>"#);
    insta::assert_snapshot!(no_image("page.jpg"), @"1	<!doctype html>");
    insta::assert_snapshot!(no_image("empty.png"), @"(empty file)");
    insta::assert_snapshot!(no_image("cut.png"), @"failed (unsupported): `cut.png` cannot be shown: the PNG image is cut off: the file ends before its header chunk (IHDR)");
    insta::assert_snapshot!(no_image("cut.jpg"), @"failed (unsupported): `cut.jpg` cannot be shown: the JPEG image is cut off: the file ends before the end of a segment");
}
