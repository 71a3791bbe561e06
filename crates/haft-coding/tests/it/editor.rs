//! Changing files.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use haft_protocol::ErrorKind;
use serde_json::{Value, json};

use crate::rig::{Rig, failure};

#[test]
fn an_edit_shows_how_it_was_found_and_what_changed() {
    let rig = Rig::editing();
    rig.file("a.rs", "fn main() {\n    let x = 1;\n    print(x);\n}\n");
    let args = json!({ "path": "a.rs", "old": "x = 1;", "new": "x = 2;" });
    insta::assert_snapshot!(rig.read_and("edit", &args), @r#"
    edited `a.rs`: 1 place
    @@ -1,4 +1,4 @@
     fn main() {
    -    let x = 1;
    +    let x = 2;
         print(x);
     }
    "#);
    assert_eq!(rig.bytes("a.rs"), b"fn main() {\n    let x = 2;\n    print(x);\n}\n");

    let args = json!({ "path": "a.rs", "old": "print(x);\n", "new": "print(x);\nprint(y);\n" });
    let data = rig.data("editor", "edit", &args);
    insta::assert_snapshot!(serde_json::to_string_pretty(&data).unwrap(), @r#"
    {
      "kind": "edited",
      "path": "a.rs",
      "edits": [
        {
          "grade": "exact",
          "places": 1,
          "lines": [
            3
          ]
        }
      ],
      "added": 1,
      "removed": 0,
      "diff": "@@ -1,4 +1,5 @@\n fn main() {\n     let x = 2;\n     print(x);\n+print(y);\n }",
      "is_cut": false
    }
    "#);
}

#[test]
fn a_looser_match_is_named() {
    let rig = Rig::editing();
    rig.file("a.py", "class A:\r\n        def f(self):\r\n            return 1\r\n");
    let args = json!({
        "path": "a.py",
        "old": "def f(self):\n    return 1\n",
        "new": "def f(self):\n    return 2\n",
    });
    insta::assert_snapshot!(rig.read_and("edit", &args), @r#"
    edited `a.py`: 1 place, matched but for indentation
    @@ -1,3 +1,3 @@
     class A:
             def f(self):
    -            return 1
    +            return 2
    [notice: lines of the new text were written to end in CR LF, as they do there]
    [notice: the new text was indented as the place is]
    "#);
}

#[test]
fn several_edits_happen_all_or_none() {
    let rig = Rig::editing();
    rig.file("a.txt", "one\ntwo\nthree\n");
    let args = json!({ "path": "a.txt", "edits": [
        { "old": "one", "new": "1" }, { "old": "two", "new": "1" }, { "old": "1", "new": "x", "replace_all": true },
    ]});
    insta::assert_snapshot!(rig.read_and("edit", &args), @r#"
    edited `a.txt`: 3 edits in 4 places
    @@ -1,3 +1,3 @@
    -one
    -two
    +x
    +x
     three
    "#);
    let args = json!({ "path": "a.txt", "edits": [
        { "old": "x\nx", "new": "y" }, { "old": "tree", "new": "3" },
    ]});
    insta::assert_snapshot!(rig.text("editor", "edit", &args), @r#"
    failed (not_found): edit 2 of 2: "old" stands nowhere in `a.txt`; nothing was changed
    The nearest place is line 2, counted after the edits before:
    2	three
    It differs from line 2, column 2 on: "old" has `ree` (72), the file has `hree` (68)
    hint: if that is the place, send: {"action":"edit","path":"a.txt","edits":[{"old":"x\nx","new":"y"},{"old":"three","new":"3"}]}
    "#);
    assert_eq!(rig.bytes("a.txt"), b"x\nx\nthree\n");
}

#[test]
fn a_place_that_is_not_there_is_answered_with_the_nearest_one() {
    let rig = Rig::editing();
    rig.file("a.py", "def foo():\n    x = 1\n    y = 2\n    return x + y\n");
    let args = json!({ "path": "a.py", "old": "    x  =  1", "new": "    x = 100" });
    insta::assert_snapshot!(rig.read_and("edit", &args), @r#"
    failed (not_found): "old" stands nowhere in `a.py`; nothing was changed
    The nearest place is line 2:
    2	    x = 1
    It differs from line 2, column 7 on: "old" has ` =  1` (20), the file has `= 1` (3d)
    hint: if that is the place, send: {"action":"edit","path":"a.py","old":"    x = 1","new":"    x = 100"}
    "#);
    let args = json!({ "path": "a.py", "old": "SELECT * FROM t", "new": "" });
    insta::assert_snapshot!(rig.text("editor", "edit", &args), @r#"
    failed (not_found): "old" stands nowhere in `a.py`, nor anything like it; nothing was changed
    hint: read the file, and copy "old" from it
    "#);
}

#[test]
fn a_corrected_call_works_as_it_is() {
    let rig = Rig::editing();
    rig.file("a.py", "def foo():\n    x = 1\n    y = 2\n");
    let args = json!({ "path": "a.py", "old": "    x  =  1", "new": "    x = 100" });
    let outcome = rig.call("reader", "read", &json!({ "path": "a.py" }));
    assert!(outcome.is_ok());
    for (args, after) in [
        (args, "def foo():\n    x = 100\n    y = 2\n"),
        (
            json!({ "path": "a.py", "old": "3\t    y = 2", "new": "3\t    y = 3" }),
            "def foo():\n    x = 100\n    y = 3\n",
        ),
    ] {
        let outcome = rig.call("editor", "edit", &args);
        let hints = &failure(&outcome).hints;
        let sent = hints.iter().find_map(|hint| hint.split_once("send: ")).unwrap().1;
        let mut call: Value = serde_json::from_str(sent).unwrap();
        assert_eq!(call.as_object_mut().unwrap().remove("action"), Some(json!("edit")));
        rig.data("editor", "edit", &call);
        assert_eq!(rig.bytes("a.py"), after.as_bytes());
    }
}

#[test]
fn several_places_are_told_apart() {
    let rig = Rig::editing();
    rig.file("a.txt", "fn a(){\n  x = 1;\n}\nfn b(){\n  x = 1;\n}\n");
    let args = json!({ "path": "a.txt", "old": "  x = 1;", "new": "  x = 2;" });
    insta::assert_snapshot!(rig.read_and("edit", &args), @r#"
    failed (invalid_arguments): "old" stands in 2 places of `a.txt` (lines 2, 5); nothing was changed
    hint: for the one in line 2, send: {"action":"edit","path":"a.txt","old":"fn a(){\n  x = 1;","new":"fn a(){\n  x = 2;"}
    hint: for the one in line 5, send: {"action":"edit","path":"a.txt","old":"fn b(){\n  x = 1;","new":"fn b(){\n  x = 2;"}
    hint: for all of them, send: {"action":"edit","path":"a.txt","old":"  x = 1;","new":"  x = 2;","replace_all":true}
    "#);
    rig.file("b.txt", "aaa");
    let args = json!({ "path": "b.txt", "old": "aa", "new": "b", "replace_all": true });
    insta::assert_snapshot!(rig.text("editor", "edit", &args), @r#"
    failed (invalid_arguments): "old" stands in 2 places of `b.txt`, which overlap (line 1); nothing was changed
    hint: for the one in line 1, send: {"action":"edit","path":"b.txt","old":"aaa","new":"ba"}
    hint: for the one in line 1, send: {"action":"edit","path":"b.txt","old":"aaa","new":"ab"}
    "#);
}

#[test]
fn an_edit_that_is_said_twice_is_made_once() {
    let rig = Rig::editing();
    rig.file("a.txt", "one\n");
    rig.text("reader", "read", &json!({ "path": "a.txt" }));
    let twice = json!({
        "path": "a.txt", "old": "one", "new": "one one", "replace_all": false,
        "edits": [{ "old": "one", "new": "one one", "replace_all": false }],
    });
    let said = rig.text("editor", "edit", &twice);
    assert!(said.starts_with("edited `a.txt`: 1 place"), "{said}");
    assert!(said.contains("+one one") && !said.contains("one one one"), "{said}");
}

#[test]
fn arguments_that_do_not_go_together_are_refused() {
    let rig = Rig::editing();
    rig.file("a.txt", "one\n");
    let said: Vec<String> = [
        json!({ "path": "a.txt" }),
        json!({ "path": "a.txt", "old": "one" }),
        json!({ "path": "a.txt", "old": "one", "new": "two", "edits": [{ "old": "a", "new": "b" }] }),
        json!({ "path": "a.txt", "replace_all": true, "edits": [{ "old": "a", "new": "b" }] }),
        json!({ "path": "a.txt", "old": "one", "new": "one" }),
        json!({ "path": "none.txt", "old": "one", "new": "two" }),
        json!({ "path": ".", "old": "one", "new": "two" }),
    ]
    .iter()
    .map(|args| rig.text("editor", "edit", args))
    .collect();
    insta::assert_snapshot!(said.join("\n"), @r#"
    failed (invalid_arguments): there is nothing to replace: "old" and "new" are missing
    hint: give "old" and "new" for one edit, or "edits": [{"old": …, "new": …}, …] for several
    failed (invalid_arguments): "new" is missing; it may be empty
    hint: give "old" and "new" for one edit, or "edits": [{"old": …, "new": …}, …] for several
    failed (invalid_arguments): "edits" stands beside "old" and "new": give one or the other
    hint: give "old" and "new" for one edit, or "edits": [{"old": …, "new": …}, …] for several
    failed (invalid_arguments): "replace_all" stands beside "edits": it belongs into those that need it
    hint: give "old" and "new" for one edit, or "edits": [{"old": …, "new": …}, …] for several
    failed (invalid_arguments): "old" and "new" are the same; nothing was changed
    hint: leave the edit out, or say what is to be different
    failed (not_found): `none.txt` does not exist
    hint: search for the file by its name
    failed (unsupported): `.` is a directory, not a file
    hint: name a file in it
    "#);
}

#[test]
fn a_character_that_the_encoding_lacks_is_named() {
    let rig = Rig::editing();
    rig.file("a.txt", b"na\xefve caf\xe9\n");
    let args = json!({ "path": "a.txt", "old": "na\u{ef}ve", "new": "a \u{2192} b" });
    insta::assert_snapshot!(rig.read_and("edit", &args), @r#"
    failed (invalid_arguments): `a.txt` is written in windows-1252, which does not have `→` (U+2192, line 1, column 3 of "new"); nothing was changed
    hint: write it with characters that the file's encoding has
    "#);
    assert_eq!(rig.bytes("a.txt"), b"na\xefve caf\xe9\n");
}

#[test]
fn lines_that_were_not_seen_are_not_changed() {
    let rig = Rig::editing();
    let text: String =
        (1..=30).map(|number| ["line ", &number.to_string(), ".\n"].concat()).collect();
    rig.file("a.txt", &text);
    let args = json!({ "path": "a.txt", "old": "line 20.", "new": "LINE" });
    insta::assert_snapshot!(rig.text("editor", "edit", &args), @r#"
    failed (conflict): you have not seen line 20 of `a.txt` as the file is now: nothing was changed
    hint: read it first ("offset": 20, "limit": 1), then send this call again
    "#);
    rig.read(&json!({ "path": "a.txt", "limit": 10 }));
    insta::assert_snapshot!(rig.text("editor", "edit", &json!({ "path": "a.txt", "old": "line 10.\nline 11.", "new": "x" })), @r#"
    failed (conflict): you have not seen lines 10 to 11 of `a.txt` as the file is now: nothing was changed
    hint: read them first ("offset": 10, "limit": 2), then send this call again
    "#);
    // What an edit wrote is seen, and so are lines of another read of the same file.
    rig.data("editor", "edit", &json!({ "path": "a.txt", "old": "line 10.", "new": "ten" }));
    rig.data(
        "editor",
        "edit",
        &json!({ "path": "a.txt", "old": "line 9.\nten", "new": "nine\n10" }),
    );
    rig.read(&json!({ "path": "a.txt", "offset": 20, "limit": 1 }));
    rig.data("editor", "edit", &args);
}

#[test]
fn without_memory_only_what_is_certain_is_changed() {
    let rig = Rig::editing().without_ledger();
    rig.file("a.txt", "one  \r\ntwo\r\n");
    let args = json!({ "path": "a.txt", "old": "two\n", "new": "2\n" });
    insta::assert_snapshot!(rig.text("editor", "edit", &args), @r#"
    edited `a.txt`: 1 place, matched but for line endings
    @@ -1,2 +1,2 @@
     one  
    -two
    +2
    [notice: lines of the new text were written to end in CR LF, as they do there]
    [notice: nobody remembers what was read here, so places are found only where nothing but line ends differs]
    "#);
    let args = json!({ "path": "a.txt", "old": "one\n", "new": "1\n" });
    assert_eq!(failure(&rig.call("editor", "edit", &args)).kind, ErrorKind::NotFound);
    rig.data("editor", "write", &json!({ "path": "a.txt", "content": "new\n" }));
    assert_eq!(rig.bytes("a.txt"), b"new\r\n");
}

#[test]
fn a_file_is_made_with_the_directories_above_it() {
    let rig = Rig::editing();
    let args = json!({ "path": "a/b/c.txt", "content": "one\ntwo\n" });
    insta::assert_snapshot!(rig.text("editor", "write", &args), @"made `a/b/c.txt`: 2 lines, 8 bytes");
    assert_eq!(rig.bytes("a/b/c.txt"), b"one\ntwo\n");
    // What was written has been seen.
    rig.data("editor", "edit", &json!({ "path": "a/b/c.txt", "old": "one\ntwo", "new": "1\n2" }));
    insta::assert_snapshot!(rig.text("editor", "write", &json!({ "path": "a/b/c.txt", "content": "1\n3\n" })), @r#"
    wrote `a/b/c.txt`: 2 lines, 4 bytes
    @@ -1,2 +1,2 @@
     1
    -2
    +3
    "#);
    insta::assert_snapshot!(rig.text("editor", "write", &json!({ "path": "a/b/c.txt", "content": "1\n3\n" })), @"`a/b/c.txt` holds this content already: nothing was written");
    insta::assert_snapshot!(rig.text("editor", "write", &json!({ "path": "a/b", "content": "" })), @r#"
    failed (unsupported): `a/b` is a directory, not a file
    hint: name the file to write in it
    "#);
}

#[test]
fn a_file_is_overwritten_only_by_who_has_seen_all_of_it() {
    let rig = Rig::editing();
    rig.file("a.txt", "one\ntwo\nthree\n");
    let args = json!({ "path": "a.txt", "content": "new\n" });
    insta::assert_snapshot!(rig.text("editor", "write", &args), @r#"
    failed (conflict): `a.txt` exists, and you have not seen all of its 3 lines: nothing was written
    hint: read the whole file first, then send this call again
    hint: to change a part of it, use "action": "edit"
    "#);
    rig.read(&json!({ "path": "a.txt", "limit": 2 }));
    assert_eq!(failure(&rig.call("editor", "write", &args)).kind, ErrorKind::Conflict);
    rig.read(&json!({ "path": "a.txt", "offset": 3 }));
    rig.data("editor", "write", &args);
    assert_eq!(rig.bytes("a.txt"), b"new\n");
}

#[test]
fn lines_are_inserted_between_lines_that_were_seen() {
    let rig = Rig::editing();
    rig.file("a.txt", "one\r\ntwo\r\nthree");
    insta::assert_snapshot!(rig.text("editor", "insert", &json!({ "path": "a.txt", "line": 1, "lines": "x" })), @r#"
    failed (conflict): you have not seen lines 1 to 2 of `a.txt` as the file is now: nothing was changed
    hint: read them first ("offset": 1, "limit": 2), then send this call again
    "#);
    let args = json!({ "path": "a.txt", "line": 1, "lines": "1.5\n" });
    insta::assert_snapshot!(rig.read_and("insert", &args), @r#"
    inserted 1 line into `a.txt` after line 1
    @@ -1,3 +1,4 @@
     one
    +1.5
     two
     three
    \ No newline at end of file
    [notice: the new lines were written to end in CR LF, as those beside them do]
    "#);
    rig.data("editor", "insert", &json!({ "path": "a.txt", "line": 4, "lines": "four\n" }));
    rig.data("editor", "insert", &json!({ "path": "a.txt", "line": 0, "lines": "zero" }));
    assert_eq!(rig.bytes("a.txt"), b"zero\r\none\r\n1.5\r\ntwo\r\nthree\r\nfour");
    // The ledger knows what was inserted where.
    rig.data("editor", "edit", &json!({ "path": "a.txt", "old": "one\n1.5\ntwo", "new": "1\n2" }));
    insta::assert_snapshot!(rig.text("editor", "insert", &json!({ "path": "a.txt", "line": 9, "lines": "x" })), @r#"
    failed (invalid_arguments): "line": 9 is past the end: `a.txt` has 5 lines; nothing was changed
    hint: use a "line" from 0 to 5; 5 puts them last
    "#);
}

#[test]
fn entries_are_deleted_moved_and_made() {
    let rig = Rig::editing();
    rig.file("a.txt", "one\n").file("full/x", "").dir("empty").link("link", "a.txt");
    let said: Vec<String> = [
        ("mkdir", json!({ "path": "new/deep" })),
        ("mkdir", json!({ "path": "new/deep" })),
        ("mkdir", json!({ "path": "a.txt" })),
        ("move", json!({ "path": "a.txt", "to": "new/deep" })),
        ("move", json!({ "path": "a.txt", "to": "new/deep/b.txt" })),
        ("move", json!({ "path": "a.txt", "to": "c.txt" })),
        ("delete", json!({ "path": "link" })),
        ("delete", json!({ "path": "full" })),
        ("delete", json!({ "path": "empty" })),
        ("delete", json!({ "path": "new/deep/b.txt" })),
        ("delete", json!({ "path": "new/deep/b.txt" })),
    ]
    .iter()
    .map(|(action, args)| rig.text("editor", action, args))
    .collect();
    insta::assert_snapshot!(said.join("\n"), @r#"
    made the directory `new/deep`
    the directory `new/deep` is there already
    failed (conflict): `a.txt` already exists: it is a regular file
    hint: choose another path, or remove or replace what is there
    failed (conflict): `new/deep` is a directory that is there already; nothing was moved
    hint: to move it into that directory, send: {"action":"move","path":"a.txt","to":"new/deep/a.txt"}
    moved `a.txt` to `new/deep/b.txt`
    failed (not_found): `a.txt` does not exist
    hint: search for the file by its name
    deleted the link `link`
    failed (conflict): the directory `full` is not empty
    hint: remove what is in it first; some of it may be hidden from you
    deleted the directory `empty`
    deleted `new/deep/b.txt`
    failed (not_found): `new/deep/b.txt` does not exist
    hint: search for the file by its name
    "#);
    assert!(!rig.ws("link").exists() && rig.ws("full/x").exists() && rig.ws("new/deep").exists());
}

#[test]
fn what_was_seen_moves_with_the_file() {
    let rig = Rig::editing();
    rig.file("a.txt", "one\n");
    rig.read(&json!({ "path": "a.txt" }));
    rig.data("editor", "move", &json!({ "path": "a.txt", "to": "b.txt" }));
    rig.data("editor", "edit", &json!({ "path": "b.txt", "old": "one", "new": "two" }));
    rig.file("a.txt", "one\n");
    let args = json!({ "path": "a.txt", "old": "one", "new": "two" });
    assert_eq!(failure(&rig.call("editor", "edit", &args)).kind, ErrorKind::Conflict);
}

#[test]
fn a_link_is_written_through_and_stays_a_link() {
    let rig = Rig::editing();
    rig.file("real/a.txt", "one\n").link("a.txt", "real/a.txt");
    rig.link("out.txt", rig.out("secret.txt"));
    rig.read_and("edit", &json!({ "path": "a.txt", "old": "one", "new": "two" }));
    assert!(fs::symlink_metadata(rig.ws("a.txt")).unwrap().is_symlink());
    assert_eq!(rig.bytes("real/a.txt"), b"two\n");
    for (action, args) in [
        ("edit", json!({ "path": "out.txt", "old": "canary", "new": "x" })),
        ("write", json!({ "path": "out.txt", "content": "x" })),
        ("insert", json!({ "path": "out.txt", "line": 0, "lines": "x" })),
    ] {
        assert!(!rig.call("editor", action, &args).is_ok());
    }
    assert_eq!(fs::read(rig.out("secret.txt")).unwrap(), crate::rig::CANARY.as_bytes());
}

#[test]
fn another_name_of_a_file_is_not_forgotten() {
    let rig = Rig::editing();
    rig.file("a.txt", "one\n");
    fs::hard_link(rig.ws("a.txt"), rig.ws("b.txt")).unwrap();
    let args = json!({ "path": "a.txt", "old": "one", "new": "two" });
    insta::assert_snapshot!(rig.read_and("edit", &args), @r#"
    edited `a.txt`: 1 place
    @@ -1 +1 @@
    -one
    +two
    [notice: `a.txt` had another name, which keeps what stood there before]
    "#);
    assert_eq!((rig.bytes("a.txt"), rig.bytes("b.txt")), (b"two\n".to_vec(), b"one\n".to_vec()));
}

#[test]
fn what_is_not_there_is_answered_with_what_is_near() {
    let rig = Rig::editing();
    rig.file("src/server.rs", "one\n");
    let said: Vec<String> = [
        ("edit", json!({ "path": "src/servers.rs", "old": "one", "new": "two" })),
        ("insert", json!({ "path": "scr/server.rs", "line": 0, "lines": "two" })),
        ("delete", json!({ "path": "src/sever.rs" })),
        ("move", json!({ "path": "src/server.r", "to": "a.rs" })),
    ]
    .iter()
    .map(|(action, args)| rig.text("editor", action, args))
    .collect();
    insta::assert_snapshot!(said.join("\n"), @"
    failed (not_found): `src/servers.rs` does not exist
    hint: near it: `src/server.rs`
    failed (not_found): `scr/server.rs` does not exist: there is no `scr`
    hint: near it: `src`
    failed (not_found): `src/sever.rs` does not exist
    hint: near it: `src/server.rs`
    failed (not_found): `src/server.r` does not exist
    hint: near it: `src/server.rs`
    ");
}

#[test]
fn what_is_written_otherwise_than_given_is_said() {
    let rig = Rig::editing();
    rig.file("a.txt", b"na\xefve caf\xe9\n").file("b.txt", "a\r\nb\nc\n");
    let write = json!({ "path": "a.txt", "content": "d\u{e9}j\u{e0}\n" });
    insta::assert_snapshot!(rig.read_and("write", &write), @"
    wrote `a.txt`: 1 line, 5 bytes
    @@ -1 +1 @@
    -na\u{ef}ve caf\u{e9}
    +d\u{e9}j\u{e0}
    [notice: it was written in windows-1252, as it was before]
    ");
    let edit = json!({ "path": "b.txt", "old": "a\nb\n", "new": "x\ny\n" });
    let text = rig.read_and("edit", &edit);
    insta::assert_snapshot!(text.lines().last().unwrap(), @"[notice: lines of the new text were written to end in different ways, as they do there]");
}

#[test]
fn a_long_difference_is_cut_and_says_so() {
    let rig = Rig::editing();
    let lines = |word: &str| -> String {
        (0..2000).map(|number| [word, " ", &number.to_string(), "\n"].concat()).collect()
    };
    rig.file("a.txt", lines("one"));
    let args = json!({ "path": "a.txt", "old": "one", "new": "two", "replace_all": true });
    let text = rig.read_and("edit", &args);
    insta::assert_snapshot!(text.lines().last().unwrap(), @"[161 lines of the difference shown, 3840 left out: read the file to see all of it]");
    assert!(text.len() < 20_000 && rig.bytes("a.txt") == lines("two").as_bytes());
}

#[test]
fn a_file_that_is_no_text_is_not_edited() {
    let rig = Rig::editing();
    rig.file("a.bin", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0").fifo("pipe");
    let args = json!({ "path": "a.bin", "old": "ELF", "new": "x" });
    insta::assert_snapshot!(rig.text("editor", "edit", &args), @r#"
    failed (unsupported): `a.bin` cannot be edited as text: ELF executable, 16 bytes
    hint: change it with a program made for it
    "#);
    assert!(
        !rig.call("editor", "edit", &json!({ "path": "pipe", "old": "a", "new": "b" })).is_ok()
    );
    assert!(!rig.call("editor", "write", &json!({ "path": "pipe", "content": "b" })).is_ok());
}

#[test]
fn the_mode_of_a_file_stays() {
    let rig = Rig::editing();
    rig.file("a.sh", "echo one\n");
    fs::set_permissions(rig.ws("a.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    rig.read_and("edit", &json!({ "path": "a.sh", "old": "one", "new": "two" }));
    rig.data("editor", "write", &json!({ "path": "a.sh", "content": "echo three\n" }));
    assert_eq!(fs::metadata(rig.ws("a.sh")).unwrap().mode() & 0o7777, 0o750);
}
