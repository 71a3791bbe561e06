//! Which directory is the root, and whose rules and records count there.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;

use crate::rig::{Ran, Rig, arguments, called, masked, one_object, run};

/// A project with a rule of its own and a directory in it.
fn project() -> Rig {
    let rig = Rig::new();
    rig.file("a.txt", "text\n")
        .file("src/b.txt", "text\n")
        .file("src/secrets/c.txt", "text\n")
        .project("[[rules]]\ndecision = \"deny\"\npath = \"src/secrets/**\"\n");
    rig
}

/// Runs the command in a directory of the workspace.
fn within(rig: &Rig, dir: &str, args: &[&str]) -> Ran {
    let mut command = rig.command(args);
    command.current_dir(rig.ws(dir));
    run(command)
}

/// Returns the root that is in force in a directory of the workspace, and why.
fn root(rig: &Rig, dir: &str, home: Option<&Path>) -> String {
    let mut command = rig.command(&["--json", "doctor"]);
    command.current_dir(rig.ws(dir));
    home.map(|home| command.env("HOME", home));
    let lines = one_object(&run(command))["data"]["lines"].as_array().unwrap().clone();
    let line = lines.iter().find(|it| it["topic"] == "roots").unwrap();
    line["text"].as_str().unwrap().replace(&rig.folder().display().to_string(), "…")
}

fn read(path: &str) -> String {
    arguments("read", &json!({ "path": path }))
}

#[test]
fn a_project_is_the_root_from_any_directory_in_it() {
    let rig = project();
    rig.dir("src/deep/er");
    assert_eq!(root(&rig, "", None), "…/ws: the current directory");
    for dir in ["src", "src/deep/er"] {
        assert_eq!(root(&rig, dir, None), "…/ws: the nearest folder above with `.haft`");
        let ran = within(&rig, dir, &["--json", "call", "reader", &read("src/b.txt")]);
        assert_eq!(called(&ran).text, "1\ttext");
        // The project's rules are in force, as they are written.
        let ran = within(&rig, dir, &["--json", "call", "reader", &read("src/secrets/c.txt")]);
        assert_eq!(called(&ran).control(), "policy");
    }
    let ran = within(&rig, "src", &["call", "reader", &read("a.txt")]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (0, "1\ttext\n"));
    let said = ran.stderr.replace(&rig.folder().display().to_string(), "…");
    insta::assert_snapshot!(said, @"root: `…/ws`, the nearest folder above with `.haft`; paths begin there");

    // Who names a root gets that one, and is told whose rules are not in force.
    let ran = within(&rig, "src", &["--root", ".", "call", "reader", &read("b.txt")]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (0, "1\ttext\n"));
    let said = ran.stderr.replace(&rig.folder().display().to_string(), "…");
    insta::assert_snapshot!(said, @"config: `…/ws` has rules of its own, which are not in force here: call from there, or with `--root …/ws`");
}

#[test]
fn the_nearest_project_counts() {
    let rig = project();
    rig.file("src/inner/.haft/config.toml", "preset = \"read-only\"\n").dir("src/inner/deep");
    assert_eq!(
        root(&rig, "src/inner/deep", None),
        "…/ws/src/inner: the nearest folder above with `.haft`"
    );
    assert_eq!(root(&rig, "src/inner", None), "…/ws/src/inner: the current directory");
    // A folder is enough: a project need not have rules.
    rig.dir("src/plain/.haft").dir("src/plain/deep");
    assert_eq!(
        root(&rig, "src/plain/deep", None),
        "…/ws/src/plain: the nearest folder above with `.haft`"
    );
}

#[test]
fn a_project_that_anybody_could_have_made_is_not_the_root() {
    const HERE: &str = "…/ws/src: the current directory";
    let rig = project();
    assert_eq!(root(&rig, "src", Some(&rig.ws(""))), HERE, "the home folder is no project");
    assert_eq!(
        root(&rig, "src", Some(&rig.ws("src/home"))),
        "…/ws: the nearest folder above with `.haft`"
    );
    fs::create_dir(rig.ws("src/home")).unwrap();
    assert_eq!(root(&rig, "src", Some(&rig.ws("src/home"))), HERE, "nor is what lies around it");

    let mode = |mode| fs::set_permissions(rig.ws(""), fs::Permissions::from_mode(mode)).unwrap();
    mode(0o1777);
    assert_eq!(root(&rig, "src", None), HERE, "the folder is open to everybody");
    mode(0o755);
    fs::rename(rig.ws(".haft"), rig.out("haft")).unwrap();
    rig.link(".haft", rig.out("haft"));
    assert_eq!(root(&rig, "src", None), HERE, "a link stands for something elsewhere");
    fs::remove_file(rig.ws(".haft")).unwrap();
    rig.file(".haft", "");
    assert_eq!(root(&rig, "src", None), HERE, "a file is no folder");
}

#[test]
fn a_project_of_somebody_else_is_not_the_root() {
    use rustix::fs::{AtFlags, CWD, Uid, chownat};
    let rig = project();
    let give = |path: &str| {
        let nobody = Some(Uid::from_raw(65_534));
        chownat(CWD, rig.ws(path), nobody, None, AtFlags::empty())
    };
    if give(".haft").is_err() {
        eprintln!("skipped: only root can give files away");
        return;
    }
    assert_eq!(root(&rig, "src", None), "…/ws/src: the current directory");
    give(".haft/config.toml").unwrap();
    give("").unwrap();
    let ran = within(&rig, "src", &["call", "reader", &read("b.txt")]);
    let said = ran.stderr.replace(&rig.folder().display().to_string(), "…");
    insta::assert_snapshot!(said, @"config: `…/ws` has rules of its own, which are not in force here, for they belong to somebody else");
    // It is the owner's project for the owner's directories, whoever calls.
    give("src").unwrap();
    assert_eq!(root(&rig, "src", None), "…/ws: the nearest folder above with `.haft`");
}

#[test]
fn trust_is_for_the_project_one_stands_in() {
    let rig = project();
    let ran = within(&rig, "src", &["--json", "--yes", "trust"]);
    let project = one_object(&ran)["data"]["project"].clone();
    assert_eq!(project, json!(fs::canonicalize(rig.ws("")).unwrap()));
}

#[test]
fn the_log_is_of_the_workspace_one_stands_in() {
    let rig = project();
    rig.outside("other/d.txt", "text\n");
    let other = rig.out("other").display().to_string();
    within(&rig, "src", &["call", "reader", &read("a.txt")]);
    rig.haft(&["call", "reader", &read("src/b.txt")]);
    rig.haft(&["--root", &other, "call", "reader", &read("d.txt")]);

    let roots = |dir: &str, args: &[&str]| {
        let calls = one_object(&within(&rig, dir, args))["data"].as_array().unwrap().clone();
        let root = |it: &serde_json::Value| it["roots"][0].as_str().unwrap().to_owned();
        calls.iter().map(|it| root(it).rsplit('/').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(roots("", &["--json", "log"]), ["ws", "ws"]);
    assert_eq!(roots("src", &["--json", "log"]), ["ws", "ws"]);
    assert_eq!(roots("", &["--root", &other, "--json", "log"]), ["other"]);
    assert_eq!(roots("", &["--json", "log", "--all"]), ["other", "ws", "ws"]);
    insta::assert_snapshot!(masked(&rig, &rig.haft(&["log", "--all"]).stdout), @r"
    in …/out/other
    SHORT-ID  DATE TIME ok          reader     action=read path=d.txt N ms
    in …/ws
    SHORT-ID  DATE TIME ok          reader     action=read path=src/b.txt N ms
    SHORT-ID  DATE TIME ok          reader     action=read path=a.txt N ms
    ");
    let last = |args: &[&str]| {
        rig.json(&[args, &["show", "last"]].concat())["data"]["intent"]["arguments"]["path"].clone()
    };
    assert_eq!(last(&[]), "src/b.txt");
    assert_eq!(last(&["--root", &other]), "d.txt");
    let empty = rig.out("").display().to_string();
    let ran = rig.haft(&["--root", &empty, "log"]);
    insta::assert_snapshot!(ran.stdout, @"no calls of this workspace are recorded that match; `--all` lists those of all");

    // Where nobody knows where one stands, what is on record can still be seen.
    let ran = rig.haft(&["--root", "missing", "log"]);
    assert_eq!(ran.exit, 2);
    assert_eq!(rig.haft(&["--root", "missing", "log", "--all"]).exit, 0);
}

#[test]
fn further_roots_are_named_where_one_looks_around() {
    let rig = project();
    rig.outside("data/d.txt", "text\n");
    let (ws, out) = (rig.ws("").display().to_string(), rig.out("data").display().to_string());
    let roots = ["--root", &ws, "--root", &out];
    let here = rig.call_with(&roots, "reader", "list_dir", &json!({}));
    let said = here.notices().replace(&rig.folder().display().to_string(), "…");
    insta::assert_snapshot!(said, @"further root of the workspace is `…/out/data`");
    let there = rig.call_with(&roots, "reader", "list_dir", &json!({ "path": out }));
    assert_eq!((there.notices(), there.text), (String::new(), format!("{out}/d.txt  5 B")));
    // A root that a rule hides is not named.
    rig.config(&format!("[[rules]]\ndecision = \"deny\"\npath = {}\n", json!(out)));
    let here = rig.call_with(&roots, "reader", "list_dir", &json!({}));
    assert_eq!(here.notices(), "");
    assert_eq!(rig.call("reader", "list_dir", &json!({})).notices(), "");
}

#[test]
fn a_rule_names_a_root_by_its_full_path() {
    let rig = project();
    let secret = fs::canonicalize(rig.ws("a.txt")).unwrap();
    rig.config(&format!(
        "[[rules]]\ndecision = \"deny\"\npaths = [{}, \"/nowhere/at/all/**\"]\n",
        json!(secret)
    ));
    assert_eq!(rig.read(&json!({ "path": "a.txt" })).control(), "policy");
    assert_eq!(rig.read(&json!({ "path": "src/b.txt" })).text, "1\ttext");
    let ran = rig.haft(&["policy", "show"]);
    assert_eq!(ran.exit, 0);
    let said = ran.stderr.replace(&rig.folder().display().to_string(), "…");
    insta::assert_snapshot!(said, @"idle: `/nowhere/at/all/**` (…/config/config.toml:1) lies in no root here");
    let astray = rig.json(&["policy", "show"])["data"]["astray"].clone();
    assert_eq!(astray[0]["pattern"], "/nowhere/at/all/**");
}
