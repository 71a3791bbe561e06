//! What hostile callers, files and readers try, and what comes of it.

use std::fs::{self, File};
use std::io;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::rig::{LongWork, Ran, Rig, arguments, one_object, ran, run};

/// Runs a command whose standard output nobody reads.
fn unread(mut command: Command) -> Ran {
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let child = command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
    ran(child.wait_with_output())
}

#[test]
fn a_reader_that_went_away_does_not_turn_a_failure_into_success() {
    let rig = Rig::new();
    rig.file("a.txt", "text\n").file("secret.pem", "key\n");
    rig.config("[[rules]]\ndecision = \"deny\"\npath = \"secret.pem\"\n");
    let read = |path: &str| arguments("read", &json!({ "path": path }));
    for options in [&[][..], &["--json"]] {
        for (args, exit) in [
            (&["call", "reader", &read("a.txt")][..], 0),
            (&["call", "reader", &read("missing.txt")], 1),
            (&["call", "reader", "{}"], 2),
            (&["call", "reader", &read("secret.pem")], 3),
            (&["show", "last"], 0),
            (&["show", "zzzzzzzz"], 1),
        ] {
            let ran = unread(rig.command(&[options, args].concat()));
            assert_eq!(ran.exit, exit, "{args:?}: {}", ran.stderr);
            assert!(!ran.stderr.contains("pipe"), "{}", ran.stderr);
        }
    }
}

#[test]
fn what_could_not_be_delivered_is_a_failure() {
    let Ok(full) = File::options().write(true).open("/dev/full") else { return };
    let rig = Rig::new();
    rig.file("a.txt", "text\n");
    let read = arguments("read", &json!({ "path": "a.txt" }));
    for args in [&["call", "reader", &read][..], &["--json", "call", "reader", &read], &["man"]] {
        let mut command = rig.command(args);
        command.stdout(full.try_clone().unwrap());
        let ran = run(command);
        assert_eq!(ran.exit, 1, "{args:?}");
        assert_eq!(ran.stderr.matches("cannot write to standard output").count(), 1);
    }
    let mut command = rig.command(&["call", "reader", &read]);
    command.stdout(File::open("/dev/null").unwrap());
    assert_eq!(run(command).exit, 1, "it cannot be written to");
    let mut command = rig.command(&["--help"]);
    command.stdout(full);
    assert_eq!(run(command).exit, 1);
}

#[test]
fn no_text_of_the_callers_begins_a_line_that_passes_for_ours() {
    let rig = Rig::new();
    rig.file("a.txt", "text\n");
    let forged = "x\nnotice: forged\nerror: forged\r\nhint: forged";
    let read = json!({ "action": "read", "path": "a.txt", forged: 1 }).to_string();
    let globs = arguments("find", &json!({ "pattern": format!("[{forged}") }));
    let missing = arguments("read", &json!({ "path": forged }));
    for args in [
        &["call", forged, "{}"][..],
        &["call", "reader", &read],
        &["call", "reader", &missing],
        &["call", "search", &globs],
        &["call", "reader", "--arg", forged],
        &["--root", forged, "tools"],
        &["tools", "show", forged],
        &["policy", "explain", forged, "{}"],
        &["show", forged],
        &["log", "--since", forged],
        &["log", "--status", forged],
        &[forged],
    ] {
        let ran = rig.haft(args);
        let is_forged = |line: &str| {
            ["notice: forged", "error: forged", "hint: forged"]
                .iter()
                .any(|it| line.starts_with(it))
        };
        assert!(!ran.all().lines().any(is_forged), "{args:?}: {}", ran.all());
    }
    let shown = rig.haft(&["show", "last"]);
    assert!(!shown.all().contains("\nnotice: forged"), "{}", shown.all());
}

#[test]
fn a_mistake_in_a_projects_file_locks_nobody_out_of_the_records() {
    let rig = Rig::new();
    rig.file("a.txt", "text\n");
    let read = json!({ "path": "a.txt" });
    rig.read(&read);
    rig.project("nonsense = 1\n");
    for args in
        [&["log"][..], &["show", "last"], &["state", "du"], &["state", "gc", "-n"], &["tools"]]
    {
        let ran = rig.haft(args);
        assert_eq!(ran.exit, 0, "{args:?}: {}", ran.all());
        assert_eq!(ran.stderr.contains("nonsense"), args == ["tools"], "{}", ran.stderr);
    }
    // Whoever makes calls is still stopped.
    let ran = rig.haft(&["call", "reader", &arguments("read", &read)]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (2, ""));
    assert_eq!(rig.haft(&["policy", "show"]).exit, 2);
}

#[test]
fn the_doctor_names_a_mistake_and_goes_on() {
    let rig = Rig::new();
    rig.project("nonsense = 1\n");
    let ran = rig.haft(&["doctor"]);
    assert_eq!(ran.exit, 1);
    assert!(
        ran.stdout.contains("bad  .haft/config.toml:1:1: unknown key `nonsense`"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("reader, search"), "{}", ran.stdout);

    rig.config("preset = 7\n");
    let lines = rig.json(&["doctor"])["data"]["lines"].clone();
    let bad = lines.as_array().unwrap().iter().filter(|line| line["level"] == "bad").count();
    assert_eq!(bad, 1, "the user's file is read first: {lines}");
    assert!(lines.as_array().unwrap().iter().any(|line| line["topic"] == "tools"));

    let nowhere = rig.haft(&["--root", "missing", "doctor"]);
    assert_eq!(nowhere.exit, 1);
    assert!(nowhere.stdout.contains("missing"), "{}", nowhere.all());
}

#[test]
fn errors_repeat_no_more_than_a_person_reads() {
    let rig = Rig::new();
    let long = "x".repeat(100_000);
    for args in [
        &["call", "reader", "--arg", &long][..],
        &["tools", "show", &long],
        &["--root", &long, "tools"],
    ] {
        for options in [&[][..], &["--json"]] {
            let said = rig.haft(&[options, args].concat()).all();
            assert!(said.len() < 10_000 && said.contains('…'), "{} bytes", said.len());
        }
    }
    rig.project(&format!("[protection]\nextra = [\"[{long}\"]\n"));
    let ran = rig.haft(&["call", "reader", "{}"]);
    assert!(ran.exit == 2 && ran.stderr.len() < 2_000, "{} bytes", ran.stderr.len());
}

#[test]
fn a_project_file_that_is_a_file_of_elsewhere_is_not_read() {
    let rig = Rig::new();
    rig.outside("private.txt", "password of the bank\n").dir(".haft");
    fs::hard_link(rig.out("private.txt"), rig.ws(".haft/config.toml")).unwrap();
    for args in [&["call", "reader", "{}"][..], &["policy", "show"], &["trust"], &["doctor"]] {
        let ran = rig.haft(args);
        assert_ne!(ran.exit, 0, "{args:?}");
        assert!(!ran.all().contains("bank"), "{args:?}: {}", ran.all());
        assert!(ran.all().contains("hard links"), "{args:?}: {}", ran.all());
    }
}

#[test]
fn a_call_that_is_told_to_end_is_on_record_as_cancelled() {
    for signal in [rustix::process::Signal::TERM, rustix::process::Signal::HUP] {
        let rig = Rig::new();
        let ran = LongWork::begin(&rig).signal(signal);
        assert_eq!(ran.exit, 130, "{}", ran.all());
        assert_eq!(one_object(&ran)["data"]["outcome"]["status"], "cancelled");
        assert_eq!(rig.json(&["log"])["data"][0]["status"], "cancelled");
    }
}

#[test]
fn rules_that_are_not_in_force_are_named() {
    let rig = Rig::new();
    rig.file("src/a.txt", "text\n");
    rig.project("[[rules]]\ndecision = \"deny\"\ntool = \"*\"\npath = \"src/**\"\n");
    let root = rig.ws("src");
    let list = arguments("list_dir", &json!({}));
    let below = rig.haft(&["--root", root.to_str().unwrap(), "call", "reader", &list]);
    assert!(
        below.stderr.contains("has rules of its own, which are not in force here"),
        "{}",
        below.stderr
    );
    rig.project("[[rules]]\ndecision = \"deny\"\ntool = \"serch\"\n");
    let idle = rig.haft(&["call", "reader", &list]);
    assert!(idle.stderr.contains("names no tool there is"), "{}", idle.stderr);
}
