//! Why a run stops, and how to go on.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Stdio};
use std::time::Instant;

use super::working::{events, with};
use crate::rig::{Ran, Rig, Says, ran};

fn look() -> Says {
    Says::Calls("", vec![("reader", json!({ "action": "read", "path": "src/a.txt" }))])
}

/// Returns the state of the latest run, as it is listed.
fn state(rig: &Rig) -> Value {
    rig.json(&["runs"])["data"][0].clone()
}

#[test]
fn a_run_stops_at_its_turns_and_says_how_to_go_on() {
    let (rig, _server) = with([look(), look(), Says::Text(&["Three lines."])]);
    let ran = rig.haft(&["run", "--max-turns", "2", "count"]);
    assert_eq!(ran.exit, 4, "{}", ran.all());
    assert!(ran.stderr.contains("stopped: the model was asked 2 times"), "{}", ran.stderr);
    let run = state(&rig);
    assert_eq!((&run["state"], &run["cause"]), (&json!("stopped"), &json!("limit")));
    let id = run["id"].as_str().unwrap().to_owned();
    let hint = format!("`haft resume {}`", &id[id.len() - 8..]);
    assert!(ran.stderr.contains(&hint), "{hint}: {}", ran.stderr);
    let ran = rig.haft(&["resume"]);
    assert_eq!((ran.exit, &*ran.stdout), (0, "Three lines.\n"), "{}", ran.all());
    assert_eq!(state(&rig)["cause"], "done");
}

#[test]
fn money_stops_a_run_and_needs_a_price() {
    let (rig, server) = with([look(), look()]);
    // One request costs 8050 millionths of a dollar.
    let ran = rig.haft(&["run", "--budget", "0.016", "count"]);
    assert_eq!(ran.exit, 4, "{}", ran.all());
    let text = "what is left of $0.0160 does not pay for another request (`--budget`)";
    assert!(ran.stderr.contains(text), "{}", ran.stderr);
    assert!(ran.stderr.contains("$0.0081"), "{}", ran.stderr);
    let without = server.config().replace("price = ", "# price = ");
    rig.config(&without);
    let ran = rig.haft(&["run", "--budget", "1", "count"]);
    assert_eq!(ran.exit, 2, "{}", ran.all());
    assert!(ran.stderr.contains("price = { input = USD"), "{}", ran.stderr);
    assert_eq!(server.asked().len(), 1);
    assert_eq!(rig.json(&["runs"])["data"].as_array().unwrap().len(), 1, "nothing was begun");
}

#[test]
fn a_run_that_was_refused_before_it_asked_is_not_the_last_one() {
    let (rig, server) = with([Says::Text(&["Blue."])]);
    let ran = rig.haft(&["resume"]);
    assert!(ran.stderr.contains("no run of this workspace is on record"), "{}", ran.stderr);
    assert_eq!(rig.haft(&["run", "a colour?"]).exit, 0);
    // Its prompt is not paid; its prompt does not fit.
    assert_eq!(rig.haft(&["run", "--budget", "0.001", "count"]).exit, 4);
    let narrow = server.config().replace("window_tokens = 32000", "window_tokens = 2000");
    rig.config(&narrow);
    assert_eq!(rig.haft(&["run", "count"]).exit, 1);
    rig.config(&server.config());
    let runs = rig.json(&["runs"])["data"].clone();
    let causes: Vec<&str> =
        runs.as_array().unwrap().iter().map(|it| it["cause"].as_str().unwrap()).collect();
    assert_eq!(causes, ["window", "limit", "done"]);
    for go_on in [&["resume", "last", "which one?"][..], &["run", "--continue", "sure?"]] {
        server.then(Says::Text(&["Still blue."]));
        let ran = rig.haft(go_on);
        assert_eq!((ran.exit, &*ran.stdout), (0, "Still blue.\n"), "{}", ran.all());
    }
    assert!(rig.haft(&["show", "last-run"]).stdout.contains("Still blue."));
    // By its id it can be gone on with.
    server.then(Says::Text(&["Three."]));
    let ran = rig.haft(&["resume", runs[1]["id"].as_str().unwrap(), "--budget", "0.02"]);
    assert_eq!((ran.exit, &*ran.stdout), (0, "Three.\n"), "{}", ran.all());
}

#[test]
fn a_prompt_that_the_budget_does_not_pay_is_not_sent() {
    let (rig, server) = with([Says::Text(&["Three."])]);
    let ran = rig.haft(&["run", "--budget", "0.001", "count"]);
    assert_eq!(ran.exit, 4, "{}", ran.all());
    assert!(ran.stderr.contains("stopped: what is left of $0.0010"), "{}", ran.stderr);
    assert_eq!(server.asked().len(), 0);
    // A reply is no longer than what is left pays.
    let id = state(&rig)["id"].as_str().unwrap().to_owned();
    let ran = rig.haft(&["resume", &id, "--budget", "0.02"]);
    assert_eq!((ran.exit, &*ran.stdout), (0, "Three.\n"), "{}", ran.all());
    let cap = server.asked()[0]["max_tokens"].as_u64().unwrap();
    assert!((256..4_000).contains(&cap), "{cap}");
}

#[test]
fn more_than_was_estimated_is_told() {
    let (rig, _server) = with([Says::Text(&["Three."]), Says::Text(&["Four."])]);
    // Without tools the prompt is short, and the server counts 8000 tokens all the same.
    let ran = rig.haft(&["run", "--tools", "none", "--budget", "0.005", "count"]);
    assert_eq!((ran.exit, &*ran.stdout), (0, "Three.\n"), "{}", ran.all());
    let text =
        "over: the run took $0.0081, more than its $0.0050: requests took more than was estimated";
    assert!(ran.stderr.contains(text), "{}", ran.stderr);
    let ran = rig.haft(&["--json", "run", "--tools", "none", "--budget", "0.005", "count"]);
    let (events, _) = events(&ran.stdout);
    let over = events.iter().find(|it| it["event"] == "overran").unwrap();
    assert_eq!(
        (&over["limit"], &over["allowed"], &over["taken"]),
        (&json!("money"), &json!(5_000), &json!(8_050))
    );
}

#[test]
fn what_was_broken_off_counts_as_it_is_estimated() {
    let (rig, server) = with([Says::Breaks("I think so", String::new())]);
    let ran = rig.haft(&["run", "count"]);
    assert_eq!(ran.exit, 1, "{}", ran.all());
    assert!(ran.stderr.contains("used: 1 request; by estimate "), "{}", ran.stderr);
    let shown = rig.haft(&["show", "last-run"]).stdout;
    assert!(
        shown.contains("                by estimate ") && shown.contains(" and $0.0"),
        "{shown}"
    );
    let usage = state(&rig)["usage"].clone();
    assert_eq!((&usage["requests"], &usage["uncounted"]), (&json!(1), &json!(1)));
    assert!(usage["estimated_micro_usd"].as_u64().unwrap() > 1_000, "{usage}");
    assert!(rig.haft(&["runs"]).stdout.contains(" about "));
    let ran = rig.haft(&["resume", "--budget", "0.005"]);
    assert_eq!(ran.exit, 4, "{}", ran.all());
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn an_error_of_the_provider_is_told_and_the_run_can_be_gone_on_with() {
    let (rig, server) = with([Says::Refuses(401, "no such key")]);
    let ran = rig.haft(&["run", "count"]);
    assert_eq!(ran.exit, 1, "{}", ran.all());
    assert!(ran.stderr.contains("stopped: the model could not be asked"), "{}", ran.stderr);
    assert!(ran.stderr.contains("`haft models`"), "{}", ran.stderr);
    server.then(Says::Text(&["Three."]));
    let ran = rig.haft(&["resume"]);
    assert_eq!((ran.exit, &*ran.stdout), (0, "Three.\n"), "{}", ran.all());
}

#[test]
fn a_model_that_says_nothing_is_waited_for_as_long_as_the_configuration_says() {
    let (rig, server) = with([Says::Begins(""), Says::Text(&["Three."])]);
    let patience = "first_word_seconds = 1\nprice = ";
    rig.config(&server.config().replace("price = ", patience));
    let ran = rig.haft(&["run", "count"]);
    assert_eq!((ran.exit, &*ran.stdout), (0, "Three.\n"), "{}", ran.all());
    assert!(ran.stderr.contains("nothing came (attempt 2 of 5)"), "{}", ran.stderr);
    assert_eq!(server.asked().len(), 2);
}

/// Begins a run whose model falls silent, and returns once it has been asked.
fn silent(args: &[&str]) -> (Rig, Child) {
    let (rig, server) = with([Says::Begins("I think ")]);
    let mut command = rig.command(args);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    server.wait_until_asked(1);
    (rig, child)
}

#[test]
fn ctrl_c_ends_the_turn_and_the_record_says_so() {
    let (rig, child) = silent(&["run", "count"]);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let ran = ran(child.wait_with_output());
    assert_eq!(ran.exit, 130, "{}", ran.all());
    assert!(ran.stderr.contains("stopped: interrupted by Ctrl-C"), "{}", ran.stderr);
    assert!(ran.stderr.contains("`haft resume "), "{}", ran.stderr);
    let run = state(&rig);
    assert_eq!((&run["cause"], &run["by"]), (&json!("interrupted"), &json!("SIGINT")));
    assert!(rig.haft(&["runs"]).stdout.contains("  by SIGINT "));
}

#[test]
fn sigterm_ends_a_run_with_a_code_of_its_own() {
    let (rig, child) = silent(&["--json", "run", "count"]);
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let ran = ran(child.wait_with_output());
    assert_eq!(ran.exit, 143, "{}", ran.all());
    let (_, result) = events(&ran.stdout);
    assert_eq!(result["data"]["why"], "interrupted by SIGTERM");
    let run = state(&rig);
    assert_eq!((&run["cause"], &run["by"]), (&json!("interrupted"), &json!("SIGTERM")));
    let shown = rig.haft(&["show", "last-run"]).stdout;
    assert!(shown.contains("by SIGTERM: interrupted by SIGTERM"), "{shown}");
}

/// Interrupts a run twice while a program of it does not end, and returns how that came out.
fn interrupted_twice() -> (Rig, Ran) {
    // A program that asks to be waited for is given a moment to end.
    let command = "trap '' INT TERM; echo x > begun; while :; do sleep 1; done";
    let (rig, _server) = with([Says::Calls("", vec![("bash", json!({ "command": command }))])]);
    let mut process = rig.command(&["--yes", "run", "wait"]);
    let mut child = process.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while !rig.ws("begun").exists() {
        assert!(begun.elapsed().as_secs() < 90, "it never began");
        std::thread::yield_now();
    }
    let pid = Pid::from_child(&child);
    kill_process(pid, Signal::INT).unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap());
    let mut stderr = String::new();
    while !stderr.contains("Ctrl-C again") {
        assert!(told.read_line(&mut stderr).unwrap() > 0, "{stderr}");
    }
    // Too late for one that has ended meanwhile.
    let _ = kill_process(pid, Signal::INT);
    told.read_to_string(&mut stderr).unwrap();
    let output = child.wait_with_output().unwrap();
    let mut ran = ran(Ok(output));
    ran.stderr = stderr;
    (rig, ran)
}

#[test]
fn ctrl_c_twice_ends_the_command_where_it_is() {
    // On a busy machine the moment that the program is given may be over before the second one comes.
    let found = (0..10).map(|_| interrupted_twice()).find(|(_, ran)| {
        assert_eq!(ran.exit, 130, "{}", ran.all());
        ran.stderr.contains("ended at once by Ctrl-C")
    });
    let (rig, _) = found.expect("one of ten is in time");
    assert_eq!(state(&rig)["state"], "cut_short");
}

#[test]
fn nothing_is_refused_at_once_by_every_face() {
    let (rig, server) = with([Says::Text(&["Hello."])]);
    let refused = |ran: Ran, from: &str| {
        assert_eq!(ran.exit, 2, "{}", ran.all());
        let text = format!("{from} is empty: say what is to be done");
        assert!(ran.stderr.contains(&text), "{}", ran.stderr);
    };
    refused(rig.haft(&["run", ""]), "the task");
    refused(rig.haft(&["run", " \n\t"]), "the task");
    refused(rig.haft_given(" \n", &["run", "-"]), "standard input");
    rig.file("empty.md", "\n");
    refused(rig.haft(&["run", "@empty.md"]), "`empty.md`");
    assert_eq!(rig.json(&["runs"])["data"], json!([]));
    // A chat waits for a line with something on it.
    let chat = rig.haft_given("\n   \nhi\n\n", &["chat"]);
    assert_eq!(chat.exit, 0, "{}", chat.all());
    assert_eq!(server.asked().len(), 1);
    refused(rig.haft(&["resume", "last", " "]), "the task");
}

#[test]
fn tools_that_take_much_of_the_window_are_remarked_on_once_in_a_run() {
    let (rig, server) = with([look(), Says::Text(&["Three."])]);
    let narrow = server.config().replace("window_tokens = 32000", "window_tokens = 12000");
    rig.config(&narrow);
    let ran = rig.haft(&["run", "count"]);
    assert_eq!(ran.exit, 0, "{}", ran.all());
    let remarks = ran.stderr.matches("show it fewer with `--tools NAMES`").count();
    assert_eq!(remarks, 1, "{}", ran.stderr);
    server.then(Says::Text(&["Four."]));
    let ran = rig.haft(&["run", "--tools", "reader", "count"]);
    assert!(!ran.stderr.contains("--tools NAMES"), "{}", ran.stderr);
}
