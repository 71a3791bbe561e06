//! `haft policy`, `haft trust` and `haft doctor`.

use serde_json::json;

use crate::rig::{Ran, Rig};

fn said(rig: &Rig, ran: &Ran) -> String {
    ran.all().replace(&rig.folder().display().to_string(), "…")
}

#[test]
fn explain_says_which_rule_decides_and_runs_nothing() {
    let rig = Rig::new();
    rig.file("drafts/a.txt", "text\n").file("b.txt", "text\n").link("link", "drafts").config(
        "[[rules]]\ndecision = \"deny\"\ntool = \"reader\"\npath = \"drafts/**\"\nreason = \"not yet\"\n\n\
         [[rules]]\ndecision = \"ask\"\ntool = \"search\"\n",
    );
    let explain = |tool: &str, arguments: &str| {
        let ran = rig.haft(&["policy", "explain", tool, arguments]);
        format!("{}\n{}", ran.exit, said(&rig, &ran))
    };
    insta::assert_snapshot!(explain("reader", r#"{"action":"read","path":"b.txt"}"#), @r#"
    0
      path `b.txt`
    allow: the preset `edit` (default) allows `read_files`

    call builtin/reader
      effects: read_files
      path reads b.txt

    policy says allow
      deny tool = "reader", path = "drafts/**" (…/config/config.toml:1)
        differs: no bound path that the call could reach lies within
      ask tool = "search" (…/config/config.toml:7)
        differs: names other tools
      preset edit (default)
        decides: allow read_files
    "#);
    insta::assert_snapshot!(explain("reader", r#"{"action":"read","path":"link/a.txt"}"#), @r#"
    3
      path `link/a.txt` leads to `drafts/a.txt`
    deny: not yet; the rule `deny tool = "reader", path = "drafts/**"` (…/config/config.toml:1) denies `builtin/reader` on `drafts/a.txt`

    call builtin/reader
      effects: read_files
      path reads drafts/a.txt

    policy says deny
      deny tool = "reader", path = "drafts/**" (…/config/config.toml:1)
        decides: `drafts/a.txt`
      ask tool = "search" (…/config/config.toml:7)
        differs: names other tools
      preset edit (default)
        says: allow read_files

    hint: a person can change that rule (…/config/config.toml:1)
    "#);
    insta::assert_snapshot!(explain("search", r#"{"action":"find"}"#), @r#"
    3
      path `.` is the first root
    ask: the rule `ask tool = "search"` (…/config/config.toml:7) asks before `builtin/search`

    call builtin/search
      effects: read_files
      path reads .

    policy says ask
      deny tool = "reader", path = "drafts/**" (…/config/config.toml:1)
        differs: names other tools
      ask tool = "search" (…/config/config.toml:7)
        decides: the call
      preset edit (default)
        says: allow read_files

    hint: a person can answer when asked, or start with `--yes`
    hint: a person can change that rule (…/config/config.toml:7)
    "#);
    insta::assert_snapshot!(explain("reader", r#"{"action":"read","path":"/etc/passwd"}"#), @r"
    3
    denied: by workspace: `/etc/passwd` leads outside the workspace
    hint: use a path within `.`
    ");
    insta::assert_snapshot!(explain("nosuch", "{}"), @r"
    1
    not_found: there is no tool `nosuch`
    hint: the tools are reader, search, editor, code_nav, ast_search, undo, code_check, bash
    ");
    insta::assert_snapshot!(explain("reader", "{"), @r"
    2
    invalid_arguments: the arguments end in the middle; nothing was run; send the call again, in smaller parts
    ");
    assert_eq!(rig.recorded(), 0);

    let pairs = ["policy", "explain", "reader", "-a", "action=read", "-a", "path=b.txt"];
    assert_eq!(rig.haft(&pairs).exit, 0);
    let given = r#"{"action":"read","path":"drafts/a.txt"}"#;
    assert_eq!(rig.haft_given(given, &["policy", "explain", "reader", "-"]).exit, 3);
}

#[test]
fn show_lists_what_is_in_force_idle_and_dropped() {
    let rig = Rig::new();
    rig.config(
        "preset = \"read-only\"\n\n[[rules]]\ndecision = \"deny\"\ntool = \"nosuch\"\n\n\
         [[rules]]\ndecision = \"ask\"\ntool = \"search\"\n",
    )
    .project("preset = \"full\"\n\n[[rules]]\ndecision = \"allow\"\ntool = \"search\"\n");
    let ran = rig.haft(&["policy", "show"]);
    assert_eq!(ran.exit, 0);
    insta::assert_snapshot!(said(&rig, &ran), @r#"
    preset read-only  (…/config/config.toml:1)
    deny tool = "nosuch"  (…/config/config.toml:3)
    ask tool = "search"  (…/config/config.toml:7)
    allow tool = "search"  (.haft/config.toml:3, not followed)
    idle: `deny tool = "nosuch"` names no tool there is
    dropped: .haft/config.toml:1: not followed until you trust this file with `haft trust`: set the preset `full`
    dropped: .haft/config.toml:3: not followed until you trust this file with `haft trust`: follow the rule `allow tool = "search"`
    "#);
}

#[test]
fn what_is_said_on_the_command_line_and_in_the_environment_has_its_origin() {
    let rig = Rig::new();
    insta::assert_snapshot!(rig.haft(&["policy", "show"]).stdout, @"preset edit  (default)");
    insta::assert_snapshot!(rig.haft(&["--preset", "full", "policy", "show"]).stdout, @"preset full  (--preset)");
    let mut command = rig.command(&["policy", "show"]);
    command.env("HAFT_PRESET", "read-only");
    insta::assert_snapshot!(crate::rig::run(command).stdout, @"preset read-only  (HAFT_PRESET)");
}

#[test]
fn trust_is_given_taken_back_and_said() {
    let rig = Rig::new();
    let nothing = rig.haft(&["trust"]);
    assert_eq!(nothing.exit, 1);
    insta::assert_snapshot!(said(&rig, &nothing), @"error: there is no `…/ws/.haft/config.toml`, so there is nothing to trust");

    rig.project("preset = \"read-only\"\n");
    let given = rig.haft(&["--yes", "trust"]);
    assert_eq!(given.exit, 0);
    let digest = given.stdout.rsplit('(').next().unwrap().to_owned();
    insta::assert_snapshot!(said(&rig, &given).replace(&digest, "digest)"), @"trusted: …/ws/.haft/config.toml as it is now (digest)");
    assert_eq!(rig.haft(&["trust"]).exit, 0, "what is trusted needs no further yes");
    insta::assert_snapshot!(rig.haft(&["trust", "--revoke"]).stdout, @"nothing of this project is trusted any more");
    insta::assert_snapshot!(rig.haft(&["trust", "--revoke"]).stdout, @"nothing of this project was trusted");
    assert_eq!(rig.haft(&["trust"]).exit, 3);
}

#[test]
fn a_record_of_trust_that_cannot_be_read_is_not_passed_over() {
    let rig = Rig::new();
    rig.project("preset = \"read-only\"\n");
    std::fs::write(rig.folder().join("config/trust.json"), "{").unwrap();
    for args in [&["--yes", "trust"][..], &["policy", "show"], &["trust", "--revoke"]] {
        let ran = rig.haft(args);
        assert_eq!((ran.exit, ran.stdout.as_str()), (2, ""), "{}", ran.all());
    }
    insta::assert_snapshot!(said(&rig, &rig.haft(&["policy", "show"])), @"error: cannot use …/config/trust.json: repair or remove it, for it is not a list of trusted projects: EOF while parsing an object at line 1 column 1");
}

#[test]
fn doctor_says_what_each_part_stands_on() {
    let rig = Rig::new();
    rig.project("[[rules]]\ndecision = \"allow\"\ntool = \"*\"\n");
    let ran = rig.haft(&["doctor"]);
    assert_eq!(ran.exit, 0);
    let version = env!("CARGO_PKG_VERSION");
    insta::assert_snapshot!(said(&rig, &ran).replace(version, "VERSION"), @r#"
    haft      ok   version VERSION
    roots     ok   …/ws: the current directory
    config    ok   yours: none; it would be …/config/config.toml
              note the project's, not trusted, so it only narrows:
                   …/ws/.haft/config.toml
              note .haft/config.toml:1: not followed until you trust this file with
                   `haft trust`: follow the rule `allow tool = "*"`
    policy    ok   preset edit, 1 rule
    ports     ok   journal: state directory …/state
              ok   binder: the workspace of …/ws; record of changes:
                   state directory …/state
              ok   checkpoints: a look at the roots before and after a call that may
                   change anything in them
              ok   capture: a look at the roots before and after a call that may
                   change anything in them
              ok   artifacts: state directory …/state
              note approver: nobody: standard input is no terminal, or --json was
                   given
              ok   exclusion: lock files in …/state/locks
              ok   clock: system clock
              ok   ids: random numbers of the operating system
    tools     ok   reader, search, editor, code_nav, ast_search, undo, code_check,
                   bash
    sandbox   ok   level files+net works: 12 of 12 ways out were tried and closed
    programs  ok   a file may grow to 16.0 GiB, a process have 64.0 TiB of memory to
                   itself, and a command add 4096 processes to those that run; root
                   is held to no number of processes
    "#);
    let none = rig.json(&["--no-state", "doctor"]);
    let lines = none["data"]["lines"].as_array().unwrap().clone();
    let journal = lines.iter().find(|it| it["text"].as_str().unwrap().starts_with("journal"));
    assert_eq!(journal.unwrap()["level"], json!("warn"));
}
