//! Faults that users of such tools have met, each by the steps that show it. `docs/faults.md` lists them.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use haft_protocol::{ContentPart, ImageType, Status, limits};
use haft_tool::Reporter;
use serde_json::{Value, json};

use crate::read::png;
use crate::rig::{CANARY, Rig};

#[test]
fn o_001_lines_of_a_crlf_file_are_read_without_their_ends_and_the_ends_are_named() {
    let rig = Rig::new();
    rig.file("f.txt", "alpha\r\nbeta\r\ngamma");
    insta::assert_snapshot!(rig.read(&json!({ "path": "f.txt" })), @r"
    1	alpha
    2	beta
    3	gamma
    [notice: lines end in CRLF, no newline at the end]
    ");
    // What was read so is found again.
    let text = rig.grep(&json!({ "pattern": "alpha\nbeta", "literal": true, "multiline": true }));
    assert_eq!(text, "f.txt\n1:alpha\n2:beta");
}

#[test]
fn o_002_a_byte_order_mark_is_named_and_never_text() {
    let rig = Rig::new();
    rig.file("f.ps1", "\u{feff}hello\r\nworld\r\n");
    insta::assert_snapshot!(rig.read(&json!({ "path": "f.ps1" })), @r"
    1	hello
    2	world
    [notice: utf-8 with BOM, lines end in CRLF]
    ");
    let data = rig.data("reader", "read", &json!({ "path": "f.ps1" }));
    assert_eq!((&data["lines"][0]["text"], &data["has_bom"]), (&json!("hello"), &json!(true)));
    assert_eq!(rig.grep(&json!({ "pattern": "^hello$" })), "f.ps1\n1:hello");
}

#[test]
fn o_003_bytes_that_are_not_utf8_are_decoded_and_named_or_counted() {
    let rig = Rig::new();
    rig.file("s.txt", b"const x = 1;\n// caf\xe9 note\n")
        .file("gbk.txt", b"const x = 1;\n// caf\xe9 note\n\xd6\xd0\xce\xc4\n");
    insta::assert_snapshot!(rig.read(&json!({ "path": "s.txt" })), @r"
    1	const x = 1;
    2	// café note
    [notice: windows-1252]
    ");
    let data = rig.data("reader", "read", &json!({ "path": "gbk.txt" }));
    assert!(data["encoding"] != "utf-8" || data["malformed"] != json!(0), "{data}");
}

#[test]
fn o_007_the_exact_path_wins_and_a_folded_one_is_named() {
    let rig = Rig::new();
    rig.file("shot 3.00\u{202f}PM.png", png(1, 1)).file("v\u{a0}13.05.png", png(2, 1));
    let read = |path: &str| rig.read(&json!({ "path": path }));
    insta::assert_snapshot!(read("shot 3.00\u{202f}PM.png"), @r"
    image/png, 1×1 pixels, 70 bytes
    [image, image/png, 70 bytes]
    ");
    insta::assert_snapshot!(read("shot 3.00 PM.png"), @r"
    image/png, 1×1 pixels, 70 bytes
    [image, image/png, 70 bytes]
    [notice: `shot 3.00 PM.png` does not exist; used `shot 3.00<U+202F>PM.png`, the one name that differs only in spaces or accents]
    ");
    rig.file("v\u{202f}13.05.png", png(3, 1));
    insta::assert_snapshot!(read("v 13.05.png"), @r"
    failed (conflict): `v 13.05.png` does not exist, and `v<U+00A0>13.05.png`, `v<U+202F>13.05.png` differ from it only in spaces or accents
    hint: copy the exact name from a listing
    ");
    assert!(read("v\u{202f}13.05.png").starts_with("image/png, 3×1"));
}

#[test]
fn o_008_long_lines_are_cut_and_every_byte_can_be_had() {
    let rig = Rig::new();
    let line = "0123456789".repeat(200_000);
    rig.file("f.json", &line).file("g", format!("{}\n", "x".repeat(3000)).repeat(1500));
    let outcome = rig.call("reader", "read", &json!({ "path": "f.json" }));
    let text = outcome.model_text();
    assert!(text.starts_with("1\t0123456789"));
    insta::assert_snapshot!(text.split_once(" … ").unwrap().1, @r#"
    [1 998 000 more bytes of this line]
    [2000 bytes of line 1 shown, 1998000 left out: call again with "offset": 1, "column": 2000 to go on in line 1]
    [notice: no newline at the end]
    "#);
    let outcome = rig.call("reader", "read", &json!({ "path": "g" }));
    let bounds: Vec<String> = outcome.bounds.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(bounds.join("\n"), @r#"
    32 lines shown, 1468 left out: call again with "offset": 33
    64000 bytes of 32 long lines shown, 32000 left out: call again with "offset": 1, "column": 2000 to go on in line 1, and likewise in the others
    "#);
    assert!(outcome.model_text().len() < limits::OUTCOME_TEXT_BYTES);

    // The way that a cut names leads through the whole line.
    let line = "0123456789".repeat(900);
    rig.file("h", &line);
    let (mut read, mut column) = (String::new(), json!(0));
    while column != Value::Null {
        let data = rig.data("reader", "read", &json!({ "path": "h", "column": column }));
        read.push_str(data["lines"][0]["text"].as_str().unwrap());
        column = data["lines"][0]["next_column"].clone();
    }
    assert_eq!(read, line);
}

#[test]
fn o_015_nothing_waits_for_a_pipe_a_socket_or_a_device() {
    let rig = Rig::new();
    rig.fifo("p").link("z", "/dev/zero").file("a", "needle");
    let _socket = std::os::unix::net::UnixListener::bind(rig.ws("s")).unwrap();
    let begun = Instant::now();
    let texts = ["p", "z", "s"].map(|path| rig.read(&json!({ "path": path })));
    insta::assert_snapshot!(texts.join("\n"), @r"
    failed (unsupported): `p` is a FIFO, not a regular file
    denied by workspace: `z` leads outside the workspace through the link `z`
    hint: use a path within `.`
    failed (unsupported): `s` is a socket, not a regular file
    ");
    insta::assert_snapshot!(rig.grep(&json!({ "pattern": "needle" })), @r"
    a
    1:needle
    [notice: 2 entries skipped: not regular files]
    ");
    insta::assert_snapshot!(rig.list_dir(&json!({})), @r"
    a  6 B
    p  (FIFO)
    s  (socket)
    z@ -> (out of reach)
    ");
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn o_016_what_an_image_is_follows_from_its_bytes() {
    let rig = Rig::new();
    let jpeg = [
        b"\xff\xd8\xff\xe0\x00\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0".to_vec(),
        b"\xff\xc0\x00\x0b\x08\x00\x02\x00\x03\x01\x01\x11\0".to_vec(),
        b"\xff\xda\x00\x08\x01\x01\0\0\x3f\0\x7f\xff\xd9".to_vec(),
    ]
    .concat();
    rig.file("fake.png", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n")
        .file("photo.png", &jpeg)
        .file("empty.png", "")
        .file("cut.png", &png(1, 1)[..33]);
    let texts = ["fake.png", "photo.png", "empty.png", "cut.png"]
        .map(|path| rig.read(&json!({ "path": path })));
    insta::assert_snapshot!(texts.join("\n"), @r#"
    1	<svg xmlns="http://www.w3.org/2000/svg"/>
    image/jpeg, 3×2 pixels, 46 bytes
    [image, image/jpeg, 46 bytes]
    (empty file)
    failed (unsupported): `cut.png` cannot be shown: the PNG image is cut off: the file ends before its end chunk (IEND)
    "#);
    let outcome = rig.call("reader", "read", &json!({ "path": "photo.png" }));
    let image = ContentPart::Image { media_type: ImageType::Jpeg, data: jpeg.into() };
    assert_eq!(outcome.content[1], image);
}

#[test]
fn o_026_cuts_never_split_a_character() {
    let rig = Rig::new();
    for before in 0..3 {
        let line = format!("{}{}", "a".repeat(before), "中".repeat(40_000));
        rig.file("f", format!("{line}\n"));
        let data = rig.data("reader", "read", &json!({ "path": "f" }));
        let text = data["lines"][0]["text"].as_str().unwrap();
        assert!(line.starts_with(text) && text.len() > limits::READ_LINE_BYTES - 3);
        for pattern in ["^.", "中", "中$", "中{1,300}$"] {
            let data = rig.data("search", "grep", &json!({ "pattern": pattern }));
            let text = data["matches"][0]["text"].as_str().unwrap();
            assert!(text.len() <= limits::SEARCH_LINE_BYTES && text.contains('中'), "{text}");
            assert!(!text.contains('\u{fffd}'), "{text}");
        }
    }
    for column in 0..8 {
        let text = rig.read(&json!({ "path": "f", "column": column }));
        assert!(!text.contains('\u{fffd}'), "{text}");
    }
}

#[test]
fn o_030_control_sequences_are_shown_and_not_obeyed() {
    let rig = Rig::new();
    let bytes =
        b"\x1b]0;x\x07\x1b[2K\rALL PASSED\x1b[8m\n\x1b]52;c;eA==\x07\n\xc2\x9b31m \xe2\x80\xae\n";
    rig.file("log \x1b[31m.txt", bytes);
    let texts = [
        rig.read(&json!({ "path": "log \u{1b}[31m.txt" })),
        rig.grep(&json!({ "pattern": "PASSED|eA" })),
        rig.find(&json!({})),
        rig.list_dir(&json!({})),
    ];
    let text = texts.join("\n==\n");
    assert!(!text.chars().any(|char| char.is_control() && !matches!(char, '\n' | '\t')));
    insta::assert_snapshot!(text, @r"
    1	\x1b]0;x\x07\x1b[2K\rALL PASSED\x1b[8m
    2	\x1b]52;c;eA==\x07
    3	\u{9b}31m \u{202e}
    [notice: control or hidden characters are shown escaped; the file holds the characters themselves]
    ==
    log \x1b[31m.txt
    1:\x1b]0;x\x07\x1b[2K\rALL PASSED\x1b[8m
    2:\x1b]52;c;eA==\x07
    ==
    log \x1b[31m.txt
    ==
    log \x1b[31m.txt  49 B
    ");
    // The data is what the file holds; JSON has escapes of its own.
    let data = rig.data("reader", "read", &json!({ "path": "log \u{1b}[31m.txt" }));
    assert_eq!(data["lines"][1]["text"], json!("\u{1b}]52;c;eA==\u{7}"));
}

#[test]
fn o_033_a_pattern_that_begins_with_a_dash_is_a_pattern() {
    let rig = Rig::new();
    let marker = rig.out("marker");
    let script = rig.out("x.sh");
    fs::write(&script, format!("#!/bin/sh\ntouch {}\n", marker.display())).unwrap();
    fs::set_permissions(&script, Permissions::from_mode(0o755)).unwrap();
    let pre = format!("--pre={}", script.display());
    let lines = ["-world", "--ctx-size|--n-predict", "->", "-- [ ]", &pre, "-f/etc/passwd"];
    rig.file("-foo/bar", lines.join("\n")).file("-n1", "").file("--hidden", "-world");
    for (number, line) in lines.iter().enumerate() {
        let args = json!({ "pattern": line, "path": "-foo/bar", "literal": true });
        assert_eq!(rig.grep(&args), format!("-foo/bar\n{}:{line}", number + 1));
        let args = json!({ "pattern": line, "path": "-foo" });
        assert!(rig.call("search", "grep", &args).is_ok(), "{line}");
    }
    let args = json!({ "pattern": "-world", "include": ["--hidden"] });
    assert_eq!(rig.grep(&args), "--hidden\n1:-world");
    assert_eq!(rig.find(&json!({ "pattern": "-n*" })), "-n1");
    assert_eq!(rig.find(&json!({ "pattern": "-foo/*" })), "-foo/bar");
    assert!(!marker.exists());
}

#[test]
fn o_034_what_cannot_be_read_is_skipped_and_a_bad_pattern_is_an_error() {
    let rig = Rig::new();
    rig.file("ok.txt", "needle\n").file("locked.txt", "needle\n").link("dangling", "missing");
    fs::set_permissions(rig.ws("locked.txt"), Permissions::from_mode(0o000)).unwrap();
    // The superuser reads everything.
    if fs::read(rig.ws("locked.txt")).is_err() {
        let text = rig.grep(&json!({ "pattern": "needle" }));
        let expected =
            "ok.txt\n1:needle\n[notice: 1 entry skipped that cannot be read: `locked.txt`]";
        assert_eq!(text, expected);
    }
    fs::remove_file(rig.ws("locked.txt")).unwrap();
    assert_eq!(rig.grep(&json!({ "pattern": "needle" })), "ok.txt\n1:needle");
    let texts = ["(", "interface{", ""].map(|pattern| rig.grep(&json!({ "pattern": pattern })));
    insta::assert_snapshot!(texts.join("\n"), @r#"
    failed (invalid_arguments): `(` is no regular expression: unclosed group
    hint: set "literal": true to search for the text as it is
    failed (invalid_arguments): `interface{` is no regular expression: repetition quantifier expects a valid decimal
    hint: set "literal": true to search for the text as it is
    failed (invalid_arguments): /pattern: found "", expected a string of 1 to 4096 characters
    "#);
}

#[test]
fn o_035_hidden_files_are_found_and_ignored_ones_counted() {
    let rig = Rig::new();
    rig.file(".gitignore", "dist/\n.env\n*.log\n")
        .file(".env", "marker")
        .file("app.log", "marker")
        .file("dist/a.js", "marker")
        .file(".github/w.yml", "marker")
        .file("src/a.rs", "marker");
    for path in ["app.log", "dist/a.js", ".github/w.yml", "src/a.rs"] {
        let found = rig.data("search", "find", &json!({ "pattern": path }));
        assert_eq!(found["entries"][0]["path"], json!(path));
        let text = rig.grep(&json!({ "pattern": "marker", "path": path }));
        assert_eq!(text, format!("{path}\n1:marker"));
        let text = rig.grep(&json!({ "pattern": "marker", "include": [path] }));
        assert!(text.contains(&format!("{path}\n1:marker")), "{text}");
        assert_eq!(
            rig.read(&json!({ "path": path })),
            "1\tmarker\n[notice: no newline at the end]"
        );
    }
    insta::assert_snapshot!(rig.grep(&json!({ "pattern": "marker" })), @r#"
    .github/w.yml
    1:marker

    src/a.rs
    1:marker
    [notice: 1 file and 1 directory skipped by ignore rules; "include_ignored": true includes them]
    [notice: 1 entry hidden: protected]
    "#);
    insta::assert_snapshot!(rig.grep(&json!({ "pattern": "marker", "include_ignored": true })), @r"
    .github/w.yml
    1:marker

    app.log
    1:marker

    dist/a.js
    1:marker

    src/a.rs
    1:marker
    [notice: 1 entry hidden: protected]
    ");
    insta::assert_snapshot!(rig.list_dir(&json!({ "recursive": true })), @r#"
    .github/
    .github/w.yml  6 B
    .gitignore  17 B
    src/
    src/a.rs  6 B
    [notice: 1 file and 1 directory skipped by ignore rules; "include_ignored": true includes them]
    [notice: 1 entry hidden: protected]
    "#);
    insta::assert_snapshot!(rig.find(&json!({ "pattern": "*.{js,log,yml}" })), @r#"
    .github/w.yml
    [notice: 1 file and 1 directory skipped by ignore rules; "include_ignored": true includes them]
    "#);
}

#[test]
fn o_036_links_are_not_followed_and_work_is_called_off_within_a_second() {
    let mut rig = Rig::new();
    rig.dir("a/many").link("a/loop", "..");
    for number in 0..2_000 {
        rig.file(&format!("a/many/x{number}"), "needle\n");
    }
    for number in 0..200 {
        rig.link(&format!("a/farm{number}"), "many");
    }
    let found = rig.data("search", "find", &json!({ "pattern": "**/*x*", "kinds": ["file"] }));
    assert_eq!(found["total"], json!(2_000));
    let found = rig.data("search", "grep", &json!({ "pattern": "needle" }));
    assert_eq!(found["total"], json!(2_000));

    // Many names of one long file are a long search on a small disk.
    rig.file("long", "no such thing in this line of an unremarkable text\n".repeat(80_000));
    for number in 0..4_000 {
        fs::hard_link(rig.ws("long"), rig.ws(&format!("a/long{number}"))).unwrap();
    }
    let (told, progress) = mpsc::channel();
    rig.reporter(Reporter::new(move |_, progress| drop(told.send(progress))));
    let args = json!({ "pattern": "(\\w+ )+needle|thing (\\w+\\s){9}x" });
    let calls: Vec<_> = (0..5).map(|_| rig.start("search", "grep", &args)).collect();
    let heard = progress.recv_timeout(Duration::from_mins(1)).unwrap();
    assert_eq!(heard.unit, "files searched");
    let called_off = Instant::now();
    calls.iter().for_each(haft_tool::CallHandle::cancel);
    for call in calls {
        let outcome = rig.outcome(call);
        assert_eq!(outcome.status, Status::Cancelled);
        assert!(outcome.notices.iter().all(|notice| !notice.text.contains("detached")));
    }
    assert!(called_off.elapsed() < Duration::from_secs(1), "{:?}", called_off.elapsed());
}

#[test]
fn o_036_reading_is_called_off_within_a_second() {
    let mut rig = Rig::new();
    rig.file("sparse", "line\n".repeat(20_000));
    let file = fs::File::options().write(true).open(rig.ws("sparse")).unwrap();
    file.set_len(1 << 40).unwrap();
    let (told, progress) = mpsc::channel();
    rig.reporter(Reporter::new(move |_, progress| drop(told.send(progress))));
    let call = rig.start("reader", "read", &json!({ "path": "sparse", "offset": 1_000_000 }));
    assert_eq!(progress.recv_timeout(Duration::from_mins(1)).unwrap().unit, "bytes read");
    let called_off = Instant::now();
    call.cancel();
    assert_eq!(rig.outcome(call).status, Status::Cancelled);
    assert!(called_off.elapsed() < Duration::from_secs(1), "{:?}", called_off.elapsed());
}

#[test]
fn o_037_long_lines_are_shown_around_the_match_and_many_matches_are_bounded() {
    let rig = Rig::new();
    let half = "<".repeat(1_500_000);
    rig.file("b.js", format!("{half}needle{half}"));
    let text = rig.grep(&json!({ "pattern": "needle" }));
    assert!(text.contains("<<needle<<") && text.len() < 600, "{}", text.len());
    let data = rig.data("search", "grep", &json!({ "pattern": "needle" }));
    assert_eq!(data["matches"][0]["column"], json!(1_500_001));
    assert_eq!(data["matches"][0]["is_cut"], json!(true));
    fs::remove_file(rig.ws("b.js")).unwrap();

    let hits = "needle\n".repeat(100);
    for number in 0..1_000 {
        rig.file(&format!("d{}/f{number}", number % 10), &hits);
    }
    let outcome = rig.call("search", "grep", &json!({ "pattern": "needle", "limit": 50 }));
    insta::assert_snapshot!(outcome.bounds[0], @r#"50 matches shown, at least 9950 left out: raise "limit", or narrow "path", "include" or "pattern""#);
    assert_eq!(outcome.structured.unwrap()["matches"].as_array().unwrap().len(), 50);
}

#[test]
fn o_038_one_list_of_protected_names_holds_for_every_tool() {
    const SECRET: &str = "SECRET123";
    let rig = Rig::new();
    for path in [
        ".env",
        "id_rsa",
        ".ENV",
        ".env.local",
        ".envrc",
        ".env.example",
        ".aws/credentials",
        "sub/.ssh/k",
    ] {
        rig.file(path, SECRET);
    }
    fs::hard_link(rig.ws(".env"), rig.ws("notes.txt")).unwrap();
    for path in [".env", "id_rsa", ".ENV", ".env.local", ".envrc", ".aws/credentials", "sub/.ssh/k"]
    {
        for (tool, action) in [("reader", "read"), ("search", "grep"), ("search", "find")] {
            let outcome = rig.call(tool, action, &json!({ "path": path, "pattern": SECRET }));
            assert!(matches!(outcome.status, Status::Denied(_)), "{action} {path}: {outcome:?}");
        }
    }
    for (tool, action) in [("reader", "read"), ("search", "grep"), ("search", "find")] {
        let args = json!({ "path": "notes.txt", "pattern": SECRET });
        let args = if action == "read" { json!({ "path": "notes.txt" }) } else { args };
        let outcome = rig.call(tool, action, &args);
        assert!(matches!(outcome.status, Status::Denied(_)), "{action}: {outcome:?}");
        insta::allow_duplicates! {
            insta::assert_snapshot!(outcome.model_text(), @r"
            denied by protection: `notes.txt` is protected: it is the same file as one whose name is protected
            hint: do without its content, or ask the user to provide what is needed
            ");
        }
    }
    insta::assert_snapshot!(rig.grep(&json!({ "pattern": SECRET })), @r"
    .env.example
    1:SECRET123
    [notice: 8 entries hidden: protected]
    ");
    insta::assert_snapshot!(rig.grep(&json!({ "pattern": SECRET, "include": [".env", "id_rsa"], "include_ignored": true })), @r"
    no matches in 0 files
    [notice: 4 entries hidden: protected]
    ");
    insta::assert_snapshot!(rig.find(&json!({ "pattern": "**/*" })), @r"
    .env.example
    sub/
    [notice: 8 entries hidden: protected]
    ");
    insta::assert_snapshot!(rig.find(&json!({ "pattern": ".aws/**" })), @r"
    nothing found
    [notice: 2 entries hidden: protected]
    ");
    insta::assert_snapshot!(rig.list_dir(&json!({ "recursive": true, "include_ignored": true })), @r"
    .env.example  9 B
    sub/
    [notice: 8 entries hidden: protected]
    ");
    assert_eq!(
        rig.read(&json!({ "path": ".env.example" })),
        format!("1\t{SECRET}\n[notice: no newline at the end]")
    );
    assert!(!rig.grep(&json!({ "pattern": CANARY, "literal": true })).contains("secret.txt"));
}
