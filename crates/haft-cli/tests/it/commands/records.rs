//! `haft log`, `haft show` and `haft state`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::rig::{Rig, arguments, masked, one_object, run};

/// A workspace with four calls on record: read, denied, failed, searched.
fn recorded() -> Rig {
    let rig = Rig::new();
    rig.file("a.txt", "text\n").file(".env", "x\n");
    rig.read(&json!({ "path": "a.txt" }));
    rig.read(&json!({ "path": ".env" }));
    rig.read(&json!({ "path": "b.txt" }));
    rig.grep(&json!({ "pattern": "text" }));
    rig
}

fn statuses(rig: &Rig, filter: &[&str]) -> Vec<String> {
    let log = rig.json(&[&["log"], filter].concat());
    let calls = log["data"].as_array().unwrap().clone();
    calls.iter().map(|it| it["status"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_log_lists_the_newest_call_first() {
    let rig = recorded();
    insta::assert_snapshot!(masked(&rig, &rig.haft(&["log"]).stdout), @r"
    SHORT-ID  DATE TIME ok          search     action=grep pattern=text N ms
    SHORT-ID  DATE TIME failed      reader     action=read path=b.txt
    SHORT-ID  DATE TIME denied      reader     action=read path=.env
    SHORT-ID  DATE TIME ok          reader     action=read path=a.txt N ms
    ");
    assert_eq!(statuses(&rig, &[]), ["ok", "failed", "denied", "ok"]);
}

#[test]
fn the_log_is_narrowed_by_each_filter() {
    let rig = recorded();
    assert_eq!(statuses(&rig, &["-n", "2"]), ["ok", "failed"]);
    assert_eq!(statuses(&rig, &["--tool", "search"]), ["ok"]);
    assert_eq!(statuses(&rig, &["--tool", "builtin/reader"]), ["failed", "denied", "ok"]);
    assert_eq!(statuses(&rig, &["--status", "denied"]), ["denied"]);
    assert_eq!(statuses(&rig, &["--text", "B.TXT"]), ["failed"]);
    assert_eq!(statuses(&rig, &["--text", "hold credentials"]), ["denied"]);
    assert_eq!(statuses(&rig, &["--since", "1h"]).len(), 4);
    assert_eq!(statuses(&rig, &["--since", "2000-01-01"]).len(), 4);
    assert_eq!(statuses(&rig, &["--since", "2999-01-01T00:00:00Z"]).len(), 0);
    assert_eq!(statuses(&rig, &["--status", "ok", "--tool", "reader"]), ["ok"]);
    let none = rig.haft(&["log", "--tool", "nosuch"]);
    let nothing =
        "no calls of this workspace are recorded that match; `--all` lists those of all\n";
    assert_eq!((none.exit, none.stdout.as_str()), (0, nothing));
    let none = rig.haft(&["log", "--all", "--tool", "nosuch"]);
    assert_eq!((none.exit, none.stdout.as_str()), (0, "no calls are recorded that match\n"));

    let said = [&["--status", "fine"][..], &["--since", "yesterday"], &["-n", "0"]].map(|filter| {
        let ran = rig.haft(&[&["log"], filter].concat());
        assert_eq!((ran.exit, ran.stdout.as_str()), (2, ""));
        ran.stderr
    });
    insta::assert_snapshot!(said.join("\n"), @r"
    error: invalid value 'fine' for '--status <STATUS>': `fine` is not a status: expected one of pending, waiting, running, unknown, not_started, ok, failed, denied, cancelled, timed_out

    For more information, try '--help'.

    error: `yesterday` is no time: expected `2h`, `3d`, `2026-11-30` or a full timestamp

    error: invalid value '0' for '--limit <LIMIT>': expected a number from 1 to 10000

    For more information, try '--help'.
    ");
}

#[test]
fn a_call_is_shown_by_any_part_of_its_id_that_is_its_own() {
    let rig = recorded();
    let log = rig.json(&["log"])["data"].clone();
    let id = log[2]["id"].as_str().unwrap();
    let (first, last) = (&id[..4], &id[id.len() - 8..]);
    for query in [id, last, &id.to_uppercase()] {
        let shown = rig.json(&["show", query]);
        assert_eq!(shown["data"]["summary"]["id"], id, "{query}");
    }
    assert_eq!(rig.json(&["show", "last"])["data"]["summary"]["id"], log[0]["id"]);

    // The beginning of an id is a time, which calls of one hour share.
    let ambiguous = rig.haft(&["show", first]);
    assert_eq!((ambiguous.exit, ambiguous.stdout.as_str()), (2, ""));
    assert!(ambiguous.stderr.contains(id), "{}", ambiguous.stderr);

    let said =
        ["zzzz", "x", "not an id", "00000000000000000000000000", &"0".repeat(64)].map(|it| {
            let ran = rig.haft(&["show", it]);
            assert!(matches!(ran.exit, 1 | 2) && ran.stdout.is_empty(), "{}", ran.all());
            format!("{} {}", ran.exit, ran.stderr)
        });
    insta::assert_snapshot!(said.join("\n"), @r"
    1 error: no call and no run on record has an id that is, begins or ends with `zzzz`
    hint: `haft log` lists the calls on record, `haft runs` the runs

    2 error: `x` is neither a call nor a run: expected `last`, `last-run`, an id, or at least 4 characters of its begin or end

    2 error: `not an id` is neither a call nor a run: expected `last`, `last-run`, an id, or at least 4 characters of its begin or end

    1 error: no call and no artifact `00000000000000000000000000` is on record
    hint: what is too old is removed, see `haft state gc`

    2 error: `0000000000000000000000000000000000000000` is neither a call nor a run: expected `last`, `last-run`, an id, or at least 4 characters of its begin or end
    ");
}

#[test]
fn nothing_on_record_is_said() {
    let rig = Rig::new();
    let ran = rig.haft(&["show", "last"]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (1, ""));
    insta::assert_snapshot!(ran.stderr, @r"
    error: no calls of this workspace are recorded yet
    hint: `haft call` makes one; `haft log --all` lists those of all workspaces
    ");
    assert_eq!(rig.json(&["log", "--all"])["data"], json!([]));
    assert_eq!(rig.haft(&["--no-state", "log"]).exit, 2);
}

#[test]
fn a_record_tells_who_did_what_why_and_how_it_ended() {
    let rig = recorded();
    let shown = |index: usize| {
        let id = rig.json(&["log"])["data"][index]["id"].as_str().unwrap().to_owned();
        masked(&rig, &rig.haft(&["show", &id]).all())
    };
    insta::assert_snapshot!(shown(3), @r#"
    ID  builtin/reader
    status      ok
    at          DATE TIME
    ran         N ms in 1 attempt
    by          ada through cli
    in          …/ws
    decision    allow: the preset `edit` (default) allows `read_files`
    bound       path `a.txt`
    arguments   {"action":"read","path":"a.txt","offset":1,"column":0,"limit":2000}

    1	text
    "#);
    insta::assert_snapshot!(shown(2), @r#"
    ID  builtin/reader
    status      denied
    at          DATE TIME
    by          ada through cli
    in          …/ws
    decision    deny: protection refused before policy was asked
    arguments   {"action":"read","path":".env","offset":1,"column":0,"limit":2000}

    denied: by protection: `.env` is protected: environment files hold credentials
    hint: do without its content, or ask the user to provide what is needed
    "#);
}

#[test]
fn records_can_be_looked_at_where_nothing_can_be_written() {
    let rig = recorded();
    let entries = || fs::read_dir(rig.state()).unwrap().map(|it| it.unwrap().path());
    let close = |path: &Path, is_closed: bool| {
        let mode = match (path.is_dir(), is_closed) {
            (true, true) => 0o500,
            (true, false) => 0o700,
            (false, true) => 0o400,
            (false, false) => 0o600,
        };
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    entries().for_each(|it| close(&it, true));
    close(&rig.state(), true);
    let list = arguments("list_dir", &json!({}));
    let commands: [&[&str]; 4] =
        [&["log"], &["show", "last"], &["state", "du"], &["call", "reader", &list]];
    let ran = commands.map(|args| rig.bound_by_permissions(args).map(run));
    close(&rig.state(), false);
    entries().for_each(|it| close(&it, false));
    let [Some(log), Some(shown), Some(used), Some(called)] = ran else { return };
    assert_eq!((log.exit, log.stdout.lines().count()), (0, 4), "{}", log.all());
    assert!(shown.exit == 0 && shown.stdout.contains("builtin/search"), "{}", shown.all());
    assert!(used.stdout.contains("calls     4"), "{}", used.all());
    assert_eq!((called.exit, called.stdout.as_str()), (2, ""), "a call needs its record");
    assert_eq!(rig.recorded(), 4);
}

#[test]
fn what_an_outcome_has_no_room_for_is_shown_as_an_artifact() {
    let rig = Rig::new();
    rig.config("[limits]\noutcome_text_bytes = 1024\n");
    rig.file("long.txt", "0123456789 é\n".repeat(500));
    let read = rig.read(&json!({ "path": "long.txt" }));
    let content = serde_json::to_value(&read.outcome.content).unwrap();
    let artifact = content.as_array().unwrap().iter().find(|part| part["type"] == "artifact");
    let id = artifact.unwrap()["id"].as_str().unwrap().to_owned();

    let bytes = rig.haft(&["show", &id]);
    assert_eq!(bytes.exit, 0);
    assert_eq!(bytes.stdout.lines().count(), 500);
    assert!(bytes.stdout.contains("\n500\t0123456789 é"), "{}", bytes.stdout);
    let object = rig.json(&["show", &id]);
    assert_eq!(object["data"]["text"], bytes.stdout);
    assert_eq!(object["data"]["artifact"]["id"], id);
    let call = rig.haft(&["show", "last"]);
    assert!(call.stdout.contains(&id), "{}", call.stdout);
}

#[test]
fn state_says_what_it_takes_up_and_what_would_go() {
    let rig = recorded();
    insta::assert_snapshot!(masked(&rig, &rig.haft(&["state", "du"]).stdout), @r"
    where     …/state
    calls     4, the oldest of DATE TIME
    changes   0 of files
    database  N KiB
    content   0 bytes in 0 files
    ");
    insta::assert_snapshot!(rig.haft(&["state", "gc", "--dry-run"]).stdout, @"would remove 0 calls, 0 artifacts, 0 changes of files and 0 bytes of stored content");
    rig.config("[journal]\nretention_calls = 1\n");
    let would = rig.json(&["state", "gc", "--dry-run"]);
    assert_eq!(would["data"]["calls"], 3);
    assert_eq!(rig.recorded(), 4, "a dry run removes nothing");
    let ran = rig.haft(&["state", "gc"]);
    insta::assert_snapshot!(ran.stdout, @"removed 3 calls, 0 artifacts, 0 changes of files and 0 bytes of stored content");
    assert_eq!(rig.recorded(), 1);
}

#[test]
fn a_state_directory_can_be_named_in_three_ways() {
    let rig = Rig::new();
    rig.file("a.txt", "text\n");
    let other = rig.folder().join("other").display().to_string();
    let call = ["call", "reader", "-a", "action=list_dir"];
    let at_other = ["--state-dir", &other, "--json"];
    rig.haft(&[&at_other[..], &call].concat());
    assert_eq!(rig.recorded(), 0);
    let log = rig.haft(&[&at_other[..], &["log"]].concat());
    let calls: Value = one_object(&log)["data"].clone();
    assert_eq!(calls.as_array().unwrap().len(), 1);

    let mut command = rig.command(&call);
    command.env_remove("HAFT_STATE_DIR").env("XDG_STATE_HOME", rig.folder().join("xdg"));
    assert_eq!(run(command).exit, 0);
    assert!(rig.folder().join("xdg/haft/haft.db").exists());
}
