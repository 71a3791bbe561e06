//! Calls as models make them: cut off, doubled, misspelled, wrapped.

use haft_model::RequestMessage;
use haft_protocol::{RawArguments, StopCause, StopReason};
use haft_testkit::{Line, echo, finished, pure_tool, wish};
use haft_tool::{FunctionTool, Output};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::rig::Work;

fn counting(name: &str) -> (Arc<dyn haft_tool::Tool>, Arc<AtomicUsize>) {
    let ran = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&ran);
    let tool = pure_tool(name, move |args| {
        counter.fetch_add(1, Ordering::SeqCst);
        Ok(Output::text(args.to_string()))
    });
    (tool, ran)
}

#[tokio::test]
async fn o_082_no_call_of_a_reply_that_was_cut_off_runs() {
    for stop in [StopReason::Length, StopReason::Window, StopReason::CutShort] {
        let (write, ran) = counting("local/write");
        let whole = wish("a", "write", json!({ "path": "a" }).to_string().into(), true);
        let cut = wish("b", "write", r#"{"path":"b","content":"line1\nli"#.into(), false);
        let lines = [
            Line::Reply(finished(vec![whole, cut], stop.clone())),
            Line::say("I will write less at once."),
        ];
        let work = Work::new(lines, vec![write]);
        let end = work.say("Write.").await;
        assert_eq!(end.cause, StopCause::Done, "{stop:?}");
        assert_eq!(ran.load(Ordering::SeqCst), 0, "{stop:?}");
        let results = work.results(1);
        assert_eq!(results.len(), 2);
        for result in results {
            assert!(result.is_error);
            assert!(result.text.contains("smaller pieces"), "{}", result.text);
        }
    }
}

#[tokio::test]
async fn o_082_of_a_reply_that_seems_whole_only_whole_calls_run() {
    let (write, ran) = counting("local/write");
    let whole = wish("a", "write", json!({ "path": "a" }).to_string().into(), true);
    let cut = wish("b", "write", r#"{"path":"b","content":"li"#.into(), false);
    let lines =
        [Line::Reply(finished(vec![whole, cut], StopReason::Calls)), Line::say("One is done.")];
    let work = Work::new(lines, vec![write]);
    work.say("Write.").await;
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    let errors: Vec<bool> = work.results(1).iter().map(|it| it.is_error).collect();
    assert_eq!(errors, [false, true]);
}

#[tokio::test]
async fn o_082_a_model_that_is_cut_off_over_and_over_is_stopped() {
    let lines = (0..20).map(|_| {
        let cut = wish("b", "echo", r#"{"path":"b"#.into(), false);
        Line::Reply(finished(vec![cut], StopReason::Length))
    });
    let work = Work::new(lines.collect::<Vec<_>>(), vec![echo()]);
    let end = work.say("Write.").await;
    assert_eq!(end.cause, StopCause::Length);
    assert_eq!(end.steps, 4);
}

#[tokio::test]
async fn a_text_that_was_cut_off_is_gone_on_with() {
    let text = |text: &str| haft_protocol::ReplyPart::Text { text: text.to_owned(), opaque: None };
    let lines = [
        Line::Reply(finished(vec![text("It is a long")], StopReason::Length)),
        Line::say("story."),
    ];
    let work = Work::new(lines, vec![]);
    let end = work.say("Tell me.").await;
    assert_eq!(end.cause, StopCause::Done);
    let asked = work.model.asked();
    let said: Vec<bool> = asked[1]
        .messages
        .iter()
        .map(|it| matches!(it.message(), RequestMessage::User(_)))
        .collect();
    assert_eq!(said, [true, false, true], "user and model take turns");
    assert!(work.told_in(1).contains("cut off"));
}

#[tokio::test]
async fn o_080_equal_empty_and_missing_ids_keep_calls_apart() {
    let with_id = |id: Option<&str>, n: u32| {
        let mut part = wish("", "echo", json!({ "n": n }).to_string().into(), true);
        if let haft_protocol::ReplyPart::Call(call) = &mut part {
            call.provider_id = id.map(str::to_owned);
        }
        part
    };
    let long = "x".repeat(200);
    let replies = [
        vec![with_id(Some("a"), 1), with_id(Some("a"), 2)],
        vec![with_id(Some(""), 3), with_id(Some(""), 4)],
        vec![with_id(None, 5)],
        vec![with_id(Some("a"), 6), with_id(Some("with spaces"), 7), with_id(Some(&long), 8)],
    ];
    let lines = replies.map(|parts| Line::Reply(finished(parts, StopReason::Calls)));
    let work = Work::new(lines.into_iter().chain([Line::say("Done.")]), vec![echo()]);
    assert_eq!(work.say("Go.").await.cause, StopCause::Done);
    let last = work.model.asked().pop().unwrap();
    let (mut ids, mut number) = (Vec::new(), 0);
    for (one, next) in last.messages.iter().zip(last.messages.iter_from(1)) {
        let [RequestMessage::Reply(reply), RequestMessage::Results(results)] =
            [one.message(), next.message()]
        else {
            continue;
        };
        let calls: Vec<_> = reply.calls().collect();
        assert_eq!(calls.len(), results.len());
        for (call, result) in calls.iter().zip(results.iter()) {
            number += 1;
            assert_eq!(&*result.text, format!(r#"{{"n":{number}}}"#));
            assert_eq!(&*result.provider_id, &*call.echoed_id());
            ids.push(result.provider_id.to_string());
        }
    }
    assert_eq!(number, 8);
    assert_eq!(ids[0], "a");
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 8, "every call has an id of its own");
}

fn typed() -> Arc<dyn haft_tool::Tool> {
    let schema = json!({
        "type": "object",
        "properties": {
            "edits": { "type": "array", "items": { "type": "object" } },
            "n": { "type": "integer" },
            "text": { "type": "string" },
        },
        "additionalProperties": false,
    });
    FunctionTool::new("local/typed".parse().unwrap(), "Takes types.", schema)
        .unwrap()
        .body(
            |_, args| async move { Ok(Output::text(serde_json::Value::Object(args).to_string())) },
        )
        .unwrap()
}

async fn results_of(
    tool: Arc<dyn haft_tool::Tool>,
    arguments: &[RawArguments],
) -> Vec<(bool, String)> {
    let name = tool.descriptor().name().name().to_owned();
    let calls = arguments.iter().map(|it| wish("", &name, it.clone(), true)).collect();
    let lines = [Line::Reply(finished(calls, StopReason::Calls)), Line::say("Done.")];
    let work = Work::new(lines, vec![tool]);
    assert_eq!(work.say("Go.").await.cause, StopCause::Done, "a bad call ends no run");
    work.results(1).iter().map(|it| (it.is_error, it.text.to_string())).collect()
}

#[tokio::test]
async fn o_076_arguments_in_strings_are_unpacked_by_the_schema_alone() {
    let arguments = [
        json!({ "edits": "[{\"a\": 1}]", "n": "200", "text": "[1,2]" }).into(),
        RawArguments::Text(json!(r#"{"n": 3}"#).to_string()),
        json!({ "n": "three" }).into(),
    ];
    let results = results_of(typed(), &arguments).await;
    assert!(
        results[0].1.starts_with(r#"{"edits":[{"a":1}],"n":200,"text":"[1,2]"}"#),
        "{results:?}"
    );
    assert!(results[1].1.starts_with(r#"{"n":3}"#), "{results:?}");
    assert!(results[2].0 && results[2].1.contains("/n"), "{results:?}");
}

#[tokio::test]
async fn o_077_nothing_is_no_arguments_and_the_history_stays_valid() {
    let arguments: Vec<RawArguments> = ["", " ", "null", "{}"]
        .map(RawArguments::from)
        .into_iter()
        .chain([RawArguments::default()])
        .collect();
    for (is_error, text) in results_of(echo(), &arguments).await {
        assert!(!is_error, "{text}");
        assert!(text.starts_with("{}"), "{text}");
    }
    let arguments = ["[]", "5"].map(RawArguments::from);
    assert!(results_of(echo(), &arguments).await.iter().all(|(is_error, _)| *is_error));
}

#[tokio::test]
async fn o_078_what_cannot_be_parsed_is_told_with_its_place() {
    let garbage = "x".repeat(200_000);
    let arguments = [r#"{"a":1}{"b":2}"#, r#"{"a": 1, "a": 2}"#, "{\"a", garbage.as_str()]
        .map(RawArguments::from);
    let (tool, ran) = counting("local/count");
    for (is_error, text) in results_of(tool, &arguments).await {
        assert!(is_error, "{text}");
        assert!(text.contains("invalid_arguments"), "{text}");
        assert!(text.len() < 2_000, "the excerpt is bounded");
    }
    assert_eq!(ran.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn o_083_half_of_a_surrogate_pair_is_replaced_and_costs_no_call() {
    let arguments = [r#"{"q":"\ud99c x"}"#, r#"{"q":"x \udc00"}"#, r#"{"q":"\ud83d\ude00"}"#];
    let results = results_of(echo(), &arguments.map(RawArguments::from)).await;
    let errors: Vec<bool> = results.iter().map(|(is_error, _)| *is_error).collect();
    assert_eq!(errors, [false, false, false]);
    let repaired = "\n[notice: /q: put U+FFFD for a half of a surrogate pair]";
    assert_eq!(results[0].1, format!("{{\"q\":\"\u{fffd} x\"}}{repaired}"));
    assert_eq!(results[1].1, format!("{{\"q\":\"x \u{fffd}\"}}{repaired}"));
    assert_eq!(results[2].1, "{\"q\":\"😀\"}");
}
