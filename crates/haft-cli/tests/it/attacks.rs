//! What hostile callers, files and readers try, and what comes of it.

use std::fs::File;
use std::io;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::rig::{Ran, Rig, arguments, ran, run};

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
