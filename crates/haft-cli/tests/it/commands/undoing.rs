//! `haft changes`, `haft diff` and `haft undo`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::rig::{Rig, at_terminal, masked};

/// A workspace in which a file was edited and one was made.
fn changed() -> Rig {
    let rig = Rig::new();
    rig.file("a.txt", "one\ntwo\nthree\n");
    edit(&rig, "two", "TWO");
    rig.call("editor", "write", &json!({ "path": "made/new.txt", "content": "new\n" })).data();
    rig
}

fn edit(rig: &Rig, old: &str, new: &str) {
    rig.call("editor", "edit", &json!({ "path": "a.txt", "old": old, "new": new })).data();
}

fn text(rig: &Rig, path: &str) -> String {
    fs::read_to_string(rig.ws(path)).unwrap()
}

#[test]
fn changes_are_listed_by_call_and_shown_line_by_line() {
    let rig = changed();
    insta::assert_snapshot!(masked(&rig, &rig.haft(&["changes"]).stdout), @"
    SHORT-ID  DATE TIME  editor
      created made/
      created made/new.txt
    SHORT-ID  DATE TIME  editor
      changed a.txt
    ");
    insta::assert_snapshot!(rig.haft(&["diff"]).stdout, @"
    created made  (a directory)
    created made/new.txt
    @@ -0,0 +1 @@
    +new
    ");
    let listed = rig.json(&["changes"]);
    let first = listed["data"][1]["call"].as_str().unwrap().to_owned();
    insta::assert_snapshot!(rig.haft(&["diff", &first]).stdout, @"
    modified a.txt
    @@ -1,3 +1,3 @@
     one
    -two
    +TWO
     three
    ");
    let diff = rig.json(&["diff", &first]);
    assert_eq!(diff["data"]["changes"][0]["added"], 1);
    assert_eq!(rig.haft(&["diff", "nosuch"]).exit, 1);
}

#[test]
fn the_latest_call_that_was_not_taken_back_is_taken_back() {
    let rig = changed();
    assert_eq!(
        rig.haft(&["undo", "--yes"]).stdout,
        "took back 2 changes\n\
         made/new.txt  removed, for the call had made it\n\
         made  removed, for the call had made it\n"
    );
    assert!(!rig.ws("made").exists());
    assert_eq!(rig.haft(&["undo", "-y"]).stdout, "took back 1 change\na.txt  as it was before\n");
    assert_eq!(text(&rig, "a.txt"), "one\ntwo\nthree\n");
    let none = rig.haft(&["undo", "-y"]);
    assert_eq!((none.exit, none.stdout.as_str()), (1, ""));
    assert!(none.stderr.starts_with("error: nothing is left to be taken back"), "{}", none.stderr);

    // What took back can be taken back, and then the first call counts again.
    let undo = rig.json(&["changes"])["data"][0]["call"].as_str().unwrap().to_owned();
    assert_eq!(rig.haft(&["undo", &undo, "-y"]).exit, 0);
    assert_eq!(text(&rig, "a.txt"), "one\nTWO\nthree\n");
    assert_eq!(rig.haft(&["undo", "-y"]).stdout, "took back 1 change\na.txt  as it was before\n");
}

#[test]
fn nothing_is_done_until_somebody_agrees() {
    let rig = changed();
    let asked = rig.haft(&["undo"]);
    assert_eq!(asked.exit, 2);
    assert!(asked.stdout.starts_with("would take back 2 changes"), "{}", asked.stdout);
    assert!(asked.stderr.contains("hint: say `--yes`"), "{}", asked.stderr);
    assert_eq!(rig.haft(&["undo", "--dry-run"]).exit, 0);
    assert_eq!(rig.json(&["undo"])["exit"], 2);
    assert!(rig.ws("made/new.txt").exists());
    if let Some(shown) = at_terminal(&rig, &["undo"], "n\n") {
        assert!(shown.contains("Take these changes back? [y/N]"), "{shown}");
        assert!(rig.ws("made/new.txt").exists());
        at_terminal(&rig, &["undo"], "y\n");
        assert!(!rig.ws("made").exists());
    }
}

#[test]
fn a_yes_to_what_is_taken_back_is_the_yes_to_the_calls() {
    let rig = changed();
    let args = ["--color", "never", "undo"];
    rig.config("[[rules]]\ndecision = \"ask\"\ncapabilities = [\"write_files\"]\n");
    let Some(no) = at_terminal(&rig, &args, "n\n") else { return };
    assert!(rig.ws("made/new.txt").exists(), "{no}");
    let yes = at_terminal(&rig, &args, "y\n").unwrap();
    assert!(!yes.contains("wants to run") && !rig.ws("made").exists(), "{yes}");
    // Another call is asked about as ever, and what is denied stays denied.
    let other = json!({ "action": "write", "path": "b.txt", "content": "b" }).to_string();
    let asked = at_terminal(&rig, &["call", "editor", &other], "n\n").unwrap();
    assert!(asked.contains("wants to run") && !rig.ws("b.txt").exists(), "{asked}");
    rig.config("[[rules]]\ndecision = \"deny\"\ncapabilities = [\"write_files\"]\n");
    let denied = at_terminal(&rig, &args, "y\n").unwrap();
    assert!(denied.contains("denied"), "{denied}");
    assert_eq!(text(&rig, "a.txt"), "one\nTWO\nthree\n");
}

#[test]
fn what_somebody_changed_since_stays_and_the_exit_code_says_so() {
    let rig = changed();
    rig.file("a.txt", "one\nzwei\nthree\n");
    let call = rig.json(&["changes"])["data"][1]["call"].as_str().unwrap().to_owned();
    let undone = rig.haft(&["undo", &call, "--yes"]);
    assert_eq!(undone.exit, 1);
    insta::assert_snapshot!(undone.stdout, @"
    nothing was taken back
    a.txt  stays: it was changed since in the same lines, the first of them line 2
    ");
    assert_eq!(text(&rig, "a.txt"), "one\nzwei\nthree\n");
}

#[test]
fn policy_holds_for_undo() {
    let rig = changed();
    let denied = rig.haft(&["undo", "--yes", "--preset", "read-only"]);
    assert_eq!(denied.exit, 3, "{}", denied.stderr);
    assert!(rig.ws("made/new.txt").exists());
    let none = rig.haft(&["undo", "--yes", "--no-state"]);
    assert_eq!(none.exit, 2);
}

#[test]
fn what_a_command_did_is_taken_back_as_far_as_it_was_kept() {
    let rig = changed();
    rig.file("unknown.txt", "start\n");
    let script = "echo by a command > a.txt; echo other > unknown.txt; mkdir d; echo x > d/f";
    let called =
        rig.haft(&["--json", "--yes", "call", "bash", &json!({ "command": script }).to_string()]);
    assert_eq!(called.exit, 0, "{}", called.stdout);
    insta::assert_snapshot!(masked(&rig, &rig.haft(&["changes", "-n", "1"]).stdout), @"
    SHORT-ID  DATE TIME  bash
      created d/  (seen)
      created d/f  (seen)
      changed a.txt  (seen)
      changed unknown.txt  (seen; not restorable: what it held was not kept, for no tool had changed it before the command ran)
    ");
    let undone = rig.haft(&["undo", "--yes"]);
    assert_eq!(undone.exit, 1);
    assert_eq!(text(&rig, "a.txt"), "one\nTWO\nthree\n");
    assert_eq!(text(&rig, "unknown.txt"), "other\n");
    assert!(!rig.ws("d").exists());
}

/// Everything beneath a folder, but for one file.
fn tree(folder: &Path, without: &str) -> BTreeMap<String, Vec<u8>> {
    let mut tree = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(here) = folders.pop() {
        for entry in fs::read_dir(here).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                tree.insert(name, Vec::new());
                folders.push(path);
            } else if name != without {
                tree.insert(name, fs::read(path).unwrap());
            }
        }
    }
    tree
}

#[test]
fn o_019_undo_touches_nothing_but_what_the_call_changed() {
    for prepare in [
        "",
        "git init -q",
        "git init -q --bare store.git",
        "git init -q; git add -A; git commit -qm x",
    ] {
        let rig = Rig::new();
        rig.file("a.txt", "one\ntwo\n").file("out/big", "untracked").file(".env", "S=1");
        rig.file(".gitignore", ".env\n").file("user.rs", "theirs").file("staged", "s");
        let mut shell = Command::new("sh");
        rig.prepare(&mut shell);
        // A commit without a name to it fails, and that is one of the cases.
        let _ = shell.args(["-c", prepare]).output().unwrap();
        edit(&rig, "two", "TWO");
        rig.file("user.rs", "changed by hand");
        let before = tree(&rig.ws(""), "a.txt");
        assert_eq!(rig.haft(&["undo", "--yes"]).exit, 0);
        assert_eq!(tree(&rig.ws(""), "a.txt"), before, "{prepare}");
        assert_eq!(text(&rig, "a.txt"), "one\ntwo\n");
    }
}

#[test]
fn undo_names_the_call_it_means_and_the_one_it_does_not() {
    let rig = Rig::new();
    let write = json!({ "path": "a.txt", "content": "one\n" });
    assert_eq!(rig.call("editor", "write", &write).exit, 0);
    rig.haft(&["--yes", "call", "bash", r#"{"command":"true"}"#]);
    let said = rig.haft(&["undo", "--dry-run"]).stderr;
    assert!(said.contains("undo: `editor` of "), "{said}");
    assert!(said.contains("note: `bash` of ") && said.contains("ran later"), "{said}");
}

#[test]
fn an_id_is_found_by_the_begin_of_what_is_listed() {
    let rig = Rig::new();
    let write = json!({ "path": "a.txt", "content": "one\n" });
    assert_eq!(rig.call("editor", "write", &write).exit, 0);
    let listed = rig.haft(&["changes"]).stdout;
    let short = listed.get(..4).unwrap();
    assert_eq!(rig.haft(&["show", short]).exit, 0, "{listed}");
    assert_eq!(rig.haft(&["diff", short]).exit, 0, "{listed}");
}

#[test]
fn what_tools_must_not_write_stays_and_the_rest_is_taken_back() {
    let rig = Rig::new();
    rig.dir(".haft");
    let command = json!({ "command": "echo x > .haft/x; echo y > made" }).to_string();
    let ran = rig.haft(&["--preset", "full", "call", "bash", &command]);
    assert_eq!(ran.exit, 0, "{}", ran.all());
    let undone = rig.haft(&["--preset", "full", "undo", "-y"]);
    assert_eq!(undone.exit, 1, "something stays");
    assert!(!rig.ws("made").exists(), "{}", undone.all());
    assert!(rig.ws(".haft/x").exists());
    assert!(undone.stderr.contains("`.haft/x` is read-only for tools"), "{}", undone.all());
}

#[test]
fn looking_ahead_writes_nothing_so_it_needs_no_leave_to_write() {
    let rig = changed();
    let ahead = rig.haft(&["--preset", "read-only", "undo", "-n"]);
    assert_eq!(ahead.exit, 0, "{}", ahead.all());
    assert!(ahead.stdout.starts_with("would take back 2 changes"), "{}", ahead.all());
    assert!(rig.ws("made/new.txt").exists());
}

#[test]
fn a_listing_says_what_it_leaves_out_and_how_to_get_it() {
    let rig = changed();
    for command in ["changes", "log"] {
        let part = rig.haft(&[command, "--limit", "1"]);
        let bound = "bound: 1 call shown, 1 left out: `--limit 2` lists earlier ones\n";
        assert_eq!(part.stderr, bound, "{command}");
        let part = rig.json(&[command, "--limit", "1"]);
        assert_eq!(part["data"].as_array().unwrap().len(), 1);
        assert_eq!(part["bounds"][0]["left_out"]["exact"], 1, "{part}");
        assert_eq!(rig.haft(&[command, "--limit", "2"]).stderr, "");
        assert_eq!(rig.json(&[command])["bounds"], serde_json::Value::Null);
    }
}
