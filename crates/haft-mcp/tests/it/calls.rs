//! How calls are read, who makes them, and what surrounds them.

use std::sync::Arc;

use haft_protocol::{Entrance, ErrorKind, Failure, LogicalPath, limits};
use haft_testkit::{Era, McpClient, echo, pure_tool};
use haft_text::LineHash;
use haft_tool::{DescriptorBuilder, FunctionTool, Output, Seen, Tool};
use insta::{allow_duplicates, assert_snapshot};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::rig::{House, error_text, text};

fn repeat() -> Arc<dyn Tool> {
    let schema = json!({
        "type": "object",
        "properties": {
            "text": { "type": "string" },
            "times": { "type": "integer", "minimum": 1, "maximum": 9 },
        },
        "required": ["text", "times"],
        "additionalProperties": false,
    });
    FunctionTool::new("local/repeat".parse().unwrap(), "Repeats a text.", schema)
        .unwrap()
        .body(|_, args| async move { Ok(Output::text(Value::Object(args).to_string())) })
        .unwrap()
}

/// A tool whose calls end when a test lets them.
fn gate() -> (Arc<dyn Tool>, Arc<Semaphore>) {
    let open = Arc::new(Semaphore::new(0));
    let waits = Arc::clone(&open);
    let schema = json!({ "type": "object", "properties": {} });
    let tool = FunctionTool::new("local/gate".parse().unwrap(), "Waits.", schema).unwrap();
    let tool = tool.facts(DescriptorBuilder::composite).body(move |_, _| {
        let waits = Arc::clone(&waits);
        async move {
            waits.acquire().await.unwrap().forget();
            Ok(Output::text("through"))
        }
    });
    (tool.unwrap(), open)
}

#[tokio::test]
async fn arguments_outside_the_contract_are_a_result_that_a_model_can_repair() {
    let house = House::of([repeat()]);
    for era in Era::BOTH {
        let mut client = house.client(era).await;
        let result = client.call("repeat", json!({ "times": 12, "txet": "a" })).await;
        allow_duplicates! {
            assert_snapshot!(error_text(&result), @r#"
        failed (invalid_arguments): /txet: unknown key; did you mean "text"? known keys: "text", "times"
        /text: missing, expected a string
        /times: found 12, expected an integer from 1 to 9
        "#);
        }
        let result = client.call("repeat", json!({})).await;
        allow_duplicates! {
            assert_snapshot!(error_text(&result), @"
        failed (invalid_arguments): /text: missing, expected a string
        /times: missing, expected an integer from 1 to 9
        ");
        }
    }
}

#[tokio::test]
async fn what_can_be_read_in_one_way_only_is_repaired_and_said() {
    let house = House::of([repeat()]);
    let mut client = house.client(Era::Stateless).await;
    let result = client.call("repeat", json!({ "text": "a", "times": "3" })).await;
    assert_snapshot!(text(&result), @r#"
    {"text":"a","times":3}
    [notice: /times: read a text as a number]
    "#);
}

#[tokio::test]
async fn arguments_may_be_missing_or_null() {
    let house = House::of([echo()]);
    for era in Era::BOTH {
        let mut client = house.client(era).await;
        for params in [json!({ "name": "echo" }), json!({ "name": "echo", "arguments": null })] {
            let result = client.request("tools/call", params).await;
            assert_eq!(text(&result), "{}");
        }
    }
}

#[tokio::test]
async fn arguments_that_are_no_object_are_the_models_to_put_right() {
    let house = House::of([repeat()]);
    for era in Era::BOTH {
        let mut client = house.client(era).await;
        let result = client.call("repeat", json!(r#"{"text":"a","times":1}"#)).await;
        assert_eq!(result["isError"], json!(false), "{result}");
        assert_eq!(result.get("resultType").is_some(), era == Era::Stateless, "{result}");
        let result = client.call("repeat", json!(["a", 1])).await;
        allow_duplicates! {
            assert_snapshot!(error_text(&result), @"failed (invalid_arguments): the arguments are an array of 2 items, expected an object; send one JSON object");
        }
        let result = client.call("repeat", json!("three times a")).await;
        allow_duplicates! {
            assert_snapshot!(error_text(&result), @r#"failed (invalid_arguments): the arguments are not JSON: there is no object in it (line 1, column 1, near `three times a`); send one JSON object; inside texts write `\"`, `\\` and `\n`"#);
        }
    }
}

#[tokio::test]
async fn a_request_that_is_no_call_is_an_error_of_the_protocol() {
    let house = House::of([echo()]);
    for era in Era::BOTH {
        let mut client = house.client(era).await;
        for params in [json!({}), json!({ "name": 5 }), json!({ "name": null, "arguments": {} })] {
            let error = client.refused("tools/call", params).await;
            assert_eq!(error["code"], -32602);
        }
        client.settle().await;
    }
    assert_eq!(house.words(), [""; 0]);
}

#[tokio::test]
async fn a_tool_that_there_is_not_is_an_error_of_the_protocol_that_names_the_nearest() {
    let house = House::of([echo(), repeat()]);
    for era in Era::BOTH {
        let mut client = house.client(era).await;
        let error = client.refused("tools/call", json!({ "name": "ehco", "arguments": {} })).await;
        assert_eq!(error["code"], -32602);
        allow_duplicates! {
            assert_snapshot!(error["message"].as_str().unwrap(), @"
        failed (not_found): there is no tool `ehco`
        hint: nearest: echo
        ");
        }
        let name = "\u{1b}[31m".repeat(5_000);
        let error = client.refused("tools/call", json!({ "name": name, "arguments": {} })).await;
        let text = error["message"].as_str().unwrap();
        assert!(text.len() < 1_000 && !text.contains('\u{1b}'), "{text}");
    }
    assert_eq!(house.outcomes().len(), 4, "what was asked for is on record all the same");
}

#[tokio::test]
async fn a_tool_goes_by_its_qualified_name_too() {
    let house = House::of([echo()]);
    let result = house.client(Era::Stateless).await.call("local/echo", json!({})).await;
    assert_eq!(text(&result), "{}");
}

#[tokio::test]
async fn the_record_names_the_client_and_the_entrance() {
    let house = House::of([echo()]);
    for era in Era::BOTH {
        house.named(era, "claude-code").await.call("echo", json!({})).await;
    }
    for intent in house.intents() {
        let caller = (intent.caller.entrance, &*intent.caller.principal);
        assert_eq!(caller, (Entrance::Mcp, "claude-code 1.0"));
    }
}

#[tokio::test]
async fn a_name_is_recorded_as_one_short_line_that_shows_itself() {
    let house = House::of([echo()]);
    let name = format!("evil\n\u{1b}[2J\u{202e}{}", "ü".repeat(10_000));
    for era in Era::BOTH {
        house.named(era, &name).await.call("echo", json!({})).await;
    }
    house.named(Era::Stateless, " ").await.call("echo", json!({})).await;
    let names: Vec<_> =
        house.intents().into_iter().map(|it| it.caller.principal.to_string()).collect();
    assert!(names.iter().all(|it| it.len() <= 120 && !it.contains(char::is_control)), "{names:?}");
    assert_snapshot!(names[0].trim_end_matches('ü'), @r#"evil\n\x1b[2J\u{202e}"#);
    assert_eq!(names[0], names[1]);
    assert_eq!(names[2], "1.0");
}

#[tokio::test]
async fn calls_of_one_client_run_side_by_side_up_to_a_limit() {
    let (tool, open) = gate();
    let house = House::of([tool, echo()]);
    let mut client = house.client(Era::Stateless).await;
    let call = json!({ "name": "gate", "arguments": {} });
    let mut ids = Vec::new();
    for _ in 0..limits::MCP_CALLS_AT_ONCE {
        ids.push(client.send("tools/call", call.clone()).await);
    }
    client.settle().await;
    let refused = client.call("echo", json!({})).await;
    assert_snapshot!(error_text(&refused), @"256 calls of this client are under way, and no more are taken: wait for some of them to end");
    let other = house.client(Era::Stateless).await.call("echo", json!({})).await;
    assert_eq!(text(&other), "{}");
    open.add_permits(ids.len());
    for id in ids {
        assert_eq!(text(&client.result(id).await), "through");
    }
    assert_eq!(text(&client.call("echo", json!({})).await), "{}");
}

#[tokio::test]
async fn a_call_that_waits_holds_up_nothing_else() {
    let (tool, open) = gate();
    let house = House::of([tool, echo()]);
    for era in Era::BOTH {
        let mut client = house.client(era).await;
        let id = client.send("tools/call", json!({ "name": "gate", "arguments": {} })).await;
        client.settle().await;
        assert_eq!(text(&client.call("echo", json!({})).await), "{}");
        open.add_permits(1);
        assert_eq!(text(&client.result(id).await), "through");
    }
}

/// Shows a line of a file.
fn look() -> Arc<dyn Tool> {
    pure_tool("local/look", |_| {
        let (path, lines) = (LogicalPath::new("notes.txt"), vec![LineHash::of("one")]);
        let seen = vec![Seen::Lines { path, from_row: 0, lines }];
        Ok(Output { seen, ..Output::text("one") })
    })
}

/// Does its work for those who have seen that line.
fn change() -> Arc<dyn Tool> {
    let schema = json!({ "type": "object", "properties": {} });
    let tool = FunctionTool::new("local/change".parse().unwrap(), "Changes it.", schema).unwrap();
    let body = |call: haft_tool::Call, _| async move {
        let (path, line) = (LogicalPath::new("notes.txt"), [LineHash::of("one")]);
        match call.ledger().map(|ledger| ledger.with(|it| it.covers(&path, &line))) {
            Some(true) => Ok(Output::text("changed")),
            Some(false) => Err(Failure::new(ErrorKind::Conflict, "look first")),
            None => Err(Failure::new(ErrorKind::Internal, "nobody remembers")),
        }
    };
    tool.body(body).unwrap()
}

#[tokio::test]
async fn what_a_client_has_seen_is_remembered_for_its_connection_alone() {
    let house = House::of([look(), change()]);
    for era in Era::BOTH {
        let (mut one, mut other) = (house.client(era).await, house.client(era).await);
        let changes = async |client: &mut McpClient| client.call("change", json!({})).await;
        assert_eq!(changes(&mut one).await["isError"], true);
        one.call("look", json!({})).await;
        assert_eq!(text(&changes(&mut one).await), "changed");
        assert_eq!(changes(&mut other).await["isError"], true);
        assert_eq!(changes(&mut house.client(era).await).await["isError"], true);
    }
}
