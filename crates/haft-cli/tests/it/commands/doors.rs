//! The command line is no way around a gate. Whatever a gate refuses has not run, and is on record.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::rig::{Ran, Rig, arguments, called, lock, run};

const CONTENT: &str = "what only a body that runs could print";

fn workspace() -> Rig {
    let rig = Rig::new();
    rig.file("a.txt", CONTENT);
    rig
}

fn read() -> String {
    arguments("read", &json!({ "path": "a.txt" }))
}

/// Checks that nothing ran, and returns the one record of it.
fn refused(rig: &Rig, ran: &Ran) -> Value {
    assert!(!ran.all().contains(CONTENT), "the body ran: {}", ran.all());
    let detail = rig.json(&["show", "last"])["data"].clone();
    assert_eq!(rig.recorded(), 1);
    assert_eq!(detail["attempts"], json!([]), "the body ran");
    detail["summary"].clone()
}

#[test]
fn a_rule_that_denies_holds() {
    for rule in [
        "tool = \"*\"",
        "tool = \"reader\"",
        "tool = \"builtin/reader\"\npath = \"a.txt\"",
        "path = \"**\"",
        "capabilities = [\"read_files\"]",
    ] {
        let rig = workspace();
        rig.config(&format!("[[rules]]\ndecision = \"deny\"\n{rule}\n"));
        let ran = rig.haft(&["--yes", "--preset", "full", "--json", "call", "reader", &read()]);
        assert_eq!(called(&ran).control(), "policy", "{rule}");
        let summary = refused(&rig, &ran);
        assert_eq!((&summary["status"], &summary["kind"]), (&json!("denied"), &json!("policy")));
    }
}

#[test]
fn a_rule_that_asks_holds_where_nobody_can_answer() {
    let rig = workspace();
    rig.config("[[rules]]\ndecision = \"ask\"\ntool = \"reader\"\n");
    let ran = rig.haft(&["--preset", "full", "call", "reader", &read()]);
    assert_eq!(ran.exit, 3);
    let summary = refused(&rig, &ran);
    assert_eq!((&summary["status"], &summary["kind"]), (&json!("denied"), &json!("approval")));
}

#[test]
fn arguments_outside_the_contract_reach_no_body() {
    for arguments in [
        json!({ "action": "read", "path": ["a.txt", "b.txt"] }),
        json!({ "action": "read" }),
        json!({ "path": "a.txt" }),
        json!({ "action": "read", "path": "a.txt", "limit": 1e9 }),
    ] {
        let rig = workspace();
        let ran = rig.haft(&["--json", "call", "reader", &arguments.to_string()]);
        assert_eq!((called(&ran).failure(), ran.exit), ("invalid_arguments", 2), "{arguments}");
        let summary = refused(&rig, &ran);
        assert_eq!(summary["kind"], "invalid_arguments");
    }
}

#[test]
fn a_project_that_nobody_trusts_cannot_widen() {
    let rig = workspace();
    rig.config("[[rules]]\ndecision = \"ask\"\ntool = \"reader\"\n");
    rig.project(
        "preset = \"full\"\n\n[[rules]]\ndecision = \"allow\"\ntool = \"reader\"\npath = \"a.txt\"\n",
    );
    let ran = rig.haft(&["call", "reader", &read()]);
    assert_eq!(ran.exit, 3);
    refused(&rig, &ran);
}

#[test]
fn a_project_that_nobody_trusts_may_narrow() {
    let rig = workspace();
    rig.project("[[rules]]\ndecision = \"deny\"\ntool = \"reader\"\n");
    let ran = rig.haft(&["--yes", "call", "reader", &read()]);
    assert_eq!(ran.exit, 3);
    refused(&rig, &ran);
}

#[test]
fn a_call_that_cannot_be_recorded_does_not_run() {
    let rig = workspace();
    let check = |ran: Ran| {
        assert!(matches!(ran.exit, 1 | 2), "{}", ran.all());
        assert!(!ran.all().contains(CONTENT), "the body ran: {}", ran.all());
        ran.stderr.replace(&rig.folder().display().to_string(), "…")
    };
    let mut said = Vec::new();
    // A file in the place of the directory.
    fs::write(rig.state(), "").unwrap();
    said.push(check(rig.haft(&["call", "reader", &read()])));
    fs::remove_file(rig.state()).unwrap();
    // A file in the place of the database that is none.
    fs::create_dir(rig.state()).unwrap();
    fs::write(rig.state().join("haft.db"), "no database, but long enough to be one".repeat(100))
        .unwrap();
    said.push(check(rig.haft(&["call", "reader", &read()])));
    fs::remove_dir_all(rig.state()).unwrap();
    // A place where nothing can be made.
    said.push(check(rig.haft(&["--state-dir", "/proc/self/haft", "call", "reader", &read()])));
    insta::assert_snapshot!(said.join("\n"), @r"
    error: could not make directory `…/state`: File exists (os error 17)

    error: state database `…/state/haft.db` is damaged; move it away to begin a new one: file is not a database: Error code 26: file is not a database

    error: could not make directory `/proc/self/haft`: No such file or directory (os error 2)
    ");

    fs::create_dir(rig.state()).unwrap();
    lock(&rig.state());
    lock(rig.folder());
    fs::set_permissions(rig.folder(), fs::Permissions::from_mode(0o555)).unwrap();
    let elsewhere = rig.folder().join("state/beneath").display().to_string();
    let args = ["--state-dir", &elsewhere, "call", "reader", &read()];
    if let Some(command) = rig.bound_by_permissions(&args) {
        check(run(command));
    }
    fs::set_permissions(rig.folder(), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn keeping_no_records_is_a_choice_that_has_to_be_made() {
    let rig = workspace();
    let ran = rig.haft(&["--no-state", "call", "reader", &read()]);
    assert_eq!(ran.exit, 0);
    assert!(!rig.state().exists());
    // Without a place for them and without that choice there is no call.
    let mut command = rig.command(&["call", "reader", &read()]);
    command.env_remove("HAFT_STATE_DIR").env_remove("HOME");
    let ran = run(command);
    assert_eq!((ran.exit, ran.stdout.as_str()), (2, ""));
    insta::assert_snapshot!(ran.stderr, @r"
    error: there is no place for records: HOME is not set
    hint: name one with `--state-dir DIR` or HAFT_STATE_DIR
    hint: or keep none with `--no-state`
    ");
}

#[test]
fn nothing_touches_the_home_folder_where_the_places_are_named() {
    let rig = workspace();
    rig.project("preset = \"edit\"\n");
    for args in [
        &["call", "reader", &read()][..],
        &["--yes", "trust"],
        &["trust", "--revoke"],
        &["doctor"],
        &["log"],
        &["state", "gc"],
    ] {
        assert_eq!(rig.haft(args).exit, 0, "{args:?}");
    }
    assert_eq!(fs::read_dir(rig.folder().join("home")).unwrap().count(), 0);
}
