//! Sessions of clients that open one.

use haft_protocol::limits;
use haft_testkit::echo;
use serde_json::json;
use tokio::io::AsyncReadExt as _;

use super::site::{Site, remembering};
use crate::rig::{House, endless};

fn echoing() -> serde_json::Value {
    json!({ "name": "echo", "arguments": {} })
}

fn endlessly() -> serde_json::Value {
    json!({ "name": "endless", "arguments": {} })
}

#[tokio::test]
async fn a_session_has_its_own_ledger_and_ends_when_it_is_closed() {
    let house = House::of([echo(), remembering()]);
    let site = Site::of(&house).await;
    let session = site.session().await;
    let call = json!({ "name": "remembers", "arguments": {} });
    let answer = site.within(&session, "tools/call", call).send().await;
    assert_eq!(answer.text(), "true");
    assert_eq!(answer.message()["result"].get("resultType"), None);
    assert_eq!(&*house.intents()[0].caller.principal, "tester 1.0");
    let close = site.within(&session, "", json!({})).method("DELETE").body("");
    assert_eq!(close.status().await, 202);
    assert_eq!(site.within(&session, "tools/call", echoing()).status().await, 404);
}

#[tokio::test]
async fn closing_a_session_stops_its_calls_and_no_others() {
    let (tool, mut hears) = endless();
    let house = House::of([tool, echo()]);
    let site = Site::of(&house).await;
    let (one, other) = (site.session().await, site.session().await);
    let _one = site.within(&one, "tools/call", endlessly()).open().await;
    assert_eq!(hears.recv().await, Some("begun"));
    let _other = site.within(&other, "tools/call", endlessly()).open().await;
    assert_eq!(hears.recv().await, Some("begun"));
    // Neither keeps anybody from being answered.
    for session in [&one, &other] {
        assert_eq!(
            site.within(session, "ping", json!({})).send().await.message()["result"],
            json!({})
        );
        assert_eq!(site.within(session, "tools/call", echoing()).send().await.text(), "{}");
    }
    site.within(&one, "", json!({})).method("DELETE").body("").send().await;
    assert_eq!(hears.recv().await, Some("stopped"));
    assert_eq!(site.within(&other, "tools/call", echoing()).send().await.text(), "{}");
    assert!(hears.try_recv().is_err());
}

#[tokio::test]
async fn a_call_of_a_session_is_taken_back_by_a_word_and_not_by_hanging_up() {
    let (tool, mut hears) = endless();
    let house = House::of([tool, echo()]);
    let site = Site::of(&house).await;
    let session = site.session().await;
    let call = site.within(&session, "tools/call", endlessly());
    let stream = call.open().await;
    assert_eq!(hears.recv().await, Some("begun"));
    drop(stream);
    assert_eq!(site.within(&session, "tools/call", echoing()).send().await.text(), "{}");
    assert!(hears.try_recv().is_err(), "the stream may be taken up again");
    let params = json!({ "requestId": call.id });
    let word = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    assert_eq!(site.ask(&word).with("mcp-session-id", &session).status().await, 202);
    assert_eq!(hears.recv().await, Some("stopped"));
}

#[tokio::test]
async fn a_flood_of_sessions_closes_those_that_nobody_uses() {
    let (tool, mut hears) = endless();
    let house = House::of([tool, echo()]);
    let site = Site::of(&house).await;
    let busy = site.session().await;
    let _running = site.within(&busy, "tools/call", endlessly()).open().await;
    assert_eq!(hears.recv().await, Some("begun"));
    let first = site.session().await;
    let mut last = String::new();
    for _ in 0..limits::MCP_SESSIONS {
        last = site.session().await;
    }
    assert_eq!(site.within(&first, "tools/call", echoing()).status().await, 404);
    for session in [&busy, &last] {
        assert_eq!(site.within(session, "tools/call", echoing()).send().await.text(), "{}");
    }
}

#[tokio::test]
async fn no_session_is_opened_while_all_are_in_use() {
    let house = House::of([echo()]);
    let site = Site::of(&house).await;
    let mut listening = Vec::new();
    for _ in 0..limits::MCP_SESSIONS {
        let session = site.session().await;
        let listen = site.within(&session, "", json!({})).method("GET").body("");
        let mut stream = listen.open().await;
        stream.read_u8().await.unwrap();
        listening.push(stream);
    }
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {} });
    let answer = site.ask(&hello).send().await;
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("5")));
    insta::assert_snapshot!(answer.body, @"64 sessions are in use, and no more are opened");
    let call = site.stateless("tools/call", echoing());
    assert_eq!(call.send().await.text(), "{}", "whoever needs no session is served");
    site.stop.cancel();
    site.serving.await.unwrap();
    let mut rest = Vec::new();
    listening.remove(0).read_to_end(&mut rest).await.unwrap();
}
