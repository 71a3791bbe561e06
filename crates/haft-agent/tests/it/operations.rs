//! Ways of working with a branch.

use std::num::NonZeroU32;

use haft_agent::operations::{
    ActError, ParseError, ParseFault, act, chat, communicate, operate, parse, react,
};
use haft_model::{ModelError, ModelErrorKind};
use haft_policy::Preset;
use haft_protocol::{Entrance, StopCause};
use haft_schema::Contract;
use haft_testkit::doors::Kept as Journalled;
use haft_testkit::{Line, Rig, ScriptedModel, echo};
use serde_json::json;

use crate::rig::Work;

fn contract() -> Contract {
    Contract::foreign(json!({
        "type": "object",
        "properties": { "n": { "type": "integer" }, "why": { "type": "string", "default": "" } },
        "required": ["n"],
        "additionalProperties": false,
    }))
    .unwrap()
}

fn said(work: &Work, text: &str) -> haft_protocol::UserMessage {
    Work::message(&work.rig, text)
}

#[tokio::test]
async fn a_chat_leaves_no_trace_but_what_it_took() {
    let work = Work::new([Line::say("Hello."), Line::say("Four.")], vec![echo()]);
    work.say("Hello?").await;
    let kept = work.kept.entries().len();
    let text = chat(&work.agent, &work.branch, said(&work, "2 + 2?"), &work.options).await;
    assert_eq!(text.unwrap(), "Four.");
    let state = work.branch.turn().await;
    assert_eq!((state.transcript.len(), state.usage.requests), (2, 2));
    assert_eq!(work.kept.entries().len(), kept);
    let asked = work.model.asked();
    assert_eq!((asked[1].messages.len(), asked[1].tools.len()), (3, 0));
}

#[tokio::test]
async fn a_model_without_tools_calls_none_however_it_asks() {
    let work =
        Work::new([Line::calls(&[("echo", json!({}))]), Line::say("I may not.")], vec![echo()]);
    let text = communicate(&work.agent, &work.branch, said(&work, "Go."), &work.options).await;
    assert_eq!(text.unwrap(), "I may not.");
    assert!(work.results(1)[0].text.contains("there is no tool `echo`"));
    assert_eq!(work.branch.turn().await.transcript.len(), 3);
}

#[tokio::test]
async fn a_model_that_fails_is_told_of_with_what_it_said() {
    let error = ModelError::new(ModelErrorKind::Server, "it broke");
    let work = Work::new([Line::Error(error)], vec![]);
    let stopped = communicate(&work.agent, &work.branch, said(&work, "Go."), &work.options).await;
    insta::assert_snapshot!(stopped.unwrap_err(), @"the model did not get to its end (it broke)");
}

#[tokio::test]
async fn a_value_is_found_and_repaired_without_asking() {
    for text in [
        r#"{"n": 3}"#,
        "Here:\n```json\n{\"n\": \"3\", \"more\": 1,}\n```",
        r#"I think it is {"n": 3} or so."#,
        r#"{"n": 3, "why": """#,
    ] {
        let error = ModelError::new(ModelErrorKind::Server, "nobody is asked");
        let work = Work::new([Line::Error(error)], vec![]);
        let parsed = parse(&work.agent, &work.branch, text, &contract(), &work.options).await;
        let parsed = parsed.unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(parsed.value, json!({ "n": 3, "why": "" }), "{text}");
        assert_eq!(parsed.asked, 0);
    }
}

#[tokio::test]
async fn a_model_is_asked_for_a_value_three_times_at_most() {
    let lines =
        [Line::say("I do not know."), Line::say(r#"{"n": "many"}"#), Line::say(r#"{"n": 3}"#)];
    let work = Work::new(lines, vec![echo()]);
    let parsed = parse(&work.agent, &work.branch, "three", &contract(), &work.options).await;
    let parsed = parsed.unwrap();
    assert_eq!((parsed.value, parsed.asked), (json!({ "n": 3, "why": "" }), 3));
    let asked = work.model.asked();
    assert!(asked.iter().all(|it| it.format.is_some() && it.tools.is_empty()));
    assert!(format!("{:?}", asked[2].messages).contains("/n"), "it is told what was wrong");
    assert!(work.branch.turn().await.transcript.is_empty());

    for (answer, fault) in
        [("I do not know.", ParseFault::Extraction), (r#"{"n": "many"}"#, ParseFault::Validation)]
    {
        let work = Work::new((0..3).map(|_| Line::say(answer)), vec![]);
        let failed = parse(&work.agent, &work.branch, "three", &contract(), &work.options).await;
        let Err(ParseError::Unfit { fault: found, .. }) = failed else { panic!("{failed:?}") };
        assert_eq!(found, fault);
        assert_eq!(work.model.asked().len(), 3);
    }
}

#[tokio::test]
async fn a_hostile_text_is_looked_through_in_time() {
    let error = || Line::Error(ModelError::new(ModelErrorKind::Server, "it broke"));
    for text in ["{".repeat(2_000_000), "```{".repeat(200_000), r#"{"a":"#.repeat(100_000)] {
        let work = Work::new([error()], vec![]);
        let failed = parse(&work.agent, &work.branch, &text, &contract(), &work.options).await;
        assert!(matches!(failed, Err(ParseError::Stopped { .. })), "{failed:?}");
    }
}

#[tokio::test]
async fn work_ends_in_a_value() {
    let lines = [
        Line::calls(&[("echo", json!({ "n": 3 }))]),
        Line::say("It is three."),
        Line::say(r#"{"n": 3}"#),
    ];
    let work = Work::new(lines, vec![echo()]);
    let asked = said(&work, "How many?");
    let operated = operate(&work.agent, &work.branch, asked, &contract(), &work.options).await;
    let operated = operated.unwrap();
    assert_eq!(operated.value["n"], 3);
    assert_eq!((operated.end.cause, operated.end.calls), (StopCause::Done, 1));
}

#[tokio::test]
async fn acting_goes_through_dispatch_and_becomes_a_part_of_the_conversation() {
    let work = Work::new([Line::say("Hello."), Line::say("I see.")], vec![echo()]);
    work.say("Hello?").await;
    let calls = ["echo", "nothing"].map(|tool| (tool.to_owned(), json!({ "a": 1 }).into()));
    let outcomes = act(&work.agent, &work.branch, calls, &work.options).await.unwrap();
    assert_eq!(
        outcomes.iter().map(haft_protocol::Outcome::is_ok).collect::<Vec<_>>(),
        [true, false]
    );
    let entries = work.rig.journal.entries();
    let entrances = entries.iter().filter_map(|it| match it {
        Journalled::Intent(intent) => Some(intent.caller.entrance),
        _ => None,
    });
    assert_eq!(entrances.collect::<Vec<_>>(), [Entrance::Library; 2]);
    assert_eq!(work.say("What do you see?").await.cause, StopCause::Done);
    assert_eq!(work.results(1).len(), 2);
}

#[tokio::test]
async fn acting_says_that_a_call_waits() {
    let external = haft_protocol::Capabilities::builder()
        .effect(haft_protocol::Capability::External)
        .build()
        .unwrap();
    let send = haft_tool::FunctionTool::new(
        "local/send".parse().unwrap(),
        "Sends.",
        json!({"type": "object"}),
    )
    .unwrap()
    .facts(|facts| facts.capabilities(external))
    .body(|_, _| async move { Ok(haft_tool::Output::text("sent")) })
    .unwrap();
    let rig = Rig::builder().tool(send).preset(Preset::Edit).build();
    rig.oracle.say(haft_tool::Answer::Later);
    let work = Work::of(rig, ScriptedModel::new([]));
    let calls = [("send".to_owned(), json!({}).into())];
    let waits = act(&work.agent, &work.branch, calls, &work.options).await;
    assert!(matches!(waits, Err(ActError::Waits { .. })), "{waits:?}");
}

#[tokio::test]
async fn rounds_are_bounded_and_end_in_an_answer() {
    let mut lines = vec![Line::say("I should look.")];
    lines.extend((0..2).map(|it| Line::calls(&[("echo", json!({ "a": "x".repeat(it) }))])));
    lines.push(Line::say("As far as I saw: x."));
    let work = Work::new(lines, vec![echo()]);
    let asked = said(&work, "What is it?");
    let reacted =
        react(&work.agent, &work.branch, asked, NonZeroU32::new(2), &work.options).await.unwrap();
    assert_eq!((reacted.rounds, reacted.is_cut), (2, true));
    assert_eq!(reacted.answer, "As far as I saw: x.");
    let tools: Vec<usize> = work.model.asked().iter().map(|it| it.tools.len()).collect();
    assert_eq!(tools, [0, 1, 1, 0]);
}
