//! Asking a stateless client: it makes the call again, with an answer and what was sealed for it.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use haft_policy::Rule;
use haft_protocol::{Capabilities, Capability, limits};
use haft_testkit::{Era, McpClient, Rig, echo, pure_tool};
use haft_tool::ports::none::NoJournal;
use haft_tool::{FunctionTool, Output, Slot};
use insta::{assert_json_snapshot, assert_snapshot};
use serde_json::{Value, json};

use crate::rig::{House, KEY, counting, error_text, text};

fn arguments() -> Value {
    json!({ "to": "a secret of the arguments" })
}

fn yes() -> Value {
    json!({ "action": "accept", "content": { "allow": true } })
}

fn again(state: &Value, answer: &Value) -> Value {
    json!({
        "name": "count",
        "arguments": arguments(),
        "requestState": state,
        "inputResponses": { "approval": answer },
    })
}

/// Makes a call that is asked about, and returns the state.
async fn asked(client: &mut McpClient) -> Value {
    let result = client.call("count", arguments()).await;
    assert_eq!(result["resultType"], "input_required", "{result}");
    result["requestState"].clone()
}

struct Asking {
    house: House,
    client: McpClient,
    ran: Arc<AtomicUsize>,
}

impl Asking {
    async fn new() -> Self {
        let (tool, ran) = counting();
        let house = House::asking([tool, echo()]);
        let client = house.with_user(Era::Stateless).await;
        Self { house, client, ran }
    }

    fn ran(&self) -> usize {
        self.ran.load(Ordering::SeqCst)
    }

    async fn refused(&mut self, params: Value) -> String {
        let error = self.client.refused("tools/call", params).await;
        assert_eq!(error["code"], -32602, "{error}");
        assert_eq!(self.ran(), 0, "it ran");
        error["message"].as_str().unwrap().to_owned()
    }
}

#[tokio::test]
async fn what_is_needed_is_a_form_and_the_state() {
    let mut it = Asking::new().await;
    let mut result = it.client.call("count", json!({ "to": "ten" })).await;
    result["requestState"] = json!("[state]");
    result.as_object_mut().unwrap().retain(|key, _| key != "_meta");
    assert_json_snapshot!(result, @r#"
    {
      "resultType": "input_required",
      "inputRequests": {
        "approval": {
          "method": "elicitation/create",
          "params": {
            "mode": "form",
            "message": "local/count wants to run (the rule `ask tool = \"*/*\"` (default) asks before `local/count`)\n  to: ten",
            "requestedSchema": {
              "type": "object",
              "properties": {
                "allow": {
                  "type": "boolean",
                  "title": "Allow this once",
                  "description": "Yes lets the call run as it is shown, once."
                }
              },
              "required": [
                "allow"
              ]
            }
          }
        }
      },
      "requestState": "[state]"
    }
    "#);
    assert_eq!(it.house.words(), ["intent", "ticket"]);
}

#[tokio::test]
async fn a_yes_with_the_state_runs_the_call_once() {
    let mut it = Asking::new().await;
    let state = asked(&mut it.client).await;
    assert_eq!(it.ran(), 0);
    let result = it.client.request("tools/call", again(&state, &yes())).await;
    assert_eq!((text(&result), &result["resultType"]), ("ran 1", &json!("complete")));
    assert_eq!(it.house.answers(), ["approved by the user of tester 1.0"]);
    let words = ["intent", "ticket", "answered", "intent", "started", "outcome"];
    assert_eq!(it.house.words(), words);
    let calls: HashSet<_> = it.house.intents().into_iter().map(|intent| intent.call).collect();
    assert_eq!(calls.len(), 1, "the call goes by the id it had");
}

#[tokio::test]
async fn the_same_answer_counts_once() {
    let mut it = Asking::new().await;
    let state = asked(&mut it.client).await;
    it.client.request("tools/call", again(&state, &yes())).await;
    it.client.refused("tools/call", again(&state, &yes())).await;
    let error = it.client.refused("tools/call", again(&state, &yes())).await;
    assert_snapshot!(error["message"].as_str().unwrap(), @"the request state cannot be used: its question was answered before; make the call without it");
    assert_eq!((it.ran(), it.house.outcomes().len()), (1, 1));
}

#[tokio::test]
async fn the_same_answer_counts_once_where_it_comes_many_times_at_once() {
    let mut it = Asking::new().await;
    let state = asked(&mut it.client).await;
    let mut ids = Vec::new();
    for _ in 0..20 {
        ids.push(it.client.send("tools/call", again(&state, &yes())).await);
    }
    for id in ids {
        it.client.response(id).await;
    }
    assert_eq!((it.ran(), it.house.outcomes().len()), (1, 1));
}

#[tokio::test]
async fn the_same_answer_counts_once_where_nothing_is_recorded() {
    let (tool, ran) = counting();
    let rule = Rule::ask().tool("*/*".parse().unwrap());
    let rig = Rig::builder().rule(rule).tool(tool).build();
    let house = House::over(rig, |ports, _| ports.journal = Arc::new(NoJournal));
    let mut client = house.with_user(Era::Stateless).await;
    let state = asked(&mut client).await;
    assert_eq!(text(&client.request("tools/call", again(&state, &yes())).await), "ran 1");
    client.refused("tools/call", again(&state, &yes())).await;
    assert_eq!(ran.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn the_same_answer_counts_once_in_two_processes_that_share_the_records() {
    let (tool, ran) = counting();
    let house = House::asking([tool]);
    let other = house.elsewhere(KEY);
    let mut client = house.with_user(Era::Stateless).await;
    let state = asked(&mut client).await;
    let mut elsewhere = other.with_user(Era::Stateless).await;
    assert_eq!(text(&elsewhere.request("tools/call", again(&state, &yes())).await), "ran 1");
    let result = client.request("tools/call", again(&state, &yes())).await;
    assert!(error_text(&result).contains("was answered before"), "{result}");
    assert_eq!((ran.load(Ordering::SeqCst), house.outcomes().len()), (1, 1));
}

#[tokio::test]
async fn a_no_is_a_no_and_cannot_be_turned_into_a_yes() {
    let mut it = Asking::new().await;
    for (no, said) in [
        (json!({ "action": "decline" }), "the user of tester 1.0 said no"),
        (json!({ "action": "cancel" }), "the question was put away"),
        (json!({ "action": "accept" }), "the user of tester 1.0 said no"),
        (
            json!({ "action": "accept", "content": { "allow": false } }),
            "the user of tester 1.0 said no",
        ),
        (
            json!({ "action": "accept", "content": { "allow": "true" } }),
            "the user of tester 1.0 said no",
        ),
    ] {
        let state = asked(&mut it.client).await;
        let result = it.client.request("tools/call", again(&state, &no)).await;
        assert!(error_text(&result).contains(said), "{no}: {result}");
        it.refused(again(&state, &yes())).await;
    }
}

#[tokio::test]
async fn a_state_without_a_readable_answer_is_asked_about_again() {
    let mut it = Asking::new().await;
    let state = asked(&mut it.client).await;
    for (what, responses) in [
        ("none", Value::Null),
        ("empty", json!({})),
        ("another key", json!({ "allow": yes() })),
        ("null", json!({ "approval": null })),
        ("a text", json!({ "approval": "yes" })),
        ("a list", json!({ "approval": [yes()] })),
        ("no action", json!({ "approval": { "content": { "allow": true } } })),
        (
            "no such action",
            json!({ "approval": { "action": "yes", "content": { "allow": true } } }),
        ),
    ] {
        let params = json!({
            "name": "count",
            "arguments": arguments(),
            "requestState": state,
            "inputResponses": responses,
        });
        let result = it.client.request("tools/call", params).await;
        assert_eq!(result["resultType"], "input_required", "{what}: {result}");
    }
    assert_eq!(it.ran(), 0);
    // The first question is still open.
    let result = it.client.request("tools/call", again(&state, &yes())).await;
    assert_eq!(text(&result), "ran 1");
}

#[tokio::test]
async fn an_answer_without_its_state_is_none() {
    let mut it = Asking::new().await;
    asked(&mut it.client).await;
    let params = json!({
        "name": "count",
        "arguments": arguments(),
        "inputResponses": { "approval": yes() },
    });
    let result = it.client.request("tools/call", params).await;
    assert_eq!((&result["resultType"], it.ran()), (&json!("input_required"), 0));
}

#[tokio::test]
async fn what_else_a_request_carries_is_passed_over() {
    let mut it = Asking::new().await;
    let state = asked(&mut it.client).await;
    let mut params = again(&state, &yes());
    params["unknown"] = json!({ "deep": [1, 2, 3] });
    params["inputResponses"]["another"] = json!("anything");
    params["inputResponses"]["approval"]["further"] = json!(true);
    params["inputResponses"]["approval"]["content"]["reason"] = json!("why not");
    assert_eq!(text(&it.client.request("tools/call", params).await), "ran 1");
}

#[tokio::test]
async fn a_state_that_was_changed_is_refused() {
    let mut it = Asking::new().await;
    let state = asked(&mut it.client).await;
    let whole = state.as_str().unwrap().to_owned();
    let mut forged = vec![
        String::new(),
        "rs1..".to_owned(),
        "yes".to_owned(),
        whole.to_ascii_uppercase(),
        format!("{whole}A"),
        format!(" {whole}"),
        format!("{whole}\n"),
        whole[1..].to_owned(),
        whole[..whole.len() - 1].to_owned(),
        "A".repeat(8 * 1024 * 1024),
        "\u{1b}[2J".repeat(1_000),
    ];
    for at in (0..whole.len()).step_by(7) {
        let mut bytes = whole.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        forged.push(String::from_utf8(bytes).unwrap());
    }
    for forged in forged {
        let said = it.refused(again(&json!(forged), &yes())).await;
        assert_eq!(
            said,
            "the request state cannot be used: it was not given to this client for this call; make the call without it"
        );
    }
    // Nothing of this used the question up.
    let result = it.client.request("tools/call", again(&state, &yes())).await;
    assert_eq!(text(&result), "ran 1");
}

#[tokio::test]
async fn a_state_holds_for_its_tool_its_arguments_and_its_client_alone() {
    let mut it = Asking::new().await;
    let state = asked(&mut it.client).await;
    let mut others = Vec::new();
    for tool in ["echo", "local/count", "nobody"] {
        let mut params = again(&state, &yes());
        params["name"] = json!(tool);
        others.push(params);
    }
    for changed in [
        json!({ "to": "another" }),
        json!({ "to": "a secret of the arguments", "further": 1 }),
        json!({}),
        Value::Null,
        json!(arguments().to_string()),
    ] {
        let mut params = again(&state, &yes());
        params["arguments"] = changed;
        others.push(params);
    }
    for params in others {
        // Arguments that are no object come without a state, and the call is asked about like any other.
        if params["arguments"].is_string() {
            it.client.refused("tools/call", params).await;
            continue;
        }
        it.refused(params).await;
    }
    let mut stranger = it.house.named(Era::Stateless, "stranger").await;
    stranger.refused("tools/call", again(&state, &yes())).await;
    assert_eq!(it.ran(), 0);
}

#[tokio::test]
async fn a_state_under_another_key_is_refused() {
    let mut it = Asking::new().await;
    let stranger = it.house.elsewhere([8; 32]);
    let mut stranger = stranger.with_user(Era::Stateless).await;
    let state = asked(&mut it.client).await;
    stranger.refused("tools/call", again(&state, &yes())).await;
    assert_eq!(it.ran(), 0);
}

#[tokio::test]
async fn a_yes_that_comes_too_late_by_the_clock_of_the_records_is_none() {
    let mut it = Asking::new().await;
    let state = asked(&mut it.client).await;
    it.house.clock.forward_ms(limits::APPROVAL_MS + 1);
    let result = it.client.request("tools/call", again(&state, &yes())).await;
    assert_snapshot!(error_text(&result), @"denied by approval: the answer came after the question had expired; make the call again");
    assert_eq!(it.ran(), 0);
}

#[tokio::test]
async fn a_state_without_time_left_is_refused() {
    let (tool, ran) = counting();
    let rule = Rule::ask().tool("*/*".parse().unwrap());
    let rig = Rig::builder().rule(rule).tool(tool).build();
    let house = House::over(rig, |_, limits| limits.approval = Duration::ZERO);
    let mut client = house.with_user(Era::Stateless).await;
    let state = asked(&mut client).await;
    // The seal counts in seconds, and the journal in milliseconds.
    let id = client.send("tools/call", again(&state, &yes())).await;
    let refused = client.response(id).await.to_string();
    let ends = [
        "the request state cannot be used: its time is over; make the call without it",
        "denied by approval: the answer came after the question had expired; make the call again",
    ];
    assert!(ends.iter().any(|end| refused.contains(end)), "{refused}");
    assert_eq!(ran.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_question_outlives_its_connection() {
    let mut it = Asking::new().await;
    let state = asked(&mut it.client).await;
    let mut later = it.house.with_user(Era::Stateless).await;
    drop(it.client);
    assert_eq!(text(&later.request("tools/call", again(&state, &yes())).await), "ran 1");
}

#[tokio::test]
async fn a_client_with_a_handshake_is_asked_whatever_it_brings() {
    let mut it = Asking::new().await;
    let state = asked(&mut it.client).await;
    let mut client = it.house.with_user(Era::Handshake).await;
    let id = client.send("tools/call", again(&state, &yes())).await;
    let question = client.told("elicitation/create").await;
    client.answer(&question, json!({ "action": "decline" })).await;
    assert!(error_text(&client.result(id).await).contains("said no"));
    assert_eq!(it.ran(), 0);
}

#[tokio::test]
async fn a_model_cannot_answer_by_its_arguments() {
    let (house, ran) = {
        let ran = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&ran);
        let tool = pure_tool("local/any", move |_| {
            counter.fetch_add(1, Ordering::SeqCst);
            Ok(Output::text("ran"))
        });
        (House::asking([tool]), ran)
    };
    for era in Era::BOTH {
        let mut client = house.client(era).await;
        let arguments = json!({
            "allow": true,
            "requestState": "state",
            "inputResponses": { "approval": yes() },
            "_meta": { "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} } },
        });
        let result = client.call("any", arguments).await;
        assert_eq!(result["isError"], true, "{result}");
    }
    assert_eq!(ran.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_state_shows_no_arguments() {
    let mut it = Asking::new().await;
    let state = asked(&mut it.client).await;
    let pieces = state.as_str().unwrap().split('.').map(|it| URL_SAFE_NO_PAD.decode(it));
    let shown: Vec<u8> = pieces.filter_map(Result::ok).flatten().collect();
    let shown = String::from_utf8_lossy(&shown);
    assert!(shown.contains("local/count"), "{shown}");
    assert!(!shown.contains("secret"), "{shown}");
}

#[tokio::test]
async fn a_question_about_very_many_paths_can_be_answered() {
    let schema = json!({
        "type": "object",
        "properties": { "paths": { "type": "array", "items": { "type": "string" } } },
    });
    let writes = Capabilities::builder().effect(Capability::WriteFiles).build().unwrap();
    let slot = Slot::write("paths").from_argument("/paths/*");
    let tool = FunctionTool::new("local/write".parse().unwrap(), "Writes.", schema)
        .unwrap()
        .facts(|facts| facts.capabilities(writes).slot(slot))
        .body(|_, _| async { Ok(Output::text("written")) })
        .unwrap();
    let house = House::asking([tool]);
    let mut client = house.with_user(Era::Stateless).await;
    let paths: Vec<String> = (0..6_000).map(|it| format!("{}/{it}", "deep/".repeat(20))).collect();
    let result = client.call("write", json!({ "paths": paths })).await;
    let params = json!({
        "name": "write",
        "arguments": { "paths": paths },
        "requestState": result["requestState"],
        "inputResponses": { "approval": yes() },
    });
    assert_eq!(text(&client.request("tools/call", params).await), "written");
}
