//! How much a run may take.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use haft_agent::{RunEvent, RunLimits, Watcher};
use haft_model::{ModelError, ModelErrorKind, Price};
use haft_policy::Preset;
use haft_protocol::{
    Capabilities, Capability, ReplyPart, RunEntry, RunLimit, StopCause, StopReason, TokenUsage,
};
use haft_testkit::{Line, Rig, ScriptedModel, echo, finished, wish};
use haft_tool::{Answer, Budget, FunctionTool, Output};
use serde_json::json;
use std::sync::Mutex;

use crate::rig::Work;

fn calls(count: usize) -> Vec<Line> {
    (0..count).map(|it| Line::calls(&[("echo", json!({ "a": "x".repeat(it) }))])).collect()
}

fn limit(limit: RunLimit, allowed: u64) -> StopCause {
    StopCause::Limit { limit, allowed }
}

fn some(number: u64) -> Option<NonZeroU64> {
    NonZeroU64::new(number)
}

#[tokio::test]
async fn a_turn_stops_at_its_steps() {
    let mut work = Work::new(calls(10), vec![echo()]);
    work.options.limits.steps = NonZeroU64::new(3).unwrap();
    let end = work.say("Go.").await;
    assert_eq!((end.cause, end.steps, end.calls), (limit(RunLimit::Steps, 3), 3, 3));
    assert_eq!(work.model.asked().len(), 3);
}

#[tokio::test]
async fn a_turn_stops_when_the_calls_of_its_run_are_used_up() {
    let work = Work::new(calls(10), vec![echo()]);
    work.branch.turn().await.parts.context.run = Budget::new(2);
    assert_eq!(work.say("Go.").await.cause, limit(RunLimit::Calls, 2));
}

#[tokio::test]
async fn a_run_stops_at_its_tokens_over_all_its_turns() {
    let mut lines = calls(2);
    lines.push(Line::say("Done."));
    lines.extend(calls(60));
    let mut work = Work::new(lines, vec![echo()]);
    // Each request takes 15; as many more have to be left as its prompt and a short reply are estimated at.
    work.options.limits.tokens = some(600);
    assert_eq!(work.say("Go.").await.cause, StopCause::Done);
    let end = work.say("And on.").await;
    assert_eq!(end.cause, limit(RunLimit::Tokens, 600));
    assert!(end.usage.tokens() <= 600 && end.steps > 0, "{end:?}");
    assert_eq!(end.usage.tokens(), 15 * end.usage.requests);
}

#[tokio::test]
async fn requests_that_nobody_counted_are_taken_as_they_are_estimated() {
    let lines = (0..100).map(|it| {
        let call = wish("a", "echo", json!({ "a": "x".repeat(it) }).to_string().into(), true);
        let mut finished = finished(vec![call], StopReason::Calls);
        finished.usage = TokenUsage::default();
        Line::Reply(finished)
    });
    let mut work = Work::new(lines.collect::<Vec<_>>(), vec![echo()]);
    work.options.limits.tokens = some(2_000);
    let end = work.say("Go.").await;
    assert_eq!(end.cause, limit(RunLimit::Tokens, 2_000));
    assert_eq!(end.usage.tokens(), 0, "an estimate is no count");
    assert_eq!(end.usage.uncounted, end.usage.requests);
}

fn priced(price: Option<Price>, lines: Vec<Line>) -> Arc<ScriptedModel> {
    let facts = haft_model::ChatModel::facts(&*ScriptedModel::new([])).clone();
    ScriptedModel::with_facts(haft_model::ModelFacts { price, ..facts }, lines)
}

#[tokio::test]
async fn money_for_a_model_without_a_price_refuses_to_start() {
    let rig = Rig::builder().tool(echo()).build();
    let mut work = Work::of(rig, priced(None, calls(3)));
    work.options.limits.micro_usd = some(1_000_000);
    let end = work.say("Go.").await;
    assert_eq!(end.cause, StopCause::Unpriced { model: "scripted/model".parse().unwrap() });
    assert!(work.model.asked().is_empty());
    assert!(!work.kept.entries().iter().any(|it| matches!(it, RunEntry::Said(_))));
    let facts = haft_model::ChatModel::facts(&*work.model).clone();
    let error = work.options.limits.check(&facts).unwrap_err();
    insta::assert_snapshot!(error, @"nobody knows what `scripted/model` costs, so a budget of money means nothing: name its price, or limit tokens instead");
}

#[tokio::test]
async fn a_run_stops_at_its_money() {
    let price = Price { input: 100_000, cache_read: 0, cache_write: 0, output: 200_000 };
    let rig = Rig::builder().tool(echo()).build();
    let mut work = Work::of(rig, priced(Some(price), calls(60)));
    // Each request costs 2.
    work.options.limits.micro_usd = some(5);
    let end = work.say("Go.").await;
    assert_eq!(end.cause, limit(RunLimit::Money, 5));
    assert_eq!(
        (end.usage.micro_usd, end.steps),
        (0, 0),
        "a prompt that it does not pay is not sent"
    );
    work.options.limits.micro_usd = some(100);
    let end = work.say("Go.").await;
    assert_eq!(end.cause, limit(RunLimit::Money, 100));
    assert!(end.usage.micro_usd <= 100 && end.steps > 1, "{end:?}");
}

/// Of a dollar for a million tokens of the prompt, two for the reply.
const DEAR: Price = Price { input: 1_000_000, cache_read: 0, cache_write: 0, output: 2_000_000 };

fn reported(input: u64, output: u64) -> Line {
    let mut finished =
        finished(vec![wish("a", "echo", json!({}).to_string().into(), true)], StopReason::Calls);
    finished.usage =
        TokenUsage { input: Some(input), output: Some(output), ..TokenUsage::default() };
    Line::Reply(finished)
}

#[tokio::test]
async fn a_reply_may_have_as_many_tokens_as_what_is_left_pays() {
    let rig = Rig::builder().tool(echo()).build();
    let mut work = Work::of(rig, priced(Some(DEAR), vec![Line::say("Done.")]));
    work.options.limits.micro_usd = some(3_000);
    assert_eq!(work.say("Go.").await.cause, StopCause::Done);
    let RunEntry::Asked { estimated_tokens, .. } = work.kept.entries()[1] else { panic!() };
    let cap = work.model.asked()[0].sampling.output_tokens.unwrap().get();
    assert_eq!(u64::from(cap), (3_000 - estimated_tokens) / 2);
}

#[tokio::test]
async fn more_than_was_estimated_is_told_and_ends_the_run() {
    let rig = Rig::builder().tool(echo()).build();
    let mut work = Work::of(rig, priced(Some(DEAR), vec![reported(9_000, 10)]));
    work.options.limits.micro_usd = some(5_000);
    let seen: Arc<Mutex<Vec<RunEvent>>> = Arc::default();
    let all = Arc::clone(&seen);
    work.options.watcher = Watcher::new(move |event| all.lock().unwrap().push(event.clone()));
    let end = work.say("Go.").await;
    assert_eq!((end.cause, end.usage.micro_usd), (limit(RunLimit::Money, 5_000), 9_020));
    let over = RunEvent::Overran { limit: RunLimit::Money, allowed: 5_000, taken: 9_020 };
    assert!(seen.lock().unwrap().contains(&over));
}

#[tokio::test(start_paused = true)]
async fn a_request_that_was_broken_off_is_taken_as_it_is_estimated() {
    let rig = Rig::builder().tool(echo()).build();
    let mut work = Work::of(rig, priced(Some(DEAR), vec![Line::Hang("I am think".to_owned())]));
    work.options.limits.time = Some(Duration::from_secs(30));
    let end = work.say("Go.").await;
    let RunEntry::Asked { estimated_tokens, .. } = work.kept.entries()[1] else { panic!() };
    let kept = work.kept.entries();
    let took = kept.iter().find_map(|it| match it {
        RunEntry::Unanswered { estimated, .. } => *estimated,
        _ => None,
    });
    let took = took.unwrap();
    assert_eq!(took.input, Some(estimated_tokens));
    assert!(took.output.is_some_and(|it| it > 0), "{took:?}");
    assert_eq!((end.usage.requests, end.usage.uncounted, end.usage.tokens()), (1, 1, 0));
    assert_eq!(Some(end.usage.estimated_tokens), took.total());
    assert_eq!(Some(end.usage.estimated_micro_usd), took.micro_usd);
    // What it took counts from then on.
    work.options.limits.micro_usd = some(took.micro_usd.unwrap() + 600);
    assert_eq!(work.say("And?").await.steps, 0);
}

#[tokio::test]
async fn a_request_that_was_refused_before_it_began_takes_nothing() {
    let work = Work::of(
        Rig::builder().build(),
        priced(Some(DEAR), vec![model_error(ModelErrorKind::Credentials)]),
    );
    let end = work.say("Go.").await;
    assert_eq!(end.usage, haft_protocol::UsageTotal::default());
}

#[tokio::test(start_paused = true)]
async fn time_ends_a_request_that_hangs_and_what_was_said_is_kept() {
    let mut work = Work::new([Line::Hang("I am think".to_owned())], vec![]);
    work.options.limits.time = Some(Duration::from_secs(30));
    let end = work.say("Go.").await;
    assert_eq!(end.cause, limit(RunLimit::Time, 30));
    let kept = work.kept.entries();
    let said = kept.iter().find_map(|it| match it {
        RunEntry::Unanswered { kind, said, .. } => Some((kind.as_str(), said.as_str())),
        _ => None,
    });
    assert_eq!(said, Some(("out_of_time", "I am think")));
    // The branch can be gone on with.
    assert!(work.branch.turn().await.transcript.open_calls().next().is_none());
}

#[tokio::test(start_paused = true)]
async fn time_ends_a_call_that_hangs() {
    let hang =
        FunctionTool::new("local/hang".parse().unwrap(), "Hangs.", json!({"type": "object"}))
            .unwrap()
            .body(|_, _| async move {
                tokio::time::sleep(Duration::from_secs(100)).await;
                Ok(Output::text("never"))
            })
            .unwrap();
    let mut work = Work::new([Line::calls(&[("hang", json!({}))])], vec![hang]);
    work.options.limits.time = Some(Duration::from_secs(30));
    let began = tokio::time::Instant::now();
    let end = work.say("Go.").await;
    assert_eq!(end.cause, limit(RunLimit::Time, 30));
    assert!(began.elapsed() <= Duration::from_secs(32));
}

/// A person who takes an hour.
struct Slow;

impl haft_tool::ports::Port for Slow {
    fn describe(&self) -> String {
        "a slow person".to_owned()
    }
}

impl haft_tool::ports::Approver for Slow {
    fn ask<'a>(&'a self, _: &'a haft_tool::ports::Question) -> haft_tool::BoxFuture<'a, Answer> {
        Box::pin(async {
            tokio::time::sleep(Duration::from_mins(10)).await;
            Answer::Approve { by: "a slow person".to_owned() }
        })
    }
}

#[tokio::test(start_paused = true)]
async fn waiting_for_people_is_not_counted() {
    let external = Capabilities::builder().effect(Capability::External).build().unwrap();
    let send =
        FunctionTool::new("local/send".parse().unwrap(), "Sends.", json!({"type": "object"}))
            .unwrap()
            .facts(|facts| facts.capabilities(external))
            .body(|_, _| async move { Ok(Output::text("sent")) })
            .unwrap();
    let rig = Rig::builder().tool(send).preset(Preset::Edit).build();
    let model = ScriptedModel::new([Line::calls(&[("send", json!({}))]), Line::say("Sent.")]);
    let mut work = Work::of(rig, model);
    let mut ports = work.rig.dispatch.ports().clone();
    ports.approver = Arc::new(Slow);
    let dispatch = haft_tool::Dispatch::new(ports, haft_tool::DispatchLimits::default());
    work.agent = haft_agent::Agent::new(dispatch);
    work.options.limits.time = Some(Duration::from_secs(30));
    assert_eq!(work.say("Send it.").await.cause, StopCause::Done);
}

fn model_error(kind: ModelErrorKind) -> Line {
    Line::Error(ModelError::new(kind, "the provider says no"))
}

#[tokio::test]
async fn o_087_reasoning_that_a_provider_refuses_is_left_out_once() {
    let reasoning = ReplyPart::Reasoning {
        text: "Hm.".to_owned(),
        opaque: Some(haft_protocol::Opaque { origin: "scripted".into(), json: "{}".into() }),
    };
    let call = wish("a", "echo", json!({}).to_string().into(), true);
    let lines = [
        Line::Reply(finished(vec![reasoning, call], StopReason::Calls)),
        model_error(ModelErrorKind::Reasoning),
        Line::say("Done."),
    ];
    let work = Work::new(lines, vec![echo()]);
    assert_eq!(work.say("Go.").await.cause, StopCause::Done);
    let shows_reasoning: Vec<bool> = work
        .model
        .asked()
        .iter()
        .map(|request| format!("{request:?}").contains("Reasoning {"))
        .collect();
    assert_eq!(shows_reasoning, [false, true, false]);

    let lines = [model_error(ModelErrorKind::Reasoning), model_error(ModelErrorKind::Reasoning)];
    let end = Work::new(lines, vec![]).say("Go.").await;
    assert!(matches!(end.cause, StopCause::Model { .. }), "{end:?}");
}

#[tokio::test]
async fn a_reply_that_does_not_fit_beside_the_prompt_gets_a_lower_cap() {
    let lines = [
        model_error(ModelErrorKind::OutputOverflow),
        model_error(ModelErrorKind::OutputOverflow),
        Line::calls(&[("echo", json!({}))]),
        Line::say("Done."),
    ];
    let work = Work::new(lines, vec![echo()]);
    assert_eq!(work.say("Go.").await.cause, StopCause::Done);
    let caps: Vec<_> = work
        .model
        .asked()
        .iter()
        .map(|it| it.sampling.output_tokens.map(std::num::NonZeroU32::get))
        .collect();
    assert_eq!(caps, [None, Some(2_000), Some(1_000), None]);
}

#[tokio::test]
async fn events_say_how_full_the_window_is() {
    let mut work = Work::new([Line::say("Hello.")], vec![echo()]);
    let seen: Arc<Mutex<Vec<RunEvent>>> = Arc::default();
    let all = Arc::clone(&seen);
    work.options.watcher = Watcher::new(move |event| all.lock().unwrap().push(event.clone()));
    work.options.limits = RunLimits::default();
    work.say("Hello?").await;
    let seen = seen.lock().unwrap();
    let RunEvent::Asked { step: 1, estimated_tokens, window_tokens: Some(100_000) } = seen[0]
    else {
        panic!("{:?}", seen[0])
    };
    assert!(estimated_tokens > 10);
    let RunEntry::Asked { estimated_tokens: kept, .. } = work.kept.entries()[1] else { panic!() };
    assert_eq!(kept, estimated_tokens);
}
