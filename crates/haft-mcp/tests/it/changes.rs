//! Tools that come while clients are there.

use haft_testkit::{Era, McpClient, echo, pure_tool};
use haft_tool::{OnConflict, Output};
use serde_json::{Value, json};

use crate::rig::{House, text};

const CHANGED: &str = "notifications/tools/list_changed";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

fn newcomer(name: &str) -> std::sync::Arc<dyn haft_tool::Tool> {
    pure_tool(name, |_| Ok(Output::text("here")))
}

async fn names(client: &mut McpClient) -> Vec<String> {
    let list = client.request("tools/list", json!({})).await;
    let names = list["tools"].as_array().unwrap().iter();
    names.map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_client_with_a_handshake_is_told() {
    let house = House::of([echo()]);
    let mut client = house.client(Era::Handshake).await;
    client.settle().await;
    house.registry.register_tool(newcomer("local/new"), OnConflict::Reject).unwrap();
    client.told(CHANGED).await;
    assert_eq!(names(&mut client).await, ["echo", "new"]);
    assert_eq!(text(&client.call("new", json!({})).await), "here");
    house.registry.register_tool(newcomer("local/newer"), OnConflict::Reject).unwrap();
    client.told(CHANGED).await;
}

#[tokio::test]
async fn a_stateless_client_is_told_where_it_listens() {
    let house = House::of([echo()]);
    let mut client = house.client(Era::Stateless).await;
    let filter =
        json!({ "notifications": { "toolsListChanged": true, "promptsListChanged": true } });
    let id = client.send("subscriptions/listen", filter).await;
    let begun = client.told("notifications/subscriptions/acknowledged").await;
    assert_eq!(begun["params"]["_meta"][SUBSCRIPTION], id);
    assert_eq!(begun["params"]["notifications"], json!({ "toolsListChanged": true }));
    house.registry.register_tool(newcomer("local/new"), OnConflict::Reject).unwrap();
    let told = client.told(CHANGED).await;
    assert_eq!(told["params"]["_meta"][SUBSCRIPTION], id);
    assert_eq!(names(&mut client).await, ["echo", "new"]);

    client.notify("notifications/cancelled", json!({ "requestId": id })).await;
    client.settle().await;
    house.registry.register_tool(newcomer("local/newer"), OnConflict::Reject).unwrap();
    client.settle().await;
    client.settle().await;
    assert!(client.unread().iter().all(|it| it["method"] != CHANGED));
}

#[tokio::test]
async fn a_stateless_client_that_does_not_listen_is_not_told() {
    let house = House::of([echo()]);
    let mut client = house.client(Era::Stateless).await;
    client.settle().await;
    house.registry.register_tool(newcomer("local/new"), OnConflict::Reject).unwrap();
    assert_eq!(names(&mut client).await, ["echo", "new"]);
    client.settle().await;
    assert_eq!(client.unread(), Vec::<Value>::new());
}

#[tokio::test]
async fn who_listens_to_nothing_hears_nothing() {
    let house = House::of([echo()]);
    let mut client = house.client(Era::Stateless).await;
    client.send("subscriptions/listen", json!({ "notifications": {} })).await;
    client.told("notifications/subscriptions/acknowledged").await;
    house.registry.register_tool(newcomer("local/new"), OnConflict::Reject).unwrap();
    client.settle().await;
    client.settle().await;
    assert!(client.unread().iter().all(|it| it["method"] != CHANGED));
}
