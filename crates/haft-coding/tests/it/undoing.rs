//! Taking back what a call changed.

use std::fs;

use haft_policy::{Preset, Rule};
use serde_json::json;

use crate::rig::{CANARY, Rig};

#[test]
fn looking_ahead_writes_nothing_so_it_is_allowed_where_only_reading_is() {
    let mut rig = Rig::editing();
    let call = rig.change("write", &json!({ "path": "a.txt", "content": "one\n" }));
    rig.under(Preset::ReadOnly, Vec::new());
    let ahead = rig.undo(json!({ "call": call, "paths": ["a.txt"], "dry_run": true }));
    insta::assert_snapshot!(ahead.model_text(), @r"
    would take back 1 change
    a.txt  removed, for the call had made it
    ");
    let done = rig.undo(json!({ "call": call, "paths": ["a.txt"] }));
    insta::assert_snapshot!(done.model_text(), @r#"
    denied by policy: the preset `read-only` (default) denies `write_files`
    hint: a person can start with `--preset edit`
    hint: to allow it for good, add to the user's config.toml:
    [[rules]]
    decision = "allow"
    tool = "builtin/undo"
    path = "a.txt"
    "#);
    assert_eq!(rig.bytes("a.txt"), b"one\n");
}

#[test]
fn without_arguments_the_calls_that_changed_files_are_listed() {
    let rig = Rig::editing();
    insta::assert_snapshot!(rig.undo(json!({})).model_text(), @"no change of a file in this workspace is on record");
    let first = rig.change("write", &json!({ "path": "a.txt", "content": "one\n" }));
    let second = rig.change("mkdir", &json!({ "path": "d/e/f/g/h/i" }));
    let listed = rig.undo(json!({})).model_text();
    let listed = listed.replace(&first, "FIRST").replace(&second, "SECOND");
    insta::assert_snapshot!(listed, @r#"
    calls that changed files here, the latest first:
    SECOND  a call that is no longer on record  d, d/e, d/e/f, d/e/f/g and 2 more paths
    FIRST  a call that is no longer on record  a.txt
    to see what taking one back would do, give its id alone as "call"
    "#);
    let part = rig.undo(json!({ "limit": 1 })).model_text().replace(&second, "SECOND");
    insta::assert_snapshot!(part, @r#"
    calls that changed files here, the latest first:
    SECOND  a call that is no longer on record  d, d/e, d/e/f, d/e/f/g and 2 more paths
    to see what taking one back would do, give its id alone as "call"
    [1 call shown, 1 left out: set "limit" to 2]
    "#);
    let one = rig.undo(json!({ "call": first })).model_text().replace(&first, "FIRST");
    insta::assert_snapshot!(one, @r#"
    would take back 1 change
    a.txt  removed, for the call had made it
    to take them back, send: {"call":"FIRST","paths":["a.txt"]}
    "#);
    assert!(rig.ws("a.txt").exists());
    insta::assert_snapshot!(rig.undo(json!({ "paths": ["a.txt"] })).model_text(), @r#"
    failed (invalid_arguments): which call's changes are to be taken back is not said
    hint: give its id as "call"; without arguments, the latest calls are listed
    "#);
    insta::assert_snapshot!(rig.undo(json!({ "call": "last" })).model_text(), @r"
    failed (invalid_arguments): `last` is not an id: expected 26 letters and digits, without i, l, o, u
    hint: without arguments, the latest calls that changed files are listed with their ids
    ");
}

#[test]
fn what_a_rule_hides_is_not_told_by_what_calls_changed() {
    let mut rig = Rig::editing();
    rig.file("secrets/key", "one\n").file("open/key", "one\n");
    let call = rig.change("move", &json!({ "path": "secrets/key", "to": "open/moved" }));
    rig.under(Preset::Edit, vec![Rule::deny().path("secrets/**".parse().unwrap())]);
    let listed = rig.undo(json!({})).model_text().replace(&call, "CALL");
    insta::assert_snapshot!(listed, @r#"
    calls that changed files here, the latest first:
    CALL  a call that is no longer on record  1 more path
    to see what taking one back would do, give its id alone as "call"
    "#);
    let one = rig.undo(json!({ "call": call })).model_text();
    insta::assert_snapshot!(one, @r"
    nothing would be taken back
    [notice: 1 change stays, of what cannot be seen here]
    ");
    let done = rig.undo(json!({ "call": call, "paths": ["open/moved"] })).model_text();
    insta::assert_snapshot!(done, @r"
    nothing was taken back
    [notice: 1 change stays, of what cannot be seen here]
    ");
    assert!(rig.ws("open/moved").exists());
}

#[test]
fn a_link_is_removed_and_moved_wherever_it_points_and_comes_back() {
    let rig = Rig::editing();
    let targets = ["file", "folder", "env", "nowhere", "itself"];
    rig.file(".env", "TOKEN=1\n").dir("d");
    rig.link("file", rig.out("secret.txt")).link("folder", rig.out("")).link("env", ".env");
    rig.link("nowhere", "/no/such/thing").link("itself", "itself");
    for link in targets {
        let target = fs::read_link(rig.ws(link)).unwrap();
        let is_same = |path: &str| fs::read_link(rig.ws(path)).unwrap() == target;
        let moved = format!("d/{link}");
        let call = rig.change("move", &json!({ "path": link, "to": moved }));
        assert!(is_same(&moved));
        let back = rig.undo(json!({ "call": call, "paths": [link, moved] }));
        assert_eq!(back.model_text(), format!("took back 1 change\n{moved}  back to {link}"));
        let call = rig.change("delete", &json!({ "path": link }));
        assert!(fs::symlink_metadata(rig.ws(link)).is_err());
        let handle = rig.start_call("undo", json!({ "call": call, "paths": [link] }));
        let undo = handle.id().to_string();
        assert_eq!(
            rig.outcome(handle).model_text(),
            format!("took back 1 change\n{link}  comes back")
        );
        assert!(is_same(link));
        // Taking that back removes the link again.
        rig.undo(json!({ "call": undo, "paths": [link] }));
        assert!(fs::symlink_metadata(rig.ws(link)).is_err());
    }
    for path in ["secret.txt", "deep/secret.txt"] {
        assert_eq!(fs::read_to_string(rig.out(path)).unwrap(), CANARY);
    }
    assert_eq!(rig.bytes(".env"), b"TOKEN=1\n");
}

#[test]
fn what_a_link_points_to_stays_as_closed_as_it_was() {
    let rig = Rig::editing();
    rig.link("file", rig.out("secret.txt")).link("folder", rig.out("")).file("a", "one\n");
    for (action, args) in [
        ("write", json!({ "path": "file", "content": "x" })),
        ("edit", json!({ "path": "file", "old": "canary", "new": "x" })),
        ("delete", json!({ "path": "folder/secret.txt" })),
        ("delete", json!({ "path": "folder/" })),
        ("move", json!({ "path": "a", "to": "folder/a" })),
        ("move", json!({ "path": "folder/secret.txt", "to": "b" })),
        ("mkdir", json!({ "path": "folder/new" })),
    ] {
        let text = rig.text("editor", action, &args);
        assert!(text.starts_with("denied by workspace"), "{action} {args}: {text}");
    }
    // Nothing is put in the place of a link either.
    let text = rig.text("editor", "move", &json!({ "path": "a", "to": "folder" }));
    insta::assert_snapshot!(text, @r"
    failed (conflict): `folder` already exists: it is a symbolic link
    hint: choose another path, or remove or replace what is there
    ");
    assert_eq!(fs::read_to_string(rig.out("secret.txt")).unwrap(), CANARY);
}

#[test]
fn a_path_of_too_many_new_directories_is_refused_before_any_is_made() {
    let rig = Rig::editing();
    let deep = |levels: usize| vec!["d"; levels].join("/");
    insta::assert_snapshot!(rig.text("editor", "mkdir", &json!({ "path": deep(1_500) })), @r"
    failed (limit_exceeded): `d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/…` needs 1500 new directories; at most 128 are made for one change, and nothing was made
    hint: choose a shorter path, or make the first directories first
    ");
    let write = json!({ "path": format!("{}/a", deep(200)), "content": "" });
    insta::assert_snapshot!(rig.text("editor", "write", &write), @r"
    failed (limit_exceeded): `d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/…` needs 200 new directories; at most 128 are made for one change, and nothing was made
    hint: choose a shorter path, or make the first directories first
    ");
    assert!(!rig.ws("d").exists());
    rig.change("mkdir", &json!({ "path": deep(128) }));
    rig.change("mkdir", &json!({ "path": deep(130) }));
    assert!(rig.ws(&deep(130)).is_dir());
}
