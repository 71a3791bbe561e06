//! MCP servers over real workspaces and real records, and what outlives them.

use std::fs;
use std::path::{Path, PathBuf};

use haft::mcp::AskTheClient;
use haft::policy::{Policy, Preset, Rule};
use haft::store::{Redaction, Retention, StoreConfig};
use haft::{Cancellation, Haft, State};
use haft_testkit::{Era, McpClient};
use serde_json::{Value, json};

/// A folder with a state directory and workspaces.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for ws in ["one", "other"] {
            fs::create_dir(folder.path().join(ws)).unwrap();
            fs::write(folder.path().join(ws).join("notes.txt"), "alpha\nbeta\n").unwrap();
        }
        Self(folder)
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn notes(&self, ws: &str) -> String {
        fs::read_to_string(self.path(ws).join("notes.txt")).unwrap()
    }

    fn is_written(&self, ws: &str) -> bool {
        self.path(ws).join("new.txt").exists()
    }

    /// Opens a workspace as a process does that starts now.
    fn open(&self, ws: &str, rules: Vec<Rule>) -> Haft {
        let state = StoreConfig {
            dir: self.path("state"),
            retention: Retention::default(),
            redaction: Redaction::new([]).unwrap(),
        };
        let policy = Policy::new(Preset::Full, rules, false).unwrap();
        let builder = Haft::builder().root(self.path(ws)).state(State::Directory(state));
        builder.policy(policy).approver(std::sync::Arc::new(AskTheClient)).open().unwrap()
    }

    /// Opens a workspace that asks before files are changed.
    fn asking(&self, ws: &str) -> Haft {
        self.open(ws, vec![Rule::ask().tool("builtin/editor".parse().unwrap())])
    }
}

async fn client(haft: &Haft, era: Era) -> McpClient {
    let server = haft.mcp().unwrap().build().unwrap();
    let (stream, served) = tokio::io::duplex(1024 * 1024);
    let (input, output) = tokio::io::split(served);
    tokio::spawn(async move { server.serve(input, output, &Cancellation::new()).await });
    McpClient::open(stream, era, "tester", json!({ "elicitation": {} })).await
}

fn edit() -> Value {
    json!({ "action": "edit", "path": "notes.txt", "old": "beta", "new": "BETA" })
}

fn write() -> Value {
    json!({ "action": "write", "path": "new.txt", "content": "new\n" })
}

fn answered(asked: &Value) -> Value {
    json!({
        "name": "editor",
        "arguments": write(),
        "requestState": asked["requestState"],
        "inputResponses": { "approval": { "action": "accept", "content": { "allow": true } } },
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_outlives_the_process_that_asked_it() {
    let place = Place::new();
    let asked = {
        let haft = place.asking("one");
        let mut client = client(&haft, Era::Stateless).await;
        let asked = client.call("editor", write()).await;
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        assert_eq!(haft.store().unwrap().open_tickets().unwrap().len(), 1);
        asked
    };
    let haft = place.asking("one");
    let mut client = client(&haft, Era::Stateless).await;
    let result = client.request("tools/call", answered(&asked)).await;
    assert_eq!(result["isError"], false, "{result}");
    assert!(place.is_written("one"));
    assert_eq!(haft.store().unwrap().open_tickets().unwrap().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_counts_once_in_all_processes() {
    let place = Place::new();
    let (one, other) = (place.asking("one"), place.asking("one"));
    let mut asks = client(&one, Era::Stateless).await;
    let asked = asks.call("editor", write()).await;
    let result = client(&other, Era::Stateless).await.request("tools/call", answered(&asked)).await;
    assert_eq!(result["isError"], false, "{result}");
    fs::remove_file(place.path("one/new.txt")).unwrap();
    let again = asks.request("tools/call", answered(&asked)).await;
    assert_eq!(again["isError"], true, "{again}");
    let text = again["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("was answered already (approved by the user of tester 1.0)"), "{text}");
    assert!(!place.is_written("one"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_for_one_workspace_is_none_for_another() {
    let place = Place::new();
    let (one, other) = (place.asking("one"), place.asking("other"));
    let asked = client(&one, Era::Stateless).await.call("editor", write()).await;
    let mut stranger = client(&other, Era::Stateless).await;
    let error = stranger.refused("tools/call", answered(&asked)).await;
    assert_eq!(error["code"], -32602);
    assert!(!place.is_written("other"));
    let result = client(&one, Era::Stateless).await.request("tools/call", answered(&asked)).await;
    assert_eq!((&result["isError"], place.is_written("one")), (&json!(false), true));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_connection_has_read_another_has_not() {
    let place = Place::new();
    let haft = place.open("one", Vec::new());
    let read = json!({ "action": "read", "path": "notes.txt" });
    for era in Era::BOTH {
        fs::write(place.path("one/notes.txt"), "alpha\nbeta\n").unwrap();
        let (mut one, mut other) = (client(&haft, era).await, client(&haft, era).await);
        assert_eq!(one.call("reader", read.clone()).await["isError"], false);
        let refused = other.call("editor", edit()).await;
        assert_eq!(refused["isError"], true, "{refused}");
        assert_eq!(place.notes("one"), "alpha\nbeta\n");
        let changed = one.call("editor", edit()).await;
        assert_eq!(changed["isError"], false, "{changed}");
        assert_eq!(place.notes("one"), "alpha\nBETA\n");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn resources_are_those_of_the_workspace() {
    let place = Place::new();
    let talk = haft::FunctionTool::new(
        "local/talk".parse().unwrap(),
        "Talks.",
        json!({ "type": "object", "properties": {} }),
    );
    let talk =
        talk.unwrap().body(|_, _| async { Ok(haft::Output::text("a line\n".repeat(40_000))) });
    let one = place.open("one", Vec::new());
    one.registry().register_tool(talk.unwrap(), haft::OnConflict::Reject).unwrap();
    let other = place.open("other", Vec::new());
    let mut client_of_one = client(&one, Era::Stateless).await;
    let result = client_of_one.call("talk", json!({})).await;
    let content = result["content"].as_array().unwrap();
    let link = content.iter().find(|it| it["type"] == "resource_link").unwrap();
    let params = json!({ "uri": link["uri"] });
    let read = client_of_one.request("resources/read", params.clone()).await;
    assert_eq!(read["contents"][0]["text"].as_str().unwrap().len(), 7 * 40_000);
    // Another process that serves the workspace has it too, and one that serves another has not.
    let again = place.open("one", Vec::new());
    client(&again, Era::Stateless).await.request("resources/read", params.clone()).await;
    let error =
        client(&other, Era::Stateless).await.refused("resources/read", params.clone()).await;
    let text = error["message"].as_str().unwrap();
    assert!(
        text.starts_with("there is no artifact `") && text.ends_with("` of this workspace"),
        "{text}"
    );

    remove_files(&place.path("state/objects"));
    let error = client_of_one.refused("resources/read", params).await;
    let text = error["message"].as_str().unwrap().replace(link["uri"].as_str().unwrap(), "…");
    assert!(!text.contains("/state"), "{text}");
}

fn remove_files(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { remove_files(&path) } else { fs::remove_file(path).unwrap() }
    }
}
