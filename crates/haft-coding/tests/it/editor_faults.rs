//! Faults that users of tools that change files have met.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use haft_protocol::ErrorKind;
use serde_json::json;

use crate::rig::{Rig, failure};

#[test]
fn o_001_a_span_of_a_crlf_file_is_edited_as_it_was_read() {
    let rig = Rig::editing();
    for (path, replace_all) in [("a.txt", false), ("b.txt", true)] {
        rig.file(path, "alpha\r\nbeta\r\ngamma");
        let args = json!({ "path": path, "old": "alpha\nbeta", "new": "ALPHA\nBETA", "replace_all": replace_all });
        rig.read_and("edit", &args);
        assert_eq!(rig.bytes(path), b"ALPHA\r\nBETA\r\ngamma");
    }
}

#[test]
fn o_002_a_byte_order_mark_outlives_edits_and_overwriting() {
    let rig = Rig::editing();
    rig.file("f.ps1", b"\xef\xbb\xbfhello\r\nworld\r\n");
    rig.read_and("edit", &json!({ "path": "f.ps1", "old": "hello", "new": "hello2" }));
    assert_eq!(rig.bytes("f.ps1"), b"\xef\xbb\xbfhello2\r\nworld\r\n");
    rig.read_and("write", &json!({ "path": "f.ps1", "content": "bye\n" }));
    assert_eq!(rig.bytes("f.ps1"), b"\xef\xbb\xbfbye\r\n");
}

#[test]
fn o_003_bytes_that_are_not_utf8_survive_an_edit_elsewhere() {
    let rig = Rig::editing();
    for tail in [&b"// caf\xe9 note\n"[..], b"// \xd6\xd0\xce\xc4\n"] {
        rig.file("s.txt", [b"const x = 1;\n", tail].concat());
        rig.read_and(
            "edit",
            &json!({ "path": "s.txt", "old": "const x = 1;", "new": "const x = 2;" }),
        );
        assert_eq!(rig.bytes("s.txt"), [b"const x = 2;\n", tail].concat());
    }
}

#[test]
fn o_004_dollars_in_new_text_are_dollars() {
    let rig = Rig::editing();
    let new = "log(\"$& $1 $$ ${x} $` $' ok\");";
    for replace_all in [false, true] {
        rig.file("f.js", "log(\"done\");");
        rig.read_and("edit", &json!({ "path": "f.js", "old": "log(\"done\");", "new": new, "replace_all": replace_all }));
        assert_eq!(rig.bytes("f.js"), new.as_bytes());
    }
}

#[test]
fn o_005_an_edit_keeps_the_mode() {
    let rig = Rig::editing();
    for (path, mode) in [("cb.sh", 0o755), ("settings.txt", 0o600)] {
        rig.file(path, "word\n");
        fs::set_permissions(rig.ws(path), fs::Permissions::from_mode(mode)).unwrap();
        rig.read_and("edit", &json!({ "path": path, "old": "word", "new": "words" }));
        assert_eq!(fs::metadata(rig.ws(path)).unwrap().permissions().mode() & 0o7777, mode);
    }
}

#[test]
fn o_006_curly_quotes_are_written_as_they_are_given() {
    let rig = Rig::editing();
    let text = "it\u{2019}s \u{201c}ok\u{201d}";
    rig.data("editor", "write", &json!({ "path": "f", "content": text }));
    assert_eq!(rig.bytes("f"), text.as_bytes());
    rig.file("g", "/LORD(['\u{2019}]s)?/ tail");
    rig.read_and("edit", &json!({ "path": "g", "old": "tail", "new": "TAIL" }));
    assert_eq!(rig.bytes("g"), "/LORD(['\u{2019}]s)?/ TAIL".as_bytes());
    rig.data("editor", "edit", &json!({ "path": "g", "old": "'", "new": "\u{2019}" }));
    assert_eq!(rig.bytes("g"), "/LORD([\u{2019}\u{2019}]s)?/ TAIL".as_bytes());
}

#[test]
fn o_009_a_time_stamp_makes_no_edit_stale() {
    let rig = Rig::editing();
    rig.file("f", "one\n");
    rig.read(&json!({ "path": "f" }));
    rig.file("f", "one\n").age("f", 100_000);
    rig.data("editor", "edit", &json!({ "path": "f", "old": "one", "new": "two" }));
    // A change elsewhere in the file does not block either; one of the place itself does.
    rig.file("f", "two\nthree\n");
    rig.data("editor", "edit", &json!({ "path": "f", "old": "two", "new": "2" }));
    rig.file("f", "two and more\nthree\n");
    let outcome = rig.call("editor", "edit", &json!({ "path": "f", "old": "two", "new": "2" }));
    assert_eq!(failure(&outcome).kind, ErrorKind::Conflict);
}

#[test]
fn o_010_edits_of_one_file_at_one_moment_all_land() {
    let rig = Rig::editing();
    for _ in 0..10 {
        let text: String =
            (1..=100).map(|number| ["<", &number.to_string(), ">\n"].concat()).collect();
        rig.file("deep/f", &text);
        rig.read(&json!({ "path": "deep/f" }));
        let calls: Vec<_> = (1..=20)
            .map(|number| {
                let old = format!("<{}>", number * 5);
                let path = ["deep/f", "./deep/f", "deep/../deep/f"][number % 3];
                rig.start("editor", "edit", &json!({ "path": path, "old": old, "new": "EDITED" }))
            })
            .collect();
        let landed = calls
            .into_iter()
            .map(|call| rig.outcome(call))
            .filter(haft_protocol::Outcome::is_ok)
            .count();
        let after = String::from_utf8(rig.bytes("deep/f")).unwrap();
        assert_eq!(after.matches("EDITED").count(), landed);
        assert_eq!((landed, after.lines().count()), (20, 100));
    }
}

#[test]
fn o_011_a_near_match_rewrites_nothing_else() {
    let rig = Rig::editing();
    let text = "def foo():\n    x = 1\n    y = 2\n    return x + y\n";
    rig.file("f.py", text);
    rig.read_and("edit", &json!({ "path": "f.py", "old": "    x  =  1", "new": "    x = 100" }));
    assert_eq!(rig.bytes("f.py"), text.as_bytes());
}

#[test]
fn o_012_arguments_are_unescaped_once() {
    let rig = Rig::editing();
    rig.file("f.c", "printf(\"a\\n\");\n\tx();\n");
    rig.read_and("edit", &json!({ "path": "f.c", "old": "a\\n", "new": "b\\n" }));
    rig.data("editor", "edit", &json!({ "path": "f.c", "old": "\tx();", "new": "\ty();" }));
    assert_eq!(rig.bytes("f.c"), b"printf(\"b\\n\");\n\ty();\n");
}

#[test]
fn o_013_final_newlines_stay() {
    let rig = Rig::editing();
    for (before, after) in [("a\nb", "A\nb"), ("a\nbet\n\n", "A\nbet\n\n")] {
        rig.file("f", before);
        rig.read_and("edit", &json!({ "path": "f", "old": "a\n", "new": "A\n" }));
        assert_eq!(rig.bytes("f"), after.as_bytes());
    }
}

#[test]
fn o_014_an_empty_old_text_is_refused_and_points_elsewhere() {
    let rig = Rig::editing();
    rig.file("f", "abc").file("empty", "");
    rig.read(&json!({ "path": "f" }));
    for replace_all in [false, true] {
        for path in ["f", "empty", "missing"] {
            let args = json!({ "path": path, "old": "", "new": "X", "replace_all": replace_all });
            let outcome = rig.call("editor", "edit", &args);
            assert_eq!(failure(&outcome).kind, ErrorKind::InvalidArguments);
            assert!(
                outcome.model_text().contains("\"action\": \"write\""),
                "{}",
                outcome.model_text()
            );
        }
    }
    assert_eq!((rig.bytes("f"), rig.bytes("empty")), (b"abc".to_vec(), Vec::new()));
    assert!(!rig.ws("missing").exists());
}

#[test]
fn o_015_no_edit_waits_for_a_pipe() {
    let rig = Rig::editing();
    rig.fifo("p").link("z", "/dev/zero");
    for path in ["p", "z"] {
        for (action, args) in [
            ("edit", json!({ "path": path, "old": "a", "new": "b" })),
            ("write", json!({ "path": path, "content": "b" })),
            ("insert", json!({ "path": path, "line": 0, "lines": "b" })),
        ] {
            assert!(!rig.call("editor", action, &args).is_ok(), "{action} {path}");
        }
    }
}

#[test]
fn o_017_what_did_not_happen_is_not_reported_as_done() {
    let rig = Rig::editing();
    rig.file("f", "abc\n");
    rig.read(&json!({ "path": "f" }));
    let outcome = rig.call("editor", "edit", &json!({ "path": "f", "old": "abc", "new": "abc" }));
    assert_eq!(failure(&outcome).kind, ErrorKind::InvalidArguments);
    let outcome = rig.call(
        "editor",
        "edit",
        &json!({ "path": "f", "edits": [
            { "old": "abc", "new": "x" }, { "old": "x", "new": "abc" },
        ]}),
    );
    assert_eq!(failure(&outcome).kind, ErrorKind::InvalidArguments);
    let outcome = rig.call("editor", "write", &json!({ "path": "f", "content": "abc\n" }));
    assert!(outcome.is_ok() && outcome.changes.is_empty());
}

#[test]
fn o_018_names_of_devices_are_not_made() {
    let rig = Rig::editing();
    rig.file("src.txt", "x");
    for name in ["nul", "NUL.txt", "aux/x", "com1", "a:b", "a.", "a "] {
        for (action, args) in [
            ("write", json!({ "path": name, "content": "x" })),
            ("mkdir", json!({ "path": name })),
            ("move", json!({ "path": "src.txt", "to": name })),
        ] {
            assert!(!rig.call("editor", action, &args).is_ok(), "{action} {name}");
        }
    }
    assert_eq!(fs::read_dir(rig.ws("")).unwrap().count(), 1);
    rig.data("editor", "write", &json!({ "path": "null.txt", "content": "x" }));
}

#[test]
fn o_020_a_text_in_several_places_is_not_changed_in_the_first() {
    let rig = Rig::editing();
    let text = "fn a(){\n  x = 1;\n}\nfn b(){\n  x = 1;\n}\n";
    rig.file("f", text).file("g", "aaa");
    rig.read(&json!({ "path": "g" }));
    let said = rig.read_and("edit", &json!({ "path": "f", "old": "  x = 1;", "new": "  x = 2;" }));
    assert!(said.contains("2 places") && said.contains("lines 2, 5"), "{said}");
    assert!(!rig.call("editor", "edit", &json!({ "path": "g", "old": "aa", "new": "b" })).is_ok());
    assert_eq!(rig.bytes("f"), text.as_bytes());
    let args = json!({ "path": "f", "old": "  x = 1;", "new": "  x = 2;", "replace_all": true });
    assert_eq!(rig.data("editor", "edit", &args)["edits"][0]["places"], 2);
    assert_eq!(rig.bytes("f"), text.replace('1', "2").as_bytes());
}

#[test]
fn o_021_a_partial_text_does_not_become_the_whole_file() {
    let rig = Rig::editing();
    let text: String =
        (1..=600).map(|number| ["line ", &number.to_string(), "\n"].concat()).collect();
    rig.file("f.rs", &text);
    rig.read(&json!({ "path": "f.rs" }));
    for old in ["// ... existing code ...\nline x\n", "Here is the new file, as you asked:"] {
        let outcome =
            rig.call("editor", "edit", &json!({ "path": "f.rs", "old": old, "new": "x" }));
        assert!(!outcome.is_ok());
    }
    let lazy = "line 1\n// ... existing code ...\nline six hundred\n";
    let said = rig.text("editor", "write", &json!({ "path": "f.rs", "content": lazy }));
    insta::assert_snapshot!(said, @r#"
    failed (invalid_arguments): `f.rs` would lose most of its 600 lines, and the new content says `// ... existing code ...` in their place; nothing was changed
    hint: to change a part of the file, use "action": "edit"
    hint: to replace all of it, write out what the line stands for
    "#);
    assert_eq!(rig.bytes("f.rs"), text.as_bytes());
    rig.data("editor", "write", &json!({ "path": "f.rs", "content": "short\n" }));
}
