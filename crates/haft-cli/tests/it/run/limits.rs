//! Why a run stops, and how to go on.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::process::{Child, Stdio};

use super::working::{events, with};
use crate::rig::{Rig, Says, ran};

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
    let ran = rig.haft(&["run", "--budget", "0.005", "count"]);
    assert_eq!(ran.exit, 4, "{}", ran.all());
    assert!(ran.stderr.contains("as much as it may (`--budget`)"), "{}", ran.stderr);
    assert!(ran.stderr.contains("$0.0081"), "{}", ran.stderr);
    let without = server.config().replace("price = ", "# price = ");
    rig.config(&without);
    let ran = rig.haft(&["run", "--budget", "1", "count"]);
    assert_eq!(ran.exit, 2, "{}", ran.all());
    assert!(ran.stderr.contains("price = { input = USD"), "{}", ran.stderr);
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
    assert_eq!(state(&rig)["cause"], "interrupted");
}

#[test]
fn sigterm_ends_a_run_with_a_code_of_its_own() {
    let (rig, child) = silent(&["--json", "run", "count"]);
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let ran = ran(child.wait_with_output());
    assert_eq!(ran.exit, 143, "{}", ran.all());
    let (_, result) = events(&ran.stdout);
    assert_eq!(result["data"]["why"], "interrupted by SIGTERM");
    assert_eq!(state(&rig)["cause"], "interrupted");
}
