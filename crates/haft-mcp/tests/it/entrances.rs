//! The server is no way around a gate.

use std::sync::Arc;

use haft_mcp::McpServer;
use haft_protocol::Outcome;
use haft_testkit::doors::Kept;
use haft_testkit::kit::{Door, no_side_door};
use haft_testkit::{Era, McpClient, Rig};
use haft_tool::{BoxFuture, BuildContext, Cancellation};
use serde_json::{Value, json};

/// Serves the rig to a client, which makes the call, and returns the outcome on record: the same that the client saw.
async fn call(rig: Arc<Rig>, era: Era, tool: &str, arguments: Value) -> Outcome {
    let registry = Arc::new(rig.registry.clone_for(BuildContext::default()).unwrap());
    let server = McpServer::builder(rig.dispatch.clone(), registry, rig.context.clone());
    let server = server.build().unwrap();
    let (client, served) = tokio::io::duplex(64 * 1024);
    let (input, output) = tokio::io::split(served);
    tokio::spawn(async move { server.serve(input, output, &Cancellation::new()).await });
    let mut client = McpClient::open(client, era, "tester", json!({})).await;
    let result = client.call(tool, arguments).await;
    let entries = rig.journal.entries().into_iter();
    let mut outcomes = entries.filter_map(|entry| match entry {
        Kept::Outcome(record) => Some(record.outcome),
        _ => None,
    });
    let outcome = outcomes.next().expect("the call is on record");
    assert_eq!((outcomes.next(), result["isError"] == true), (None, !outcome.is_ok()));
    assert_eq!(result["content"][0]["text"], outcome.model_text());
    outcome
}

fn boxed<F: Future<Output = Outcome> + Send + 'static>(call: F) -> BoxFuture<'static, Outcome> {
    Box::pin(call)
}

#[tokio::test]
async fn a_server_with_a_handshake_is_no_side_door() {
    let knock = |rig, tool, arguments| boxed(call(rig, Era::Handshake, tool, arguments));
    no_side_door(&Door { name: "MCP with a handshake", knock }).await;
}

#[tokio::test]
async fn a_stateless_server_is_no_side_door() {
    let knock = |rig, tool, arguments| boxed(call(rig, Era::Stateless, tool, arguments));
    no_side_door(&Door { name: "stateless MCP", knock }).await;
}
