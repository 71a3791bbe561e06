//! Going on with a run.

use std::process::Stdio;

use serde_json::{Value, json};

use super::working::with;
use crate::rig::{Says, Scripted, run};

#[test]
fn a_run_goes_on_with_all_that_was_said() {
    let (rig, server) = with([Says::Text(&["Blue."]), Says::Text(&["Still blue."])]);
    assert_eq!(rig.haft(&["run", "remember a colour"]).exit, 0);
    let ran = rig.haft(&["resume"]);
    assert_eq!(ran.exit, 2, "{}", ran.all());
    assert!(ran.stderr.contains("say what comes next"), "{}", ran.stderr);
    let ran = rig.haft(&["run", "--continue", "which one?"]);
    assert_eq!((ran.exit, &*ran.stdout), (0, "Still blue.\n"), "{}", ran.all());
    let asked = server.asked()[1].to_string();
    for said in ["remember a colour", "Blue.", "which one?"] {
        assert!(asked.contains(said), "{said}: {asked}");
    }
    let runs = rig.json(&["runs"])["data"].clone();
    assert_eq!(runs.as_array().unwrap().len(), 1);
    assert_eq!(runs[0]["usage"]["requests"], 2);
}

#[test]
fn o_098_two_processes_do_not_go_on_with_one_run() {
    let (rig, server) = with([Says::Begins("I think ")]);
    let mut command = rig.command(&["run", "count"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    server.wait_until_asked(1);
    let ran = rig.haft(&["resume", "last", "me too"]);
    assert_eq!(ran.exit, 1, "{}", ran.all());
    assert!(ran.stderr.contains("is open") && ran.stderr.contains("haft fork"), "{}", ran.stderr);
    assert_eq!(rig.json(&["runs"])["data"][0]["state"], "running");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(rig.json(&["runs"])["data"][0]["state"], "cut_short");
    server.then(Says::Text(&["Three."]));
    let ran = rig.haft(&["resume"]);
    assert_eq!((ran.exit, &*ran.stdout), (0, "Three.\n"), "{}", ran.all());
}

#[test]
fn a_run_killed_in_the_middle_of_a_call_asks_before_it_makes_the_call_again() {
    let command = json!({ "command": "echo x >> effects; sleep 600" });
    let (rig, server) = with([Says::Calls("", vec![("bash", command)])]);
    let mut process = rig.command(&["--yes", "run", "do it"]);
    let mut child = process.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = std::time::Instant::now();
    while std::fs::read_to_string(rig.ws("effects")).unwrap_or_default().is_empty() {
        assert!(begun.elapsed().as_secs() < 90, "it never began");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    server.then(Says::Text(&["It may have been done."]));
    let ran = rig.haft(&["resume"]);
    assert_eq!(ran.exit, 0, "{}", ran.all());
    assert_eq!(std::fs::read_to_string(rig.ws("effects")).unwrap(), "x\n", "done once");
    let told = server.asked()[1]["messages"].as_array().unwrap().last().unwrap().to_string();
    assert!(told.contains("may be made again"), "{told}");
}

#[test]
fn a_fork_goes_its_own_way() {
    let (rig, server) = with([Says::Text(&["Blue."]), Says::Text(&["Red."])]);
    assert_eq!(rig.haft(&["run", "a colour?"]).exit, 0);
    let first = rig.json(&["runs"])["data"][0]["id"].as_str().unwrap().to_owned();
    let ran = rig.haft(&["fork", "last", "another one?"]);
    assert_eq!((ran.exit, &*ran.stdout), (0, "Red.\n"), "{}", ran.all());
    assert!(server.asked()[1].to_string().contains("Blue."));
    let runs = rig.json(&["runs"])["data"].clone();
    assert_eq!(runs.as_array().unwrap().len(), 2);
    assert_eq!(runs[0]["forked_from"][0], first);
    let one = rig.json(&["show", &first]);
    let entries = one["data"]["entries"].as_array().unwrap();
    assert!(!entries.iter().any(|it| it.to_string().contains("Red.")));
}

#[test]
fn a_run_of_another_workspace_is_gone_on_with_there() {
    let (rig, _server) = with([Says::Text(&["Blue."])]);
    assert_eq!(rig.haft(&["run", "a colour?"]).exit, 0);
    let id = rig.json(&["runs"])["data"][0]["id"].as_str().unwrap().to_owned();
    let mut command = rig.command(&["resume", &id, "and now?"]);
    command.current_dir(rig.out(""));
    let ran = run(command);
    assert_eq!(ran.exit, 2, "{}", ran.all());
    assert!(ran.stderr.contains("--root"), "{}", ran.stderr);
}

#[test]
fn what_is_no_run_is_said_to_be_none() {
    let (rig, _server) = with([]);
    for (args, exit) in [(["resume", "last"], 2), (["resume", "zzzz"], 1), (["resume", "!"], 2)] {
        let ran = rig.haft(&args);
        assert_eq!(ran.exit, exit, "{args:?}: {}", ran.all());
    }
    assert_eq!(rig.json(&["runs"])["data"], Value::Array(Vec::new()));
}

#[test]
fn a_run_goes_on_under_the_preset_it_began_with_unless_more_is_asked_for() {
    let writes = || Says::Calls("", vec![("bash", json!({ "command": "echo x >> effects" }))]);
    let (rig, server) = with([Says::Text(&["Looked."])]);
    assert_eq!(rig.haft(&["--preset", "read-only", "run", "look"]).exit, 0);
    for go_on in [&["--yes", "resume", "last", "write"][..], &["--yes", "fork", "last", "write"]] {
        server.then(writes());
        server.then(Says::Text(&["It was not allowed."]));
        let ran = rig.haft(go_on);
        assert_eq!(ran.exit, 0, "{}", ran.all());
        assert!(ran.stderr.contains("goes on under it; `--preset edit`"), "{}", ran.stderr);
        assert!(!rig.ws("effects").exists(), "{}", ran.all());
    }
    assert_eq!(rig.json(&["runs"])["data"][0]["preset"], "read-only", "a fork is no wider");
    server.then(writes());
    server.then(Says::Text(&["Written."]));
    let ran = rig.haft(&["--yes", "--preset", "edit", "resume", "last", "write"]);
    assert_eq!(ran.exit, 0, "{}", ran.all());
    assert!(ran.stderr.contains("may do more now: edit"), "{}", ran.stderr);
    assert!(rig.ws("effects").exists(), "{}", ran.all());
}

#[test]
fn a_run_goes_on_with_the_tools_it_began_with_unless_others_are_named() {
    let (rig, server) = with([Says::Text(&["Looked."])]);
    assert_eq!(rig.haft(&["run", "--tools", "reader", "look"]).exit, 0);
    let shown = rig.haft(&["show", "last-run"]).stdout;
    assert!(shown.lines().any(|it| it.starts_with("tools") && it.ends_with(" reader")), "{shown}");
    let none = ["run", "--tools", "none", "talk"];
    let steps: [(&[&str], &[&str]); 5] = [
        (&["resume", "last", "on"], &["reader"]),
        (&["fork", "last", "on"], &["reader"]),
        (&["resume", "last", "--tools", "search", "on"], &["search"]),
        (&none, &[]),
        (&["resume", "last", "on"], &[]),
    ];
    for (args, tools) in steps {
        server.then(Says::Text(&["Went on."]));
        let ran = rig.haft(args);
        assert_eq!(ran.exit, 0, "{args:?}: {}", ran.all());
        let asked = server.asked();
        let shown = asked.last().unwrap()["tools"].as_array().cloned().unwrap_or_default();
        let shown: Vec<&str> =
            shown.iter().map(|it| it["function"]["name"].as_str().unwrap()).collect();
        assert_eq!(shown, tools, "{args:?}: {}", ran.all());
    }
}

/// Returns the names of the tools that were shown in the last request.
fn shown_last(server: &Scripted) -> Vec<String> {
    let asked = server.asked();
    let shown = asked.last().unwrap()["tools"].as_array().cloned().unwrap_or_default();
    shown.iter().map(|it| it["function"]["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_run_goes_on_with_the_toolset_it_began_with_unless_another_is_named() {
    let (rig, server) = with([Says::Text(&["Looked."])]);
    assert_eq!(rig.haft(&["--toolset", "verbs", "run", "look"]).exit, 0);
    let verbs = shown_last(&server);
    assert!(verbs.iter().any(|it| it == "read_file"), "{verbs:?}");
    let shown = rig.haft(&["show", "last-run"]).stdout;
    assert!(shown.lines().any(|it| it.starts_with("toolset") && it.ends_with(" verbs")), "{shown}");
    let steps: [(&[&str], &[&str]); 6] = [
        (&["resume", "last", "on"], &[]),
        (&["run", "--continue", "on"], &[]),
        (&["fork", "last", "on"], &[]),
        (&["resume", "last", "--tools", "read_file", "on"], &["read_file"]),
        (
            &["--toolset", "verbs", "run", "--subagents", "--tools", "read_file", "look"],
            &["read_file", "subagent"],
        ),
        (&["resume", "last", "on"], &["read_file", "subagent"]),
    ];
    for (args, tools) in steps {
        server.then(Says::Text(&["Went on."]));
        let ran = rig.haft(args);
        assert_eq!(ran.exit, 0, "{args:?}: {}", ran.all());
        let shown = shown_last(&server);
        if tools.is_empty() {
            assert_eq!(shown, verbs, "{args:?}");
            assert!(ran.stderr.contains("toolset: verbs, as the run began"), "{}", ran.stderr);
        } else {
            assert_eq!(shown, tools, "{args:?}");
        }
    }
    server.then(Says::Text(&["Went on."]));
    let ran = rig.haft(&["--toolset", "actions", "resume", "last", "--tools", "reader", "on"]);
    assert_eq!((ran.exit, shown_last(&server)), (0, vec!["reader".to_owned()]), "{}", ran.all());
}

#[test]
fn after_a_limit_behind_an_empty_reply_the_hint_names_a_text() {
    let (rig, server) = with([Says::Text(&[""])]);
    let ran = rig.haft(&["run", "--max-turns", "1", "look"]);
    assert_eq!(ran.exit, 4, "{}", ran.all());
    assert!(ran.stderr.contains("'TEXT'` lets it go on"), "{}", ran.stderr);
    let shown = rig.haft(&["show", "last-run"]);
    assert!(shown.stdout.contains("(empty reply)"), "{}", shown.all());
    server.then(Says::Text(&["Here."]));
    let ran = rig.haft(&["resume", "last", "go on"]);
    assert_eq!((ran.exit, &*ran.stdout), (0, "Here.\n"), "{}", ran.all());
}

#[test]
fn a_text_in_the_place_of_a_run_is_told_where_it_belongs() {
    let (rig, _server) = with([]);
    let ran = rig.haft(&["resume", "now the tests"]);
    assert_eq!(ran.exit, 2, "{}", ran.all());
    assert!(ran.stderr.contains("haft resume last 'TEXT'"), "{}", ran.stderr);
}

#[test]
fn a_model_that_says_nothing_at_the_end_is_told_of() {
    let (rig, server) = with([Says::Text(&[""]), Says::Text(&[""])]);
    let ran = rig.haft(&["run", "look"]);
    assert_eq!((ran.exit, &*ran.stdout), (0, ""), "{}", ran.all());
    assert!(ran.stderr.contains("the model said nothing"), "{}", ran.stderr);
    assert!(ran.stderr.contains("'TEXT'` asks it again"), "{}", ran.stderr);
    // That is on record, and the model can be asked again with nothing said.
    assert_eq!(rig.json(&["runs"])["data"][0]["cause"], "empty");
    assert!(rig.haft(&["runs"]).stdout.contains("  empty reply "));
    let shown = rig.haft(&["show", "last-run"]).stdout;
    assert!(shown.contains("empty reply: the model said nothing"), "{shown}");
    server.then(Says::Text(&["Here."]));
    let ran = rig.haft(&["resume"]);
    assert_eq!((ran.exit, &*ran.stdout), (0, "Here.\n"), "{}", ran.all());
    let told = server.asked()[2]["messages"].as_array().unwrap().last().unwrap().to_string();
    assert!(told.contains("your last reply was empty"), "{told}");
    assert_eq!(rig.haft(&["resume"]).exit, 2);
    server.then(Says::Text(&[""]));
    server.then(Says::Text(&[""]));
    let ran = rig.haft(&["--json", "run", "look"]);
    assert!(ran.stdout.contains("\"the model said nothing\""), "{}", ran.all());
}
