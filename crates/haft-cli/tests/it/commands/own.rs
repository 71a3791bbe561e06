//! Haft's own directories, where a root holds them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use crate::rig::{Called, Rig, arguments, called, run};

/// Calls with the folder as the root that holds the configuration and the records as well.
fn within(rig: &Rig, tool: &str, action: &str, args: &Value) -> Called {
    let root = rig.folder().display().to_string();
    rig.call_with(&["--preset", "full", "--root", &root], tool, action, args)
}

fn refuses_each(rig: &Rig, calls: &[(&str, &str, Value)]) {
    for (tool, action, args) in calls {
        let called = within(rig, tool, action, args);
        assert_eq!(called.control(), "protection", "{tool} {action} {args}");
        assert!(called.text.contains("of haft's user are there"), "{}", called.text);
    }
}

fn config(rig: &Rig) -> String {
    fs::read_to_string(rig.folder().join("config/config.toml")).unwrap()
}

#[test]
fn no_tool_gets_at_the_rules_of_the_user_by_any_name() {
    let rig = Rig::new();
    rig.config("preset = \"edit\"\n").file("evil/config.toml", "preset = \"full\"\n");
    symlink("config", rig.folder().join("other")).unwrap();
    let new = "preset = \"full\"\n";
    refuses_each(
        &rig,
        &[
            ("editor", "write", json!({ "path": "config/config.toml", "content": new })),
            ("editor", "write", json!({ "path": "other/config.toml", "content": new })),
            ("editor", "write", json!({ "path": "config/made/new.toml", "content": new })),
            ("editor", "write", json!({ "path": "ws/../config/trust", "content": new })),
            (
                "editor",
                "edit",
                json!({ "path": "config/config.toml", "old": "edit", "new": "full" }),
            ),
            ("editor", "delete", json!({ "path": "config/config.toml" })),
            ("editor", "move", json!({ "path": "config", "to": "away" })),
            (
                "editor",
                "move",
                json!({ "path": "ws/evil/config.toml", "to": "config/config.toml" }),
            ),
            ("reader", "read", json!({ "path": "config/config.toml" })),
            ("reader", "list_dir", json!({ "path": "other" })),
        ],
    );
    assert_eq!(config(&rig), "preset = \"edit\"\n");
    let found = within(&rig, "search", "grep", &json!({ "pattern": "preset" }));
    assert!(!found.text.contains("config/config.toml:1: preset = \"edit\""), "{}", found.text);
    assert!(found.text.contains("evil/config.toml"), "{}", found.text);
}

#[test]
fn no_tool_gets_at_the_records() {
    let rig = Rig::new();
    rig.file("a.txt", "x\n");
    rig.read(&json!({ "path": "a.txt" })).data();
    let journal = fs::read_dir(rig.state()).unwrap().next().unwrap().unwrap().file_name();
    let path = Path::new("state").join(journal);
    for (tool, action) in [("reader", "read"), ("editor", "delete")] {
        let called = within(&rig, tool, action, &json!({ "path": path }));
        assert_eq!(called.control(), "protection");
        assert!(called.text.contains("haft's records are there"), "{}", called.text);
    }
}

#[test]
fn rules_that_a_link_leads_to_are_known_where_they_really_are() {
    let rig = Rig::new();
    let home = rig.folder().join("home");
    fs::create_dir_all(home.join("dotfiles/haft")).unwrap();
    fs::create_dir_all(home.join(".config")).unwrap();
    symlink("../dotfiles/haft", home.join(".config/haft")).unwrap();
    fs::write(home.join("dotfiles/haft/config.toml"), "preset = \"edit\"\n").unwrap();
    let root = home.join("dotfiles").display().to_string();
    let call = |args: &Value| {
        let args = arguments("write", args);
        let mut command =
            rig.command(&["--preset", "full", "--root", &root, "--json", "call", "editor", &args]);
        command.env_remove("HAFT_CONFIG_DIR");
        called(&run(command))
    };
    let refused = call(&json!({ "path": "haft/config.toml", "content": "x" }));
    assert_eq!(refused.control(), "protection");
    call(&json!({ "path": "other/config.toml", "content": "x" })).data();
}

#[test]
fn rules_that_are_not_there_yet_are_not_made_by_tools() {
    let rig = Rig::new();
    let folder = rig.folder();
    fs::remove_dir(folder.join("config")).unwrap();
    rig.file("evil/config.toml", "preset = \"full\"\n");
    refuses_each(
        &rig,
        &[
            ("editor", "write", json!({ "path": "config/config.toml", "content": "x" })),
            ("editor", "write", json!({ "path": "config", "content": "x" })),
            ("editor", "move", json!({ "path": "ws/evil", "to": "config" })),
        ],
    );
    assert!(!folder.join("config").exists());
}

#[test]
fn no_program_runs_where_it_could_change_the_rules() {
    let rig = Rig::new();
    rig.config("");
    let root = rig.folder().display().to_string();
    let call = json!({ "command": "echo 'preset = \"full\"' > config/config.toml" }).to_string();
    let ran = rig.haft(&["--preset", "full", "--root", &root, "call", "bash", &call]);
    assert_eq!(ran.exit, 3, "{}", ran.all());
    insta::assert_snapshot!(ran.all(), @"
    denied: by protection: no program may have all of `.`, for haft's own directory is in it: the rules of haft's user are there
    hint: a person can name a narrower `--root`
    hint: or keep haft's directories elsewhere, with HAFT_CONFIG_DIR and HAFT_STATE_DIR
    ");
    assert_eq!(config(&rig), "");
}

#[test]
fn a_root_within_what_is_protected_lifts_nothing() {
    let rig = Rig::new();
    rig.config("").project("preset = \"edit\"\n").file(".git/hooks/pre-commit", "x\n");
    for (root, path) in [(".haft", "config.toml"), (".git/hooks", "pre-commit")] {
        let root = rig.ws(root).display().to_string();
        let options = ["--preset", "full", "--root", &root];
        let args = json!({ "path": path, "content": "y" });
        assert_eq!(rig.call_with(&options, "editor", "write", &args).control(), "protection");
        rig.call_with(&options, "reader", "read", &json!({ "path": path })).data();
        let bash = json!({ "command": "echo y > x" }).to_string();
        assert_eq!(rig.haft(&[&options[..], &["call", "bash", &bash]].concat()).exit, 3);
    }
    let root = rig.folder().join("config").display().to_string();
    let args = json!({ "path": "config.toml", "content": "y" });
    let called = rig.call_with(&["--preset", "full", "--root", &root], "editor", "write", &args);
    assert_eq!(called.control(), "protection");
}
