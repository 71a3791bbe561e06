//! A model that goes round in circles, and one that only seems to.

use haft_protocol::{ErrorKind, Failure, StopCause, limits};
use haft_testkit::{Line, echo, pure_tool};
use haft_tool::Output;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::rig::Work;

fn call(tool: &str, arguments: Value) -> Line {
    Line::calls(&[(tool, arguments)])
}

fn loop_of(end: &haft_agent::TurnEnd) -> &str {
    match &end.cause {
        StopCause::Loop { text } => text,
        cause => panic!("stopped by {cause:?}"),
    }
}

#[tokio::test]
async fn o_081_the_same_call_is_told_of_and_then_stopped() {
    let work = Work::new((0..50).map(|_| call("echo", json!({ "a": 1 }))), vec![echo()]);
    let end = work.say("Go.").await;
    assert_eq!(loop_of(&end), "the same call of `echo` ended in the same way 8 times");
    assert_eq!(end.steps, u64::from(limits::REPEATED_CALLS_STOP));
    let told = work.told_in(3);
    insta::assert_snapshot!(told, @"[notice: the same call of `echo` ended in the same way 3 times; do something else, or say what is missing]");
    assert_eq!(work.told_in(2), "");
}

#[tokio::test]
async fn o_081_two_calls_in_turn_are_a_circle_too() {
    let lines = (0..50).map(|it| call("echo", json!({ "a": it % 2 })));
    let work = Work::new(lines, vec![echo()]);
    let end = work.say("Go.").await;
    assert!(loop_of(&end).starts_with("the same call of `echo`"), "{end:?}");
    assert!(end.steps <= 2 * u64::from(limits::REPEATED_CALLS_STOP));
}

#[tokio::test]
async fn o_081_a_number_that_only_counts_makes_no_other_call() {
    let same = pure_tool("local/look", |_| Ok(Output::text("nothing new")));
    let lines = (0..50)
        .map(|it| call("look", json!({ "at": "x", "attempt": it, "tag": format!("try {it}") })));
    let work = Work::new(lines, vec![same]);
    let end = work.say("Go.").await;
    assert_eq!(
        loop_of(&end),
        "calls of `look` that differ in numbers only ended in the same way 16 times"
    );
}

#[tokio::test]
async fn o_081_the_same_error_from_other_arguments_is_a_circle() {
    let fails =
        pure_tool("local/find", |_| Err(Failure::new(ErrorKind::Upstream, "the server says no")));
    let words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    // A success in between, so that it is not every call that fails.
    let lines = words.iter().cycle().take(50).enumerate().map(|(index, word)| {
        Line::calls(&[
            ("find", json!({ "what": format!("{word}{}", "x".repeat(index)) })),
            ("echo", json!({ "what": "y".repeat(index) })),
        ])
    });
    let work = Work::new(lines, vec![fails, echo()]);
    let end = work.say("Go.").await;
    assert_eq!(loop_of(&end), "calls of `find` failed in the same words 12 times");
}

#[tokio::test]
async fn o_081_asking_until_something_changes_is_no_circle() {
    let seconds = AtomicU64::new(0);
    let poll = pure_tool("local/status", move |_| {
        Ok(Output::text(format!("running for {} s", seconds.fetch_add(1, Ordering::SeqCst))))
    });
    let lines = (0..30).map(|_| call("status", json!({}))).chain([Line::say("It is up.")]);
    let work = Work::new(lines, vec![poll]);
    let end = work.say("Wait for it.").await;
    assert_eq!(end.cause, StopCause::Done);
    assert_eq!(end.calls, 30);
}

#[tokio::test]
async fn o_079_unknown_names_end_calls_and_their_siblings_run() {
    let names = ["Echo", "functions.echo", "mcp__local__echo", "", "echo<|channel|>"];
    let mut calls: Vec<(&str, Value)> = names.iter().map(|name| (*name, json!({}))).collect();
    calls.insert(2, ("echo", json!({ "sibling": 1 })));
    calls.push(("echo", json!({ "sibling": 2 })));
    let work = Work::new([Line::calls(&calls), Line::say("Done.")], vec![echo()]);
    let end = work.say("Go.").await;
    assert_eq!(end.cause, StopCause::Done);
    let results = work.results(1);
    assert_eq!(results.len(), calls.len());
    let ran: Vec<_> = results.iter().filter(|it| !it.is_error).map(|it| &*it.text).collect();
    assert_eq!(ran, [r#"{"sibling":1}"#, r#"{"sibling":2}"#]);
    for (result, (name, _)) in results.iter().zip(&calls) {
        assert_eq!(&*result.tool, *name);
        assert!(!result.is_error || result.text.contains("echo"), "{}", result.text);
    }
}

#[tokio::test]
async fn o_079_ten_unknown_names_in_a_row_are_enough() {
    let lines = (0..50).map(|it| Line::calls(&[("x".repeat(it + 1).as_str(), json!({}))]));
    let work = Work::new(lines.collect::<Vec<_>>(), vec![echo()]);
    let end = work.say("Go.").await;
    let text = loop_of(&end);
    assert!(text.starts_with("every call of 10 steps in a row failed; the last, of `xxxxxxxxxx`: failed (not_found): there is no tool"), "{text}");
    assert!(work.told_in(5).contains("every call of 5 steps in a row failed"));
}

#[tokio::test]
async fn o_084_what_fails_is_told_and_ends_nothing() {
    let fails =
        pure_tool("local/fails", |_| Err(Failure::new(ErrorKind::NotFound, "no such record")));
    let panics = pure_tool("local/panics", |_| panic!("a bug of the tool"));
    let mut lines: Vec<Line> = (0..6)
        .map(|it| {
            Line::calls(&[
                ("fails", json!({ "id": "x".repeat(it) })),
                ("panics", json!({ "id": "y".repeat(it) })),
                ("echo", json!({ "id": "z".repeat(it) })),
            ])
        })
        .collect();
    lines.push(Line::say("There is no such record."));
    let work = Work::new(lines, vec![fails, panics, echo()]);
    let end = work.say("Look it up.").await;
    assert_eq!(end.cause, StopCause::Done);
    let results = work.results(6);
    assert!(results[0].is_error && results[0].text.contains("no such record"));
    assert!(results[1].is_error && results[1].text.contains("panicked"));
    assert!(!results[2].is_error);
}

#[tokio::test]
async fn o_084_a_run_that_only_fails_ends_with_its_last_error() {
    let fails = pure_tool("local/fails", |args| {
        Err(Failure::new(ErrorKind::NotFound, format!("no record {}", args["id"])))
    });
    let lines = (0..50).map(|it| call("fails", json!({ "id": "x".repeat(it) })));
    let work = Work::new(lines.collect::<Vec<_>>(), vec![fails]);
    let end = work.say("Go.").await;
    assert!(loop_of(&end).ends_with(r#"no record "xxxxxxxxx""#), "{end:?}");
}
