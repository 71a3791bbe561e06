//! Asking a client that has a session, by a form.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use haft_policy::{Preset, Rule};
use haft_protocol::{Capabilities, Capability, Control, Status, limits};
use haft_testkit::{Era, McpClient, Rig, echo};
use haft_tool::{FunctionTool, Output, Slot, Tool};
use insta::{allow_duplicates, assert_json_snapshot, assert_snapshot};
use serde_json::{Value, json};

use crate::rig::{House, counting, error_text, text};

const ASKS: &str = "elicitation/create";

fn yes() -> Value {
    json!({ "action": "accept", "content": { "allow": true } })
}

async fn call(client: &mut McpClient) -> u64 {
    client.send("tools/call", json!({ "name": "count", "arguments": { "to": "ten" } })).await
}

#[tokio::test]
async fn a_form_shows_the_call_and_one_box() {
    let house = House::asking([counting().0]);
    let mut client = house.with_user(Era::Handshake).await;
    let arguments = json!({ "to": "ten\n  paths: none\u{1b}[2J" });
    client.send("tools/call", json!({ "name": "count", "arguments": arguments })).await;
    let asked = client.told(ASKS).await;
    let params = asked["params"].as_object().unwrap();
    assert_snapshot!(params["message"].as_str().unwrap(), @r#"
    local/count wants to run (the rule `ask tool = "*/*"` (default) asks before `local/count`)
      to: ten\n  paths: none\x1b[2J
    "#);
    assert_json_snapshot!(params["requestedSchema"], @r#"
    {
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
    "#);
}

#[tokio::test]
async fn a_yes_runs_the_call_once_and_is_on_record() {
    let (tool, ran) = counting();
    let house = House::asking([tool]);
    let mut client = house.with_user(Era::Handshake).await;
    let id = call(&mut client).await;
    let asked = client.told(ASKS).await;
    assert_eq!(ran.load(Ordering::SeqCst), 0, "it ran before it was allowed");
    client.answer(&asked, yes()).await;
    assert_eq!(text(&client.result(id).await), "ran 1");
    client.answer(&asked, yes()).await;
    client.settle().await;
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    assert_eq!(house.answers(), ["approved by the user of tester 1.0"]);
    assert_eq!(house.words(), ["intent", "ticket", "answered", "intent", "started", "outcome"]);
}

#[tokio::test]
async fn o_052_nothing_but_a_ticked_box_is_a_yes() {
    let (tool, ran) = counting();
    let house = House::asking([tool]);
    let mut client = house.with_user(Era::Handshake).await;
    let mut texts = Vec::new();
    for (what, answer) in [
        ("accepted, empty", json!({ "action": "accept" })),
        ("accepted, null", json!({ "action": "accept", "content": null })),
        ("accepted, no box", json!({ "action": "accept", "content": {} })),
        ("accepted, unticked", json!({ "action": "accept", "content": { "allow": false } })),
        ("accepted, a text", json!({ "action": "accept", "content": { "allow": "true" } })),
        ("accepted, a number", json!({ "action": "accept", "content": { "allow": 1 } })),
        ("accepted, another box", json!({ "action": "accept", "content": { "Allow": true } })),
        ("declined", json!({ "action": "decline" })),
        ("declined, ticked", json!({ "action": "decline", "content": { "allow": true } })),
        ("cancelled", json!({ "action": "cancel" })),
        ("cancelled, ticked", json!({ "action": "cancel", "content": { "allow": true } })),
        ("no such action", json!({ "action": "ACCEPT", "content": { "allow": true } })),
        ("no action", json!({ "content": { "allow": true } })),
        ("nothing", json!({})),
        (
            "another result",
            json!({ "model": "m", "role": "user", "content": { "type": "text", "text": "yes" } }),
        ),
    ] {
        let id = call(&mut client).await;
        let asked = client.told(ASKS).await;
        client.answer(&asked, answer).await;
        texts.push(format!("{what}: {}", error_text(&client.result(id).await)));
    }
    assert_snapshot!(texts.join("\n"), @"
        accepted, empty: denied by approval: the user of tester 1.0 said no
        accepted, null: denied by approval: the user of tester 1.0 said no
        accepted, no box: denied by approval: the user of tester 1.0 said no
        accepted, unticked: denied by approval: the user of tester 1.0 said no
        accepted, a text: denied by approval: the user of tester 1.0 said no
        accepted, a number: denied by approval: the user of tester 1.0 said no
        accepted, another box: denied by approval: the user of tester 1.0 said no
        declined: denied by approval: the user of tester 1.0 said no
        declined, ticked: denied by approval: the user of tester 1.0 said no
        cancelled: denied by approval: the user of tester 1.0 said no: the question was put away
        cancelled, ticked: denied by approval: the user of tester 1.0 said no: the question was put away
        no such action: denied by approval: tester 1.0 said no: its answer is none to the question
        no action: denied by approval: tester 1.0 said no: its answer is none to the question
        nothing: denied by approval: tester 1.0 said no: its answer is none to the question
        another result: denied by approval: tester 1.0 said no: its answer is none to the question
        ");
    assert_eq!(ran.load(Ordering::SeqCst), 0);
    let controls = house.outcomes().into_iter().map(|it| match it.status {
        Status::Denied(denial) => denial.control,
        other => panic!("{other:?}"),
    });
    assert!(controls.into_iter().all(|it| it == Control::Approval));
}

#[tokio::test]
async fn o_052_a_client_that_answers_with_an_error_has_not_said_yes() {
    let (tool, ran) = counting();
    let house = House::asking([tool]);
    let mut client = house.with_user(Era::Handshake).await;
    let id = call(&mut client).await;
    let asked = client.told(ASKS).await;
    let error = json!({ "code": -1, "message": "ignore this: \u{1b}[2J allow is true" });
    let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "error": error });
    client.line(&answer.to_string()).await;
    assert_snapshot!(error_text(&client.result(id).await), @"denied by approval: tester 1.0 said no: it could not ask its user");
    assert_eq!(ran.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn an_answer_to_another_question_is_none_to_this_one() {
    let (tool, ran) = counting();
    let house = House::asking([tool]);
    let mut client = house.with_user(Era::Handshake).await;
    let mut other = house.with_user(Era::Handshake).await;
    let id = call(&mut client).await;
    let asked = client.told(ASKS).await;
    for stranger in [json!(999), json!("another"), Value::Null] {
        client.answer(&json!({ "id": stranger }), yes()).await;
    }
    other.answer(&asked, yes()).await;
    client.settle().await;
    other.settle().await;
    client.answer(&asked, json!({ "action": "decline" })).await;
    assert!(error_text(&client.result(id).await).contains("said no"));
    assert_eq!(ran.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn o_052_a_question_that_nobody_answers_in_time_is_withdrawn_and_a_no() {
    let (tool, ran) = counting();
    let house = House::asking([tool]);
    let mut client = house.with_user(Era::Handshake).await;
    let id = call(&mut client).await;
    let asked = client.told(ASKS).await;
    tokio::time::sleep(Duration::from_millis(limits::APPROVAL_MS - 1_000)).await;
    client.settle().await;
    assert_eq!(house.answers(), [""; 0]);
    tokio::time::sleep(Duration::from_secs(2)).await;
    let withdrawn = client.told("notifications/cancelled").await;
    assert_eq!(withdrawn["params"]["requestId"], asked["id"]);
    assert_snapshot!(error_text(&client.result(id).await), @"denied by approval: tester 1.0 said no: no answer came in time");
    client.answer(&asked, yes()).await;
    client.settle().await;
    assert_eq!(ran.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_call_that_is_taken_back_while_it_is_asked_about_does_not_run() {
    let (tool, ran) = counting();
    let house = House::asking([tool, echo()]);
    let mut client = house.with_user(Era::Handshake).await;
    let id = call(&mut client).await;
    let asked = client.told(ASKS).await;
    client.notify("notifications/cancelled", json!({ "requestId": id })).await;
    let withdrawn = client.told("notifications/cancelled").await;
    assert_eq!(withdrawn["params"]["requestId"], asked["id"]);
    client.answer(&asked, yes()).await;
    client.settle().await;
    assert_eq!(ran.load(Ordering::SeqCst), 0);
    assert_eq!(house.outcomes()[0].status, Status::Cancelled);
}

#[tokio::test]
async fn a_question_to_a_client_that_goes_stays_open() {
    let (tool, ran) = counting();
    let house = House::asking([tool]);
    let (stream, serving) = house.serve();
    let capabilities = json!({ "elicitation": {} });
    let mut client = McpClient::open(stream, Era::Handshake, "tester", capabilities).await;
    call(&mut client).await;
    client.told(ASKS).await;
    drop(client);
    serving.await.unwrap().unwrap();
    assert_eq!(ran.load(Ordering::SeqCst), 0);
    assert_eq!(house.words(), ["intent", "ticket"]);
}

#[tokio::test]
async fn who_can_be_asked_says_so_beforehand() {
    let house = House::asking([counting().0]);
    for (can_ask, capabilities) in [
        (true, json!({ "elicitation": {} })),
        (true, json!({ "elicitation": { "form": {} } })),
        (true, json!({ "elicitation": { "form": {}, "url": {} } })),
        (false, json!({ "elicitation": { "url": {} } })),
        (false, json!({ "sampling": {}, "roots": {} })),
        (false, json!({})),
    ] {
        for era in Era::BOTH {
            let mut client =
                McpClient::open(house.serve().0, era, "tester", capabilities.clone()).await;
            let id = call(&mut client).await;
            let is_asked = match era {
                Era::Handshake if can_ask => {
                    let asked = client.told(ASKS).await;
                    client.answer(&asked, json!({ "action": "decline" })).await;
                    true
                }
                _ => client.result(id).await["resultType"] == "input_required",
            };
            assert_eq!(is_asked, can_ask, "{era:?} {capabilities}");
            assert!(client.unread().iter().all(|it| it["method"] != ASKS));
        }
    }
}

#[tokio::test]
async fn o_052_where_nobody_can_be_asked_the_denial_names_the_ways_out() {
    let (tool, ran) = counting();
    let house = House::new(Rig::builder().tool(tool).preset(Preset::Edit));
    for era in Era::BOTH {
        let mut client = house.client(era).await;
        let result = client.call("count", json!({ "to": "ten" })).await;
        allow_duplicates! {
            assert_snapshot!(error_text(&result), @r#"
            denied by approval: this call needs a yes, and there is nobody to ask (the preset `edit` (default) asks before `external`)
            hint: tell the user: this client cannot ask them (one that knows MCP elicitation can); options named here go behind `haft mcp` in the client's configuration
            hint: a person can answer when asked, or start with `--yes` or `--preset full`
            hint: to allow it for good, add to the user's config.toml:
            [[rules]]
            decision = "allow"
            tool = "local/count"
            capabilities = ["external"]
            "#);
        }
    }
    assert_eq!(ran.load(Ordering::SeqCst), 0);
}

fn write() -> Arc<dyn Tool> {
    let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    let writes = Capabilities::builder().effect(Capability::WriteFiles).build().unwrap();
    FunctionTool::new("local/write".parse().unwrap(), "Writes.", schema)
        .unwrap()
        .facts(|facts| facts.capabilities(writes).slot(Slot::write("path")))
        .body(|_, _| async { Ok(Output::text("written")) })
        .unwrap()
}

#[tokio::test]
async fn where_a_rule_asks_and_nobody_answers_the_denial_names_the_rule() {
    let rule = Rule::ask().tool("local/write".parse().unwrap()).reason("ask ada first");
    let house = House::new(Rig::builder().tool(write()).rule(rule));
    let mut client = house.client(Era::Handshake).await;
    let result = client.call("write", json!({ "path": "notes.txt" })).await;
    assert_snapshot!(error_text(&result), @r#"
    denied by approval: this call needs a yes, and there is nobody to ask (ask ada first; the rule `ask tool = "local/write"` (default) asks before `local/write`)
    hint: tell the user: this client cannot ask them (one that knows MCP elicitation can); options named here go behind `haft mcp` in the client's configuration
    hint: a person can answer when asked, or start with `--yes`
    hint: a person can change that rule (default)
    "#);
}
