//! A run with a real model behind a real server, where the parts for one are there.
//!
//! The model is too small to choose arguments, so what it reads is fixed by an alias, and that it reads is demanded.

use haft_testkit::ModelServer;
use serde_json::json;

use crate::rig::{Overheard, Rig};

#[test]
fn it_reads_a_file_through_a_call_that_was_demanded_and_answers_from_it() {
    let Some(server) = ModelServer::shared() else { return };
    let rig = Rig::new();
    rig.file("README.md", "# A project\n").file("src/main.rs", "fn main() {}\n");
    rig.file("notes/launch.txt", "The launch code is 7Q-ORANGE.\n");
    let overheard =
        Overheard::before(server.url("").trim_start_matches("http://").parse().unwrap());
    rig.config(&format!(
        r#"
[models.box]
provider = "llamacpp"
base_url = "http://{}/v1"
temperature = 0
output_tokens = 256

[aliases.read_notes]
tool = "reader"
arguments = {{ action = "read", path = "notes/launch.txt", offset = 1, limit = 100, column = 0 }}
description = "Reads the notes."
"#,
        overheard.address()
    ));
    let model = format!("box/{}", server.weights().name());
    let args = ["run", "--model", &model, "--tools", "read_notes", "--call-first", "read_notes"];
    let ran = rig.haft(&[&args[..], &["--max-turns", "4", "What is the launch code?"]].concat());
    assert_eq!(ran.exit, 0, "{}", ran.all());

    // The call went the one way that calls go.
    let log = rig.json(&["log"]);
    let call = &log["data"][0];
    assert_eq!(
        (&call["tool"], &call["entrance"], &call["status"]),
        (&json!("local/read_notes"), &json!("model"), &json!("ok")),
        "{log}"
    );

    // The first request demanded it, the second had what it came to, and the answer is made of that.
    let asked = overheard.asked();
    assert_eq!(asked[0]["tool_choice"], "required");
    assert!(!asked[0].to_string().contains("7Q-ORANGE"));
    let result = asked[1]["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(result["role"], "tool", "{result}");
    assert!(result["content"].as_str().unwrap().contains("The launch code is 7Q-ORANGE."));
    assert!(asked[1]["tool_choice"].is_null(), "{}", asked[1]);
    assert!(ran.stdout.contains("7Q-ORANGE"), "{}", ran.all());

    let run = &rig.json(&["runs"])["data"][0];
    assert_eq!((&run["state"], &run["cause"]), (&json!("stopped"), &json!("done")), "{run}");
}
