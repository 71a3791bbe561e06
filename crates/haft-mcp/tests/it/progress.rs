//! How far a call is.

use std::sync::Arc;
use std::time::Duration;

use haft_protocol::Progress;
use haft_testkit::{Era, McpClient, echo};
use haft_tool::{Call, Cancellation, FunctionTool, Output, Tool};
use insta::{allow_duplicates, assert_snapshot};
use serde_json::{Value, json};

use crate::rig::House;

/// A tool that says what a test tells it to, with pauses of so many milliseconds before each.
fn reports(said: &'static [(u64, u64)]) -> Arc<dyn Tool> {
    let schema = json!({ "type": "object", "properties": {} });
    FunctionTool::new("local/work".parse().unwrap(), "Works.", schema)
        .unwrap()
        .body(move |call: Call, _| async move {
            for (pause, done) in said {
                tokio::time::sleep(Duration::from_millis(*pause)).await;
                let unit = "files\u{1b}[2J".to_owned();
                call.progress(Progress { done: *done, total: Some(100), unit });
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
            Ok(Output::text("worked"))
        })
        .unwrap()
}

fn with_token(token: Value) -> Value {
    json!({ "name": "work", "arguments": {}, "_meta": { "progressToken": token } })
}

/// Makes the call and returns what was said until the result, and nothing after it.
async fn said(client: &mut McpClient, token: Value) -> Vec<Value> {
    let id = client.send("tools/call", with_token(token)).await;
    client.result(id).await;
    let said = client.unread();
    tokio::time::sleep(Duration::from_mins(1)).await;
    client.settle().await;
    assert_eq!(client.unread(), Vec::<Value>::new(), "something came after the result");
    said
}

fn shown(said: &[Value]) -> String {
    let line = |it: &Value| {
        let params = &it["params"];
        let of = params.get("total").map(|total| format!(" of {total}")).unwrap_or_default();
        format!("{}{of} ({})", params["progress"], params["message"].as_str().unwrap())
    };
    said.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[tokio::test(start_paused = true)]
async fn a_client_that_asks_hears_how_far_a_call_is() {
    let house = House::of([reports(&[(10, 1), (10, 20), (10, 100)])]);
    for era in Era::BOTH {
        for token in [json!("a token"), json!(7)] {
            let said = said(&mut house.client(era).await, token.clone()).await;
            assert!(said.iter().all(|it| it["method"] == "notifications/progress"));
            assert!(said.iter().all(|it| it["params"]["progressToken"] == token), "{said:?}");
            allow_duplicates! {
                assert_snapshot!(shown(&said), @r#"
            1.0 of 100.0 (1 of 100 files\x1b[2J)
            20.0 of 100.0 (20 of 100 files\x1b[2J)
            100.0 of 100.0 (100 of 100 files\x1b[2J)
            "#);
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn numbers_only_grow() {
    let house = House::of([reports(&[(10, 5), (10, 5), (10, 3), (10, 9), (10, 0), (10, 10)])]);
    let said = said(&mut house.client(Era::Stateless).await, json!(1)).await;
    assert_snapshot!(shown(&said), @r#"
    5.0 of 100.0 (5 of 100 files\x1b[2J)
    9.0 of 100.0 (9 of 100 files\x1b[2J)
    10.0 of 100.0 (10 of 100 files\x1b[2J)
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_ask_hears_nothing() {
    let house = House::of([reports(&[(10, 1), (30_000, 2)])]);
    for era in Era::BOTH {
        let mut client = house.client(era).await;
        client.call("work", json!({})).await;
        assert_eq!(client.unread(), Vec::<Value>::new());
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_says_nothing_is_said_to_be_under_way_every_five_seconds() {
    let house = House::of([reports(&[]), reports_nothing_for(Duration::from_secs(17))]);
    let mut client = house.client(Era::Handshake).await;
    let params = json!({ "name": "long", "arguments": {}, "_meta": { "progressToken": 1 } });
    let id = client.send("tools/call", params).await;
    client.result(id).await;
    let said = client.unread();
    let seconds: Vec<f64> =
        said.iter().map(|it| it["params"]["progress"].as_f64().unwrap()).collect();
    assert_eq!(seconds.iter().map(|it| it.round()).collect::<Vec<_>>(), [5.0, 10.0, 15.0]);
    let words: Vec<_> = said.iter().map(|it| it["params"]["message"].as_str().unwrap()).collect();
    assert_eq!(words, ["under way for 5 s", "under way for 10 s", "under way for 15 s"]);
    assert!(said.iter().all(|it| it["params"].get("total").is_none()));
}

fn reports_nothing_for(time: Duration) -> Arc<dyn Tool> {
    let schema = json!({ "type": "object", "properties": {} });
    let tool = FunctionTool::new("local/long".parse().unwrap(), "Takes long.", schema).unwrap();
    let body = move |_: Call, _| async move {
        tokio::time::sleep(time).await;
        Ok(Output::text("at last"))
    };
    tool.body(body).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_call_that_falls_silent_goes_on_to_be_heard_of() {
    let house = House::of([reports(&[(10, 1), (12_000, 2)])]);
    let said = said(&mut house.client(Era::Stateless).await, json!(1)).await;
    assert!(said.len() >= 3, "a client that waits ten seconds gives up: {}", shown(&said));
    let numbers: Vec<f64> =
        said.iter().map(|it| it["params"]["progress"].as_f64().unwrap()).collect();
    assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
}

#[tokio::test(start_paused = true)]
async fn a_body_that_goes_on_after_its_call_says_nothing_more() {
    let release = Cancellation::new();
    let waits = release.clone();
    let schema = json!({ "type": "object", "properties": {} });
    let tool = FunctionTool::new("local/work".parse().unwrap(), "Works.", schema).unwrap();
    let tool = tool.facts(|facts| facts.run_ms(100)).body(move |call: Call, _| {
        let waits = waits.clone();
        async move {
            waits.cancelled().await;
            call.progress(Progress { done: 1, total: None, unit: "files".to_owned() });
            Ok(Output::text("too late"))
        }
    });
    let house = House::of([tool.unwrap(), echo()]);
    let mut client = house.client(Era::Stateless).await;
    let id = client.send("tools/call", with_token(json!(1))).await;
    assert_eq!(client.result(id).await["isError"], true);
    release.cancel();
    tokio::time::sleep(Duration::from_secs(30)).await;
    client.settle().await;
    assert_eq!(client.unread(), Vec::<Value>::new());
}
