//! At a terminal: questions, colours, and what must not act on it.

use std::time::Duration;

use serde_json::json;

use crate::rig::{Rig, arguments, at_terminal, at_terminal_after};

/// A workspace where every read needs a yes.
fn asking() -> Rig {
    let rig = Rig::new();
    rig.file("a.txt", "the text\n")
        .config("[[rules]]\ndecision = \"ask\"\ntool = \"reader\"\nreason = \"look twice\"\n");
    rig
}

#[test]
fn a_question_shows_the_whole_call_and_a_yes_lets_it_run() {
    let rig = asking();
    let args = arguments("read", &json!({ "path": "./a.txt" }));
    let Some(yes) = at_terminal(&rig, &["call", "reader", &args], "y\n") else { return };
    assert!(yes.contains("reader wants to run"), "{yes}");
    assert!(yes.contains("look twice"), "{yes}");
    assert!(yes.contains("path: ./a.txt") && yes.contains("path is a.txt"), "{yes}");
    assert!(yes.contains("Allow this once? [y/N]"), "{yes}");
    assert!(yes.contains("1\tthe text"), "{yes}");
    let shown = rig.haft(&["show", "last"]).stdout;
    assert!(shown.contains("look twice") && shown.contains("ada"), "{shown}");
}

#[test]
fn anything_but_yes_is_a_no() {
    for typed in ["n\n", "\n", "yep\n", "\x04"] {
        let rig = asking();
        let args = arguments("read", &json!({ "path": "a.txt" }));
        let Some(no) = at_terminal(&rig, &["--color", "never", "call", "reader", &args], typed)
        else {
            return;
        };
        assert!(no.contains("denied: by approval"), "{typed:?}: {no}");
        assert!(!no.contains("the text"), "{typed:?}: {no}");
        assert_eq!(rig.json(&["log"])["data"][0]["attempts"], 0);
    }
}

#[test]
fn a_question_hides_nothing_of_what_would_run() {
    let rig = asking();
    let path = format!("{}\r\x1b[2K\u{202e}{}/../../a.txt", "x/../".repeat(100), "\n".repeat(50));
    let args = arguments("read", &json!({ "path": path }));
    let Some(shown) = at_terminal(&rig, &["call", "reader", &args], "n\n") else { return };
    assert!(!shown.contains("\x1b[2K") && !shown.contains('\u{202e}'), "{shown:?}");
}

#[test]
fn nothing_is_drawn_over_a_question() {
    let rig = asking();
    let args = arguments("read", &json!({ "path": "a.txt" }));
    let thinking = Duration::from_millis(1_500);
    let Some(shown) = at_terminal_after(&rig, &["call", "reader", &args], thinking, "n\n") else {
        return;
    };
    assert!(shown.contains("Allow this once? [y/N]"), "{shown:?}");
    assert!(!shown.contains("\x1b[2K"), "{shown:?}");
}

#[test]
fn colours_are_on_at_a_terminal_unless_they_are_not_wanted() {
    let rig = asking();
    let Some(coloured) = at_terminal(&rig, &["tools"], "") else { return };
    assert!(coloured.contains("\x1b[1mreader"), "{coloured:?}");
    let plain = at_terminal(&rig, &["--color", "never", "tools"], "").unwrap();
    assert!(!plain.contains('\x1b'), "{plain:?}");
}

#[test]
fn an_artifact_does_not_act_on_a_terminal() {
    let rig = Rig::new();
    rig.config("[limits]\noutcome_text_bytes = 1024\n");
    rig.file("name\x1b[2J.txt", "x\n".repeat(1_000))
        .file("long.txt", "\u{9b}2J\x1b]0;x\x07\n".repeat(900));
    let read = rig.read(&json!({ "path": "long.txt" }));
    let content = serde_json::to_value(&read.outcome.content).unwrap().to_string();
    let id = content.split("\"id\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let Some(shown) = at_terminal(&rig, &["show", &id], "") else { return };
    assert!(!shown.contains('\u{9b}') && !shown.contains("\x1b]"), "{shown:?}");
}

#[test]
fn trust_shows_the_whole_file_before_it_asks() {
    let rig = Rig::new();
    rig.project("preset = \"edit\" # \u{1b}[2J\u{202e}\n");
    let Some(no) = at_terminal(&rig, &["--color", "never", "trust"], "n\n") else { return };
    assert!(no.contains(r#"preset = "edit" # \x1b[2J\u{202e}"#), "{no}");
    assert!(no.contains("not trusted: nobody said yes"), "{no}");
    assert_eq!(rig.haft(&["trust"]).exit, 3);
    let yes = at_terminal(&rig, &["--color", "never", "trust"], "y\n").unwrap();
    assert!(yes.contains("Trust exactly this? [y/N]") && yes.contains("trusted: "), "{yes}");
    assert_eq!(rig.haft(&["trust"]).exit, 0);
}
