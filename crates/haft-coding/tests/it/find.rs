//! Searching for files.

use haft_policy::Rule;
use serde_json::json;

use crate::rig::Rig;

fn tree() -> Rig {
    let rig = Rig::new();
    rig.file("src/lib.rs", "x".repeat(3000))
        .file("src/deep/mod.rs", "x")
        .file("lib.rs", "xx")
        .file("notes.md", "xxx")
        .file(".github/ci.yml", "")
        .file("target/lib.rs", "")
        .file(".gitignore", "target\n")
        .file("id_rsa", "SECRET");
    rig.link("link.rs", "lib.rs");
    rig.fifo("pipe");
    rig
}

#[test]
fn a_name_matches_at_any_depth_and_a_path_from_where_the_search_begins() {
    let rig = tree();
    insta::assert_snapshot!(rig.find(&json!({})), @r#"
    .github/
    .github/ci.yml
    .gitignore
    lib.rs
    link.rs@ -> lib.rs
    notes.md
    pipe  (FIFO)
    src/
    src/deep/
    src/deep/mod.rs
    src/lib.rs
    [notice: 1 directory skipped by ignore rules; "include_ignored": true includes them]
    [notice: 1 entry hidden: protected]
    "#);
    insta::assert_snapshot!(rig.find(&json!({ "pattern": "lib.rs" })), @r#"
    lib.rs
    src/lib.rs
    [notice: 1 directory skipped by ignore rules; "include_ignored": true includes them]
    "#);
    insta::assert_snapshot!(rig.find(&json!({ "pattern": "*.{rs,md}" })), @r#"
    lib.rs
    link.rs@ -> lib.rs
    notes.md
    src/deep/mod.rs
    src/lib.rs
    [notice: 1 directory skipped by ignore rules; "include_ignored": true includes them]
    "#);
    insta::assert_snapshot!(rig.find(&json!({ "pattern": "src/**/*.rs" })), @r#"
    src/deep/mod.rs
    src/lib.rs
    [notice: 1 directory skipped by ignore rules; "include_ignored": true includes them]
    "#);
    insta::assert_snapshot!(rig.find(&json!({ "pattern": "deep/*", "path": "src" })), @"src/deep/mod.rs");
    insta::assert_snapshot!(rig.find(&json!({ "pattern": "lib.rs", "path": "src/lib.rs" })), @"src/lib.rs");
}

#[test]
fn nothing_found_says_why_where_the_pattern_leads_elsewhere() {
    let rig = tree();
    insta::assert_snapshot!(rig.find(&json!({ "pattern": "*.py" })), @r#"
    nothing found
    [notice: 1 directory skipped by ignore rules; "include_ignored": true includes them]
    "#);
    insta::assert_snapshot!(rig.find(&json!({ "pattern": "../*.rs" })), @r#"
    nothing found
    [notice: 1 directory skipped by ignore rules; "include_ignored": true includes them]
    [notice: a pattern is matched with paths from "path" on, which never begin with `/` or hold `..`]
    "#);
    insta::assert_snapshot!(rig.find(&json!({ "pattern": "/home/me/*.rs" })), @r#"
    nothing found
    [notice: 1 directory skipped by ignore rules; "include_ignored": true includes them]
    [notice: a pattern is matched with paths from "path" on, which never begin with `/` or hold `..`]
    "#);
}

#[test]
fn kinds_sizes_and_ages_choose() {
    let rig = tree();
    rig.age("lib.rs", 7200).age("src/lib.rs", 3 * 86400 + 60).age("notes.md", 60);
    let find = |args: serde_json::Value| {
        let data = rig.data("search", "find", &args);
        let paths = data["entries"].as_array().unwrap().iter();
        paths.map(|entry| entry["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(find(json!({ "kinds": ["dir"] })), [".github", "src", "src/deep"]);
    assert_eq!(find(json!({ "kinds": ["link", "fifo"] })), ["link.rs", "pipe"]);
    assert_eq!(find(json!({ "min_size": 3 })), [".gitignore", "notes.md", "src/lib.rs"]);
    assert_eq!(find(json!({ "min_size": 1, "max_size": 2 })), ["lib.rs", "src/deep/mod.rs"]);
    assert_eq!(find(json!({ "older_than": "1h", "kinds": ["file"] })), ["lib.rs", "src/lib.rs"]);
    assert_eq!(find(json!({ "older_than": "1h", "newer_than": "3d" })), ["lib.rs"]);
    assert_eq!(find(json!({ "older_than": "2001-01-01" })), [""; 0]);
    assert_eq!(
        find(json!({ "sort": "size", "kinds": ["file"], "limit": 2 })),
        ["src/lib.rs", ".gitignore"]
    );
    assert_eq!(
        find(json!({ "sort": "modified", "pattern": "{lib.rs,notes.md}" })),
        ["notes.md", "lib.rs", "src/lib.rs"]
    );
}

#[test]
fn what_was_asked_about_is_shown() {
    let rig = tree();
    insta::assert_snapshot!(rig.find(&json!({ "min_size": 2, "sort": "size" })), @r#"
    src/lib.rs  2.9 KiB
    .gitignore  7 B
    notes.md  3 B
    lib.rs  2 B
    [notice: 1 directory skipped by ignore rules; "include_ignored": true includes them]
    [notice: 1 entry hidden: protected]
    "#);
    let file = std::fs::File::options().write(true).open(rig.ws("lib.rs")).unwrap();
    file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_millis(1_000_000_000_500))
        .unwrap();
    insta::assert_snapshot!(rig.find(&json!({ "pattern": "lib.rs", "older_than": "2002-01-01" })), @r#"
    lib.rs  2001-09-09T01:46:40Z
    [notice: 1 directory skipped by ignore rules; "include_ignored": true includes them]
    "#);
}

#[test]
fn wishes_that_contradict_each_other_are_refused() {
    let rig = tree();
    insta::assert_snapshot!(rig.find(&json!({ "min_size": 5, "max_size": 4 })), @r#"failed (invalid_arguments): no file can match: "min_size" is more than "max_size""#);
    insta::assert_snapshot!(rig.find(&json!({ "newer_than": "1h", "older_than": "2h" })), @r#"failed (invalid_arguments): nothing can match: "newer_than" is no earlier than "older_than""#);
    let text = rig.find(&json!({ "newer_than": "2h", "older_than": "1h" }));
    assert!(text.starts_with("nothing found\n"), "{text}");
    insta::assert_snapshot!(rig.find(&json!({ "newer_than": "yesterday" })), @r#"
    failed (invalid_arguments): "newer_than": `yesterday` is neither an age nor a time
    hint: write an age such as `2h` or `3d`, or a time such as `2026-01-31T12:00:00Z`
    "#);
    insta::assert_snapshot!(rig.find(&json!({ "pattern": "a{b" })), @r"
    failed (invalid_arguments): `a{b` is not a pattern for paths: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)
    hint: write `\` before a character that stands for itself
    ");
}

#[test]
fn the_first_results_are_shown_and_all_are_counted() {
    let rig = Rig::new();
    for number in 0..30 {
        rig.file(&format!("f{number:02}"), "");
    }
    insta::assert_snapshot!(rig.find(&json!({ "limit": 2 })), @r#"
    f00
    f01
    [2 results shown, 28 left out: raise "limit", or narrow "path" or "pattern"]
    "#);
    let data = rig.data("search", "find", &json!({ "limit": 2 }));
    assert_eq!((&data["total"], &data["is_total_exact"]), (&json!(30), &json!(true)));
}

#[test]
fn what_a_rule_hides_is_not_found_and_counted() {
    let rig = Rig::with_rules(vec![Rule::deny().path("private/**".parse().unwrap())]);
    rig.file("private/a", "").file("b", "");
    insta::assert_snapshot!(rig.find(&json!({})), @r"
    b
    [notice: 1 entry hidden by a rule]
    ");
}
