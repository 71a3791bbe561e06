//! Questions that nobody answers.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::rig::{Rig, arguments, run};

/// A workspace where every read needs a yes.
fn asking() -> Rig {
    let rig = Rig::new();
    rig.file("a.txt", "text\n")
        .config("[[rules]]\ndecision = \"ask\"\ntool = \"reader\"\nreason = \"look twice\"\n");
    rig
}

#[test]
fn o_052_a_question_that_nobody_can_be_asked_is_a_no_at_once() {
    let rig = asking();
    let read = arguments("read", &json!({ "path": "a.txt" }));
    let begun = Instant::now();
    let ran = rig.haft(&["call", "reader", &read]);
    assert!(begun.elapsed() < Duration::from_secs(10), "it took {:?}", begun.elapsed());
    assert_eq!((ran.exit, ran.stdout.as_str()), (3, ""));
    insta::assert_snapshot!(ran.stderr.replace(&rig.folder().display().to_string(), "…"), @r#"
    denied: by approval: this call needs a yes, and there is nobody to ask (look twice; the rule `ask tool = "reader"` (…/config/config.toml:1) asks before `builtin/reader`)
    hint: a person can answer when asked, or start with `--yes`
    hint: a person can change that rule (…/config/config.toml:1)
    "#);

    // A program reads the answer in JSON mode, so nobody is asked then either; nor does an answer count that came
    // before the question.
    assert_eq!(rig.read(&json!({ "path": "a.txt" })).control(), "approval");
    let given = rig.haft_given("y\ny\ny\n", &["call", "reader", &read]);
    assert_eq!((given.exit, given.stdout.as_str()), (3, ""));

    for call in rig.json(&["log"])["data"].as_array().unwrap() {
        assert_eq!((&call["status"], &call["kind"]), (&json!("denied"), &json!("approval")));
        assert_eq!(call["attempts"], 0, "the body did not run");
    }
}

#[test]
fn o_052_a_yes_that_was_said_beforehand_is_one_and_never_more_than_that() {
    let rig = asking();
    let read = json!({ "path": "a.txt" });
    assert_eq!(rig.call_with(&["--yes"], "reader", "read", &read).text, "1\ttext");
    rig.config("[[rules]]\ndecision = \"deny\"\ntool = \"reader\"\n");
    assert_eq!(rig.call_with(&["--yes"], "reader", "read", &read).control(), "policy");
}

#[test]
fn o_052_an_unknown_preset_is_a_mistake_before_anything_runs() {
    let rig = asking();
    let read = arguments("read", &json!({ "path": "a.txt" }));
    let ran = rig.haft(&["--preset", "nonsense", "call", "reader", &read]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("nonsense"), "{}", ran.stderr);
    let mut command = rig.command(&["call", "reader", &read]);
    command.env("HAFT_PRESET", "nonsense");
    let ran = run(command);
    assert_eq!((ran.exit, ran.stdout.as_str()), (2, ""));
    rig.config("preset = \"nonsense\"\n");
    assert_eq!(rig.haft(&["call", "reader", &read]).exit, 2);
    rig.config("");
    assert!(!rig.state().exists(), "nothing was opened, so nothing can have run");
}
