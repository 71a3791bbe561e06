//! Room in the model's window.

use std::sync::{Arc, Mutex};

use haft_agent::{RunEvent, Watcher};
use haft_model::{ChatModel as _, ModelError, ModelErrorKind, ModelFacts};
use haft_protocol::{RunEntry, StopCause};
use haft_testkit::{Line, Rig, ScriptedModel, pure_tool};
use haft_tool::Output;
use serde_json::json;

use crate::rig::Work;

fn long() -> Arc<dyn haft_tool::Tool> {
    pure_tool("local/long", |args| {
        Ok(Output::text(format!("{} {}", args["n"], "word ".repeat(900))))
    })
}

fn calls(count: usize) -> impl Iterator<Item = Line> {
    (0..count).map(|n| Line::calls(&[("long", json!({ "n": "x".repeat(n + 1) }))]))
}

fn work(window_tokens: u64, lines: impl IntoIterator<Item = Line>) -> Work {
    let facts = ScriptedModel::new([]).facts().clone();
    let facts =
        ModelFacts { window_tokens: Some(window_tokens), output_tokens: Some(1_000), ..facts };
    Work::of(Rig::builder().tool(long()).build(), ScriptedModel::with_facts(facts, lines))
}

fn summaries(work: &Work) -> usize {
    let kept = work.kept.entries();
    kept.iter().filter(|it| matches!(it, RunEntry::Summarised(_))).count()
}

/// Says a summary where one is wanted, and otherwise what comes next.
fn either(lines: impl Iterator<Item = Line>) -> Vec<Line> {
    let rest = Arc::new(Mutex::new(lines.collect::<std::collections::VecDeque<_>>()));
    (0..60)
        .map(|_| {
            let rest = Arc::clone(&rest);
            Line::Of(Box::new(move |request| {
                let line = if request.tools.is_empty() {
                    Line::say("Long words were read, all of them alike.")
                } else {
                    rest.lock().unwrap().pop_front().unwrap()
                };
                let Line::Reply(finished) = line else { panic!("only replies") };
                finished
            }))
        })
        .collect()
}

#[tokio::test]
async fn room_is_made_before_the_window_is_full() {
    let mut work = work(8_000, either(calls(14).chain([Line::say("Done.")])));
    let seen = Arc::new(Mutex::new(0));
    let count = Arc::clone(&seen);
    work.options.watcher = Watcher::new(move |event| {
        if matches!(event, RunEvent::Summarised { .. }) {
            *count.lock().unwrap() += 1;
        }
    });
    let end = work.say("Read the words.").await;
    assert_eq!(end.cause, StopCause::Done);
    assert!(summaries(&work) >= 1);
    assert_eq!(summaries(&work), *seen.lock().unwrap());
    // Requests for summaries are counted, and are no steps.
    assert_eq!(end.steps, 15);
    assert_eq!(end.usage.requests, 15 + summaries(&work) as u64);
    for request in work.model.asked() {
        let text = format!("{:?}", request.messages);
        assert!(text.len() < 60_000, "a request of {} bytes", text.len());
    }
    // What was kept makes the same conversation again.
    let mended = haft_session::mend(&work.kept.entries()).transcript;
    let transcript = work.branch.turn().await.transcript.clone();
    assert!(mended.entries().eq(transcript.entries()));
}

#[tokio::test]
async fn o_096_a_request_that_was_too_long_is_made_again_with_less() {
    let overflow = || Line::Error(ModelError::new(ModelErrorKind::Overflow, "too long"));
    let lines = calls(6).chain([overflow(), Line::say("Words were read."), Line::say("Done.")]);
    let work = work(100_000, lines);
    let end = work.say("Read the words.").await;
    assert_eq!(end.cause, StopCause::Done, "{:?}", work.kept.entries().last());
    assert_eq!(summaries(&work), 1);
    let asked = work.model.asked();
    assert!(asked[8].messages.len() < asked[6].messages.len());
}

#[tokio::test]
async fn o_096_a_request_that_stays_too_long_stops_the_turn() {
    let overflow = || Line::Error(ModelError::new(ModelErrorKind::Overflow, "too long"));
    let lines = calls(6).chain([overflow(), Line::say("Words were read."), overflow(), overflow()]);
    let work = work(100_000, lines);
    let end = work.say("Read the words.").await;
    assert!(matches!(end.cause, StopCause::Window { .. }), "{end:?}");
    assert_eq!(work.model.asked().len(), 9);
}
