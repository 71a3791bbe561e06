//! Requests that stand for themselves.

use haft_testkit::echo;
use serde_json::json;

use super::site::{Answer, Site, remembering};
use crate::rig::{House, counting, endless};

#[tokio::test]
async fn a_call_is_answered_recorded_and_not_remembered() {
    let house = House::of([echo(), remembering()]);
    let site = Site::of(&house).await;
    let call = json!({ "name": "echo", "arguments": { "a": 1 } });
    let answer = site.stateless("tools/call", call).send().await;
    assert_eq!((answer.status, answer.text().as_str()), (200, "{\"a\":1}"));
    assert_eq!(answer.message()["result"]["resultType"], "complete");
    assert_eq!(&*house.intents()[0].caller.principal, "tester 1.0");
    let call = json!({ "name": "remembers", "arguments": {} });
    assert_eq!(site.stateless("tools/call", call).send().await.text(), "false");
}

#[tokio::test]
async fn a_client_that_goes_takes_its_call_with_it() {
    let (tool, mut hears) = endless();
    let house = House::of([tool]);
    let site = Site::of(&house).await;
    let call = site.stateless("tools/call", json!({ "name": "endless", "arguments": {} }));
    let stream = call.open().await;
    assert_eq!(hears.recv().await, Some("begun"));
    drop(stream);
    assert_eq!(hears.recv().await, Some("stopped"));
}

#[tokio::test]
async fn an_open_question_is_for_whoever_has_the_token() {
    let (tool, ran) = counting();
    let house = House::asking([tool]);
    let (site, other) = (Site::of(&house).await, Site::of(&house).await);
    let call = json!({ "name": "count", "arguments": {} });
    let asked = site.stateless("tools/call", call.clone()).send().await.message();
    assert_eq!(asked["result"]["resultType"], "input_required");
    let mut answered = call;
    answered["requestState"] = asked["result"]["requestState"].clone();
    answered["inputResponses"] =
        json!({ "approval": { "action": "accept", "content": { "allow": true } } });
    let refused = other.stateless("tools/call", answered.clone()).send().await.message();
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert_eq!(site.stateless("tools/call", answered).send().await.text(), "ran 1");
    assert_eq!(ran.load(std::sync::atomic::Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_header_that_says_something_else_than_the_body_is_refused() {
    let site = Site::of(&House::of([echo()])).await;
    let call = site.stateless("tools/call", json!({ "name": "echo", "arguments": {} }));
    for (header, value) in [("mcp-name", "other"), ("mcp-method", "tools/list")] {
        let answer = call.clone().with(header, value).send().await;
        assert_eq!((answer.status, &answer.message()["error"]["code"]), (400, &json!(-32020)));
    }
}

#[tokio::test]
async fn a_server_that_is_stopped_stops_calls_and_answers_them() {
    let (tool, mut hears) = endless();
    let house = House::of([tool, echo()]);
    let site = Site::of(&house).await;
    let silent = tokio::net::TcpStream::connect(site.address).await.unwrap();
    let call = site.stateless("tools/call", json!({ "name": "endless", "arguments": {} }));
    let stream = call.open().await;
    assert_eq!(hears.recv().await, Some("begun"));
    site.stop.cancel();
    assert_eq!(hears.recv().await, Some("stopped"));
    let answer = Answer::read(stream).await;
    assert_eq!(answer.message()["result"]["isError"], true, "{answer:?}");
    site.serving.await.unwrap();
    assert!(tokio::net::TcpStream::connect(site.address).await.is_err());
    drop(silent);
}
