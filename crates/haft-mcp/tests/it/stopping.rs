//! Calls that are taken back, and clients that go.

use std::time::Duration;

use haft_mcp::End;
use haft_protocol::Status;
use haft_testkit::{Era, McpClient, echo};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::rig::{House, endless, text};

/// Waits for the tool to say something.
async fn hear(hears: &mut mpsc::UnboundedReceiver<&'static str>) -> &'static str {
    let heard = tokio::time::timeout(Duration::from_secs(30), hears.recv()).await;
    heard.expect("the tool says something").unwrap()
}

async fn begin(client: &mut McpClient) -> u64 {
    client.send("tools/call", json!({ "name": "endless", "arguments": {} })).await
}

#[tokio::test]
async fn a_call_that_is_taken_back_stops_and_is_recorded_so() {
    for era in Era::BOTH {
        let (tool, mut hears) = endless();
        let house = House::of([tool, echo()]);
        let mut client = house.client(era).await;
        let id = begin(&mut client).await;
        assert_eq!(hear(&mut hears).await, "begun");
        let params = json!({ "requestId": id, "reason": "enough" });
        client.notify("notifications/cancelled", params).await;
        assert_eq!(hear(&mut hears).await, "stopped");
        assert_eq!(text(&client.call("echo", json!({})).await), "{}");
        let unread = client.unread();
        assert!(unread.iter().all(|it| it["id"] != id), "{era:?}: {unread:?}");
        assert_eq!(house.outcomes()[0].status, Status::Cancelled);
    }
}

#[tokio::test]
async fn taking_back_what_there_is_not_changes_nothing() {
    let (tool, mut hears) = endless();
    let house = House::of([tool, echo()]);
    for era in Era::BOTH {
        let mut client = house.client(era).await;
        begin(&mut client).await;
        assert_eq!(hear(&mut hears).await, "begun");
        for id in [json!(99), json!("1"), Value::Null, json!([])] {
            client.notify("notifications/cancelled", json!({ "requestId": id })).await;
        }
        client.notify("notifications/cancelled", json!({})).await;
        assert_eq!(text(&client.call("echo", json!({})).await), "{}");
        assert!(hears.try_recv().is_err(), "the call was stopped");
        drop(client);
        assert_eq!(hear(&mut hears).await, "stopped");
    }
}

#[tokio::test]
async fn a_client_cannot_take_back_the_calls_of_another() {
    let (tool, mut hears) = endless();
    let house = House::of([tool, echo()]);
    let mut one = house.client(Era::Stateless).await;
    let id = begin(&mut one).await;
    assert_eq!(hear(&mut hears).await, "begun");
    let mut other = house.client(Era::Stateless).await;
    other.settle().await;
    other.notify("notifications/cancelled", json!({ "requestId": id })).await;
    other.settle().await;
    assert!(hears.try_recv().is_err(), "the call was stopped");
}

#[tokio::test]
async fn calls_of_a_client_that_goes_are_asked_to_stop() {
    for era in Era::BOTH {
        let (tool, mut hears) = endless();
        let house = House::of([tool]);
        let (stream, serving) = house.serve();
        let mut client = McpClient::open(stream, era, "tester", json!({})).await;
        for _ in 0..3 {
            begin(&mut client).await;
            assert_eq!(hear(&mut hears).await, "begun");
        }
        drop(client);
        for _ in 0..3 {
            assert_eq!(hear(&mut hears).await, "stopped");
        }
        let end = tokio::time::timeout(Duration::from_secs(30), serving).await;
        assert_eq!(end.unwrap().unwrap().unwrap(), End::ClientLeft);
        assert!(house.outcomes().iter().all(|it| it.status == Status::Cancelled));
        assert_eq!(house.outcomes().len(), 3);
    }
}

#[tokio::test]
async fn a_client_that_goes_before_it_says_anything_has_left() {
    let house = House::of([echo()]);
    let (stream, serving) = house.serve();
    drop(stream);
    assert_eq!(serving.await.unwrap().unwrap(), End::ClientLeft);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_nothing_for_a_minute_has_left() {
    use tokio::io::AsyncWriteExt as _;

    let house = House::of([echo()]);
    let (mut stream, serving) = house.serve();
    let flood = tokio::spawn(async move {
        let mut sent = 0;
        for id in 0..200_000 {
            let ping = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n");
            if stream.write_all(ping.as_bytes()).await.is_err() {
                break;
            }
            sent = id;
        }
        sent
    });
    assert_eq!(serving.await.unwrap().unwrap(), End::ClientLeft);
    assert!(flood.await.unwrap() < 199_999, "all of it was taken");
}
