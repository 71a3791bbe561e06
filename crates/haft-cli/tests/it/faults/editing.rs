//! Changing files.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::sync::Barrier;
use std::thread;

use serde_json::{Value, json};

use crate::rig::{Called, Rig};

fn edit(rig: &Rig, args: &Value) -> Called {
    rig.call("editor", "edit", args)
}

fn write(rig: &Rig, args: &Value) -> Called {
    rig.call("editor", "write", args)
}

fn bytes(rig: &Rig, path: &str) -> Vec<u8> {
    fs::read(rig.ws(path)).unwrap()
}

/// Writes lines that end in their numbers.
fn numbered(start: &str, lines: u32) -> String {
    let lines: Vec<String> = (1..=lines).map(|number| format!("{start}{number}\n")).collect();
    lines.concat()
}

/// Edits one file in both ways of replacing, and returns what it holds after each.
fn both_ways(content: &[u8], old: &str, new: &str) -> [Vec<u8>; 2] {
    [false, true].map(|replace_all| {
        let rig = Rig::new();
        rig.file("f.txt", content);
        let args = json!({ "path": "f.txt", "old": old, "new": new, "replace_all": replace_all });
        let called = edit(&rig, &args);
        assert_eq!(called.exit, 0, "{}", called.text);
        bytes(&rig, "f.txt")
    })
}

#[test]
fn o_001_lines_copied_from_a_read_of_crlf_text_are_found() {
    let after = both_ways(b"alpha\r\nbeta\r\ngamma", "alpha\nbeta", "ALPHA\nBETA");
    assert_eq!(after, [b"ALPHA\r\nBETA\r\ngamma"; 2]);
    let mixed = both_ways(b"one\r\ntwo\nthree\r\n", "two\nthree", "2\n3");
    assert_eq!(mixed, [b"one\r\n2\n3\r\n"; 2]);
}

#[test]
fn o_002_the_byte_order_mark_stays_where_it_is() {
    let after = both_ways(b"\xef\xbb\xbfhello\r\nworld\r\n", "hello", "hello2");
    assert_eq!(after, [b"\xef\xbb\xbfhello2\r\nworld\r\n"; 2]);
    let rig = Rig::new();
    rig.file("f.ps1", b"\xef\xbb\xbfhello\r\nworld\r\n");
    let called = write(&rig, &json!({ "path": "f.ps1", "content": "other\r\n" }));
    assert_eq!(called.exit, 0, "{}", called.text);
    assert_eq!(bytes(&rig, "f.ps1"), b"\xef\xbb\xbfother\r\n");
}

#[test]
fn o_003_bytes_that_nobody_named_are_what_they_were() {
    for rest in [&b"// caf\xe9 note\n"[..], b"// \xd6\xd0\xce\xc4\n", b"\xff\xfe\x80\n"] {
        let before = [b"const x = 1;\n", rest].concat();
        let expected = [b"const x = 2;\n", rest].concat();
        let after = both_ways(&before, "const x = 1;", "const x = 2;");
        assert_eq!(after, [expected.clone(), expected]);
    }
}

#[test]
fn o_004_new_text_is_what_it_is() {
    let new = r#"log("$& $1 $$ ${x} $` $' \1 \\ ok");"#;
    let after = both_ways(br#"log("done");"#, r#"log("done");"#, new);
    assert_eq!(after, [new.as_bytes(); 2]);
}

#[test]
fn o_005_the_mode_stays_and_what_cannot_stay_is_told() {
    for mode in [0o755, 0o600, 0o640, 0o444] {
        let rig = Rig::new();
        rig.file("cb.sh", "echo one\n");
        fs::set_permissions(rig.ws("cb.sh"), fs::Permissions::from_mode(mode)).unwrap();
        let called = edit(&rig, &json!({ "path": "cb.sh", "old": "one", "new": "two" }));
        if called.exit != 0 {
            // Whom permission bits bind may not write where nobody may.
            assert_eq!(mode, 0o444, "{}", called.text);
            continue;
        }
        assert_eq!(bytes(&rig, "cb.sh"), b"echo two\n");
        assert_eq!(fs::metadata(rig.ws("cb.sh")).unwrap().mode() & 0o7777, mode);
    }
    let rig = Rig::new();
    rig.file("a.txt", "one\n");
    fs::hard_link(rig.ws("a.txt"), rig.ws("b.txt")).unwrap();
    let called = edit(&rig, &json!({ "path": "a.txt", "old": "one", "new": "two" }));
    assert!(called.notices().contains("another name"), "{}", called.text);
    assert_eq!(bytes(&rig, "b.txt"), b"one\n");
}

#[test]
fn o_006_quotes_are_the_quotes_they_are() {
    let rig = Rig::new();
    write(&rig, &json!({ "path": "f", "content": "it\u{2019}s \u{201c}ok\u{201d}" }));
    assert_eq!(bytes(&rig, "f"), "it\u{2019}s \u{201c}ok\u{201d}".as_bytes());
    let after = both_ways("/LORD(['\u{2019}]s)?/ tail".as_bytes(), "tail", "TAIL");
    assert_eq!(after, ["/LORD(['\u{2019}]s)?/ TAIL".as_bytes(); 2]);
    let after = both_ways(b"it's", "'", "\u{2019}");
    assert_eq!(after, ["it\u{2019}s".as_bytes(); 2]);
}

#[test]
fn o_009_what_a_file_holds_decides_and_not_when_it_was_touched() {
    // What has been seen, and content rewritten as it was: `changes_of_time_alone_take_nothing_away` beside the ledger.
    let rig = Rig::new();
    rig.file("f", "one\n");
    let future = std::time::SystemTime::now() + std::time::Duration::from_secs(100_000);
    fs::File::options().write(true).open(rig.ws("f")).unwrap().set_modified(future).unwrap();
    let called = edit(&rig, &json!({ "path": "f", "old": "one", "new": "two" }));
    assert_eq!(called.exit, 0, "{}", called.text);
}

#[test]
fn o_010_edits_of_one_file_at_one_time_all_land() {
    let rig = Rig::new();
    let text = numbered("", 100);
    rig.file("real/f", &text).link("by", "real");
    let spellings = [
        "real/f".to_owned(),
        "./real/f".to_owned(),
        "by/f".to_owned(),
        rig.ws("real/f").display().to_string(),
    ];
    let start = Barrier::new(8);
    thread::scope(|scope| {
        for (index, number) in [15, 25, 35, 45, 55, 65, 75, 85].into_iter().enumerate() {
            let (rig, start) = (&rig, &start);
            let path = spellings[index % spellings.len()].clone();
            scope.spawn(move || {
                let (old, new) = (format!("\n{number}\n"), format!("\nN{number}\n"));
                start.wait();
                let called = edit(rig, &json!({ "path": path, "old": old, "new": new }));
                assert_eq!(called.exit, 0, "{}", called.text);
            });
        }
    });
    let after = String::from_utf8(bytes(&rig, "real/f")).unwrap();
    let expected = [15, 25, 35, 45, 55, 65, 75, 85].iter().fold(text, |text, number| {
        text.replace(&format!("\n{number}\n"), &format!("\nN{number}\n"))
    });
    assert_eq!(after, expected);
}

#[test]
fn o_011_a_file_is_never_saved_in_another_form() {
    let rig = Rig::new();
    let text = "def foo():\n    x = 1\n    y = 2\n    return x + y\n";
    rig.file("f.py", text);
    let args = json!({ "path": "f.py", "old": "    x  =  1", "new": "    x = 100" });
    let called = edit(&rig, &args);
    assert_eq!(called.failure(), "not_found");
    assert_eq!(bytes(&rig, "f.py"), text.as_bytes());
    insta::assert_snapshot!(called.text, @r#"
    failed (not_found): "old" stands nowhere in `f.py`; nothing was changed
    The nearest place is line 2:
    2	    x = 1
    It differs from line 2, column 7 on: "old" has ` =  1` (20), the file has `= 1` (3d)
    hint: if that is the place, send: {"action":"edit","path":"f.py","old":"    x = 1","new":"    x = 100"}
    "#);
}

#[test]
fn o_012_arguments_are_taken_as_they_are_once_json_is_decoded() {
    let content = b"printf(\"a\\n\");\n\tx();\n";
    assert_eq!(both_ways(content, "a\\n", "b\\n"), [b"printf(\"b\\n\");\n\tx();\n"; 2]);
    assert_eq!(both_ways(content, "\tx();", "\ty();"), [b"printf(\"a\\n\");\n\ty();\n"; 2]);
}

#[test]
fn o_013_the_end_of_a_file_stays_as_it_is() {
    assert_eq!(both_ways(b"a\nb", "a", "A"), [b"A\nb"; 2]);
    assert_eq!(both_ways(b"alpha\nbeta\n\n", "alpha", "ALPHA"), [b"ALPHA\nbeta\n\n"; 2]);
    let rig = Rig::new();
    rig.file("f", "a\nb");
    let called = rig.call("editor", "insert", &json!({ "path": "f", "line": 1, "lines": "x" }));
    assert_eq!(called.exit, 0, "{}", called.text);
    assert_eq!(bytes(&rig, "f"), b"a\nx\nb");
}

#[test]
fn o_014_nothing_to_look_for_is_refused_before_anything_is_touched() {
    let rig = Rig::new();
    rig.file("f", "abc").file("empty", "");
    for path in ["f", "empty", "missing"] {
        for replace_all in [false, true] {
            let args = json!({ "path": path, "old": "", "new": "X", "replace_all": replace_all });
            let called = edit(&rig, &args);
            let failure = called.failure();
            assert!(failure == "invalid_arguments" || path == "missing", "{}", called.text);
            assert!(path == "missing" || called.text.contains("write"), "{}", called.text);
        }
    }
    assert_eq!((bytes(&rig, "f"), bytes(&rig, "empty")), (b"abc".to_vec(), Vec::new()));
    assert!(!rig.ws("missing").exists());
}

#[test]
fn o_015_what_is_no_regular_file_is_not_edited_and_not_waited_for() {
    let rig = Rig::new();
    rig.fifo("p").socket("s").link("z", "/dev/zero");
    for path in ["p", "s", "z"] {
        let called = edit(&rig, &json!({ "path": path, "old": "a", "new": "b" }));
        assert_ne!(called.exit, 0, "{path}");
        let called = write(&rig, &json!({ "path": path, "content": "b" }));
        assert_ne!(called.exit, 0, "{path}");
    }
    assert!(!fs::metadata(rig.ws("p")).unwrap().is_file());
}

#[test]
fn o_017_an_edit_that_did_not_happen_is_not_reported_as_done() {
    let rig = Rig::new();
    rig.file("f", "same\n");
    let called = edit(&rig, &json!({ "path": "f", "old": "same", "new": "same" }));
    assert_eq!(called.failure(), "invalid_arguments");

    rig.file("locked/f", "one\n");
    fs::set_permissions(rig.ws("locked"), fs::Permissions::from_mode(0o555)).unwrap();
    let arguments = json!({ "action": "edit", "path": "locked/f", "old": "one", "new": "two" });
    let args = ["--json", "call", "editor", &arguments.to_string()];
    if let Some(command) = rig.bound_by_permissions(&args) {
        let called = crate::rig::called(&crate::rig::run(command));
        assert_ne!(called.exit, 0, "{}", called.text);
        assert_eq!(bytes(&rig, "locked/f"), b"one\n");
    }
    fs::set_permissions(rig.ws("locked"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(fs::read_dir(rig.ws("locked")).unwrap().count(), 1);
}

#[test]
fn o_018_no_file_is_made_under_a_name_that_is_a_trap_elsewhere() {
    let rig = Rig::new();
    for path in ["nul", "NUL.txt", "aux/x", "com1", "a:b", "x.", "x ", "sub/lpt9.log", "con"] {
        let called = write(&rig, &json!({ "path": path, "content": "x" }));
        assert_ne!(called.exit, 0, "{path}: {}", called.text);
    }
    assert_eq!(fs::read_dir(rig.ws("")).unwrap().count(), 0);
    let called = write(&rig, &json!({ "path": "nullable.txt", "content": "nul con aux" }));
    assert_eq!(called.exit, 0, "{}", called.text);
}

#[test]
fn o_020_text_that_stands_in_several_places_is_not_guessed_at() {
    let rig = Rig::new();
    let text = "fn a(){\n  x = 1;\n}\nfn b(){\n  x = 1;\n}\n";
    rig.file("f", text).file("f2", "aaa");
    let args = json!({ "path": "f", "old": "  x = 1;", "new": "  x = 2;" });
    let called = edit(&rig, &args);
    assert_eq!(called.failure(), "invalid_arguments");
    assert!(called.text.contains("lines 2, 5"), "{}", called.text);
    let steps = json!([{ "old": "fn a", "new": "fn c" }, { "old": "  x = 1;", "new": "  x = 2;" }]);
    let called = edit(&rig, &json!({ "path": "f", "edits": steps }));
    assert_eq!(called.failure(), "invalid_arguments");
    assert_eq!(bytes(&rig, "f"), text.as_bytes());
    let called = edit(&rig, &json!({ "path": "f2", "old": "aa", "new": "b" }));
    assert_eq!(called.failure(), "invalid_arguments");
    assert!(called.text.contains("overlap"), "{}", called.text);

    let mut all = args.clone();
    all["replace_all"] = json!(true);
    let called = edit(&rig, &all);
    assert_eq!(called.data()["edits"][0]["places"], 2);
    assert_eq!(bytes(&rig, "f"), text.replace("x = 1", "x = 2").as_bytes());
}

#[test]
fn o_021_what_cannot_be_placed_never_becomes_the_whole_file() {
    let rig = Rig::new();
    let text = numbered("line ", 600);
    rig.file("f", &text);
    for old in ["no line of this file\n".repeat(30), "please change the file".to_owned()] {
        let called = edit(&rig, &json!({ "path": "f", "old": old, "new": "x" }));
        assert_eq!(called.failure(), "not_found");
    }
    let lazy = "line 1\n// ... existing code ...\nline 600\n";
    let called = write(&rig, &json!({ "path": "f", "content": lazy }));
    assert_eq!(called.failure(), "invalid_arguments");
    assert_eq!(bytes(&rig, "f"), text.as_bytes());
}

#[test]
fn o_038_what_is_protected_is_not_written_either() {
    let rig = Rig::new();
    rig.file(".env", "TOKEN=1\n").file("keys/id_rsa", "k").file("a.txt", "a\n");
    for (action, args) in [
        ("edit", json!({ "path": ".env", "old": "1", "new": "2" })),
        ("write", json!({ "path": ".env", "content": "x" })),
        ("write", json!({ "path": ".env.local", "content": "x" })),
        ("write", json!({ "path": ".haft/config.toml", "content": "preset = \"full\"" })),
        ("write", json!({ "path": ".git/hooks/pre-commit", "content": "id" })),
        ("delete", json!({ "path": "keys/id_rsa" })),
        ("move", json!({ "path": ".env", "to": "env.txt" })),
        ("move", json!({ "path": "a.txt", "to": ".netrc" })),
        ("mkdir", json!({ "path": ".ssh" })),
        ("insert", json!({ "path": ".env", "line": 0, "lines": "x" })),
    ] {
        let called = rig.call("editor", action, &args);
        assert_eq!(called.control(), "protection", "{action} {args}: {}", called.text);
    }
    assert_eq!(bytes(&rig, ".env"), b"TOKEN=1\n");
    assert!(!rig.ws(".haft").exists() && !rig.ws(".git").exists() && !rig.ws(".ssh").exists());
}

#[test]
fn o_040_no_link_leads_a_change_outside() {
    let rig = Rig::new();
    rig.outside("secret.txt", "outside\n").file("a.txt", "a\n");
    rig.link("d", rig.out("")).link("leak", rig.out("secret.txt")).link("x", "d");
    for (action, args) in [
        ("write", json!({ "path": "d/new.txt", "content": "x" })),
        ("write", json!({ "path": "leak", "content": "x" })),
        ("edit", json!({ "path": "x/secret.txt", "old": "outside", "new": "in" })),
        ("edit", json!({ "path": "leak", "old": "outside", "new": "in" })),
        ("move", json!({ "path": "a.txt", "to": "d/a.txt" })),
        ("move", json!({ "path": "d/secret.txt", "to": "s.txt" })),
        ("delete", json!({ "path": "d/secret.txt" })),
        ("mkdir", json!({ "path": "x/dir" })),
        ("write", json!({ "path": "../out/new.txt", "content": "x" })),
    ] {
        let called = rig.call("editor", action, &args);
        assert_eq!(called.control(), "workspace", "{action} {args}: {}", called.text);
    }
    assert_eq!(fs::read(rig.out("secret.txt")).unwrap(), b"outside\n");
    assert_eq!(fs::read_dir(rig.out("")).unwrap().count(), 1);
    assert_eq!(bytes(&rig, "a.txt"), b"a\n");
}

#[test]
fn o_041_what_does_not_exist_yet_is_made_inside_or_not_at_all() {
    let rig = Rig::new();
    rig.link("dangling", rig.out("new.txt")).link("d", rig.out(""));
    for path in ["dangling", "d/a/b/c.txt", "missing/../../out/new.txt"] {
        let called = write(&rig, &json!({ "path": path, "content": "x" }));
        assert_ne!(called.exit, 0, "{path}: {}", called.text);
    }
    assert_eq!(fs::read_dir(rig.out("")).unwrap().count(), 0);
    assert!(!rig.ws("missing").exists());
    let called = write(&rig, &json!({ "path": "a/b/c.txt", "content": "x" }));
    assert_eq!(called.exit, 0, "{}", called.text);
    assert_eq!(bytes(&rig, "a/b/c.txt"), b"x");
}
