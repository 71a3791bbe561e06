//! Listing directories.

use haft_policy::Rule;
use haft_protocol::{Count, ErrorKind, limits};
use serde_json::json;

use crate::rig::{Rig, failure};

fn tree() -> Rig {
    let rig = Rig::new();
    rig.file("src/lib.rs", "x".repeat(2000))
        .file("src/deep/er/still/more.rs", "x")
        .file("README.md", "hello")
        .file("a.txt", "")
        .file(".hidden", "x")
        .file(".git/config", "x")
        .file("target/out.o", "x")
        .file("debug.log", "x")
        .file(".gitignore", "target/\n*.log\n")
        .file(".env", "SECRET=1");
    rig.link("link", "src/lib.rs").link("gone", "nowhere").link("away", rig.out("secret.txt"));
    rig
}

#[test]
fn entries_are_sorted_and_typed_and_what_is_left_out_is_counted() {
    let rig = tree();
    rig.fifo("pipe");
    let _socket = std::os::unix::net::UnixListener::bind(rig.ws("socket")).unwrap();
    insta::assert_snapshot!(rig.list_dir(&json!({})), @r#"
    .gitignore  14 B
    .hidden  1 B
    README.md  5 B
    a.txt  0 B
    away@ -> (out of reach)
    gone@ -> (nowhere)
    link@ -> src/lib.rs
    pipe  (FIFO)
    socket  (socket)
    src/
    [notice: 1 file and 1 directory skipped by ignore rules; "include_ignored": true includes them]
    [notice: 1 entry hidden: protected]
    "#);
    let data = rig.data("reader", "list_dir", &json!({ "path": "src" }));
    let mut data = data;
    for entry in data["entries"].as_array_mut().unwrap() {
        assert!(entry["modified"].as_str().unwrap().ends_with('Z'));
        entry["modified"] = json!("…");
    }
    insta::assert_snapshot!(serde_json::to_string_pretty(&data).unwrap(), @r#"
    {
      "kind": "directory",
      "path": "src",
      "entries": [
        {
          "path": "src/deep",
          "kind": "dir",
          "modified": "…"
        },
        {
          "path": "src/lib.rs",
          "kind": "file",
          "bytes": 2000,
          "modified": "…"
        }
      ],
      "total": 2,
      "is_total_exact": true
    }
    "#);
}

#[test]
fn levels_are_bounded_and_the_bound_is_named() {
    let rig = tree();
    insta::assert_snapshot!(rig.list_dir(&json!({ "path": "src", "recursive": true })), @r#"
    src/deep/
    src/deep/er/
    src/deep/er/still/
    src/lib.rs  1.9 KiB
    [3 levels shown, an unknown number left out: call again with "depth": 6, or list a directory of the last level]
    "#);
    insta::assert_snapshot!(rig.list_dir(&json!({ "path": "src", "depth": 4 })), @r"
    src/deep/
    src/deep/er/
    src/deep/er/still/
    src/deep/er/still/more.rs  1 B
    src/lib.rs  1.9 KiB
    ");
    insta::assert_snapshot!(rig.list_dir(&json!({ "path": "src", "recursive": true, "depth": 1 })), @r"
    src/deep/
    src/lib.rs  1.9 KiB
    ");
}

#[test]
fn kinds_and_globs_choose() {
    let rig = tree();
    insta::assert_snapshot!(rig.list_dir(&json!({ "kinds": ["dir", "link"] })), @r#"
    away@ -> (out of reach)
    gone@ -> (nowhere)
    link@ -> src/lib.rs
    src/
    [notice: 1 file and 1 directory skipped by ignore rules; "include_ignored": true includes them]
    [notice: 1 entry hidden: protected]
    "#);
    insta::assert_snapshot!(rig.list_dir(&json!({ "recursive": true, "include": ["*.rs"] })), @r#"
    src/lib.rs  1.9 KiB
    [3 levels shown, an unknown number left out: call again with "depth": 6, or list a directory of the last level]
    [notice: 1 directory skipped by ignore rules; "include_ignored": true includes them]
    "#);
    insta::assert_snapshot!(rig.list_dir(&json!({ "include": ["nothing"] })), @r#"
    (no entries)
    [notice: 1 directory skipped by ignore rules; "include_ignored": true includes them]
    "#);
    insta::assert_snapshot!(rig.list_dir(&json!({ "include": ["a{b"] })), @r"
    failed (invalid_arguments): `a{b` is not a pattern for paths: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)
    hint: write `\` before a character that stands for itself
    ");
}

#[test]
fn ignored_entries_are_listed_on_request() {
    let rig = tree();
    let text = rig.list_dir(&json!({ "include_ignored": true }));
    assert!(text.contains("target/\n") && text.contains("debug.log"), "{text}");
    assert!(!text.contains(".env") && !text.contains("ignore rules"), "{text}");
}

#[test]
fn the_first_entries_are_shown_and_all_are_counted() {
    let rig = Rig::new();
    for number in 0..30 {
        rig.file(&format!("f{number:02}"), "");
    }
    insta::assert_snapshot!(rig.list_dir(&json!({ "limit": 2 })), @r#"
    f00  0 B
    f01  0 B
    [2 entries shown, 28 left out: raise "limit", or narrow "path" or "include"]
    "#);
    let data = rig.data("reader", "list_dir", &json!({ "limit": 2 }));
    assert_eq!((&data["total"], &data["is_total_exact"]), (&json!(30), &json!(true)));
    for limit in [0, 1001] {
        let outcome = rig.call("reader", "list_dir", &json!({ "limit": limit }));
        assert_eq!(failure(&outcome).kind, ErrorKind::InvalidArguments);
    }
}

#[test]
fn a_file_is_no_directory() {
    let rig = tree();
    insta::assert_snapshot!(rig.list_dir(&json!({ "path": "a.txt" })), @r#"
    failed (unsupported): `a.txt` is a regular file, not a directory
    hint: use "action": "read", or name the directory it is in
    "#);
}

#[test]
fn an_empty_directory_is_named_as_such() {
    let rig = Rig::new();
    rig.dir("empty");
    assert_eq!(rig.list_dir(&json!({ "path": "empty" })), "(no entries)");
}

#[test]
fn what_a_rule_hides_is_not_listed_and_counted() {
    let rig = Rig::with_rules(vec![Rule::deny().path("private/**".parse().unwrap())]);
    rig.file("private/a", "").file("b", "");
    insta::assert_snapshot!(rig.list_dir(&json!({ "recursive": true })), @r"
    b  0 B
    [notice: 1 entry hidden by a rule]
    ");
}

#[test]
fn the_text_of_all_entries_is_bounded() {
    let rig = Rig::new();
    for number in 0..500 {
        rig.file(&format!("{number:03}{}", "x".repeat(200)), "");
    }
    for (tool, action) in [("reader", "list_dir"), ("search", "find")] {
        let outcome = rig.call(tool, action, &json!({ "limit": 1000 }));
        let text = outcome.content[0].as_text().unwrap();
        assert!(outcome.content.len() == 1 && text.len() <= limits::READ_BYTES, "{}", text.len());
        let kept = outcome.structured.unwrap()["entries"].as_array().unwrap().len() as u64;
        assert!(kept > 200 && kept == text.lines().count() as u64);
        assert_eq!(
            (outcome.bounds[0].kept, outcome.bounds[0].left_out),
            (kept, Count::Exact(500 - kept))
        );
    }
}
