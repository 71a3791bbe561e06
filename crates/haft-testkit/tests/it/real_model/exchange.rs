//! Requests of each kind, and where exchanges are recorded.

use std::fs;
use std::path::Path;

use haft_testkit::{Answer, ModelServer};
use serde_json::{Value, json};

/// Whether recordings are written.
const VARIABLE: &str = "HAFT_CASSETTES";

/// What a recording is called, before what it shows.
const PREFIX: &str = "recorded-xllamacpp-0.2.11-smollm2";

/// The model that is asked for.
const MODEL: &str = "smollm2-135m-instruct";

/// Sends a request, or asks for a path without one, and writes down both sides where that is wanted.
pub(super) fn record(
    server: &ModelServer,
    name: &str,
    path: &str,
    request: Option<Value>,
) -> Answer {
    let answer = request.as_ref().map_or_else(|| server.get(path), |it| server.post(path, it));
    keep(name, path, request.as_ref(), &answer);
    answer
}

/// Writes down a request and its answer where that is wanted.
pub(super) fn keep(name: &str, path: &str, request: Option<&Value>, answer: &Answer) {
    if std::env::var_os(VARIABLE).is_some_and(|it| it == "update") {
        let folder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../haft-providers/tests/cassettes");
        fs::create_dir_all(&folder).unwrap();
        let form = if answer.body.starts_with('{') { "json" } else { "sse" };
        fs::write(folder.join(format!("{PREFIX}-{name}.{form}")), &answer.body).unwrap();
        let asked = json!({ "path": path, "request": request, "status": answer.status });
        let asked = serde_json::to_string_pretty(&asked).unwrap() + "\n";
        fs::write(folder.join(format!("{PREFIX}-{name}.request.json")), asked).unwrap();
    }
}

/// A prompt that any model has an answer to.
pub(super) fn plain() -> String {
    "Name three colours.".to_owned()
}

/// A prompt that wants the tool of [`call`].
pub(super) fn read() -> String {
    "Read notes/todo.txt".to_owned()
}

/// A request of Chat Completions.
pub(super) fn chat(prompt: &str, most_tokens: u32) -> Value {
    with(turn(prompt), &json!({ "max_tokens": most_tokens }))
}

/// A request of Messages, which look the same until there are tools.
pub(super) fn messages(prompt: &str, most_tokens: u32) -> Value {
    chat(prompt, most_tokens)
}

/// A request of Responses.
pub(super) fn responses(prompt: &str, most_tokens: u32) -> Value {
    json!({ "model": MODEL, "temperature": 0, "input": prompt, "max_output_tokens": most_tokens })
}

fn turn(prompt: &str) -> Value {
    let messages = json!([{ "role": "user", "content": prompt }]);
    json!({ "model": MODEL, "temperature": 0, "messages": messages })
}

/// What a request has to have for one tool to be called, in the words of the path that it goes to.
pub(super) fn call(path: &str) -> Value {
    let description = "Reads a file.";
    let contract = json!({
        "type": "object",
        "properties": { "path": { "type": "string", "enum": ["notes/todo.txt"] } },
        "required": ["path"],
        "additionalProperties": false,
    });
    let function =
        json!({ "name": "read_file", "description": description, "parameters": contract });
    match path {
        "/v1/responses" => {
            let tool = with(json!({ "type": "function" }), &function);
            json!({ "tools": [tool], "tool_choice": "required" })
        }
        "/v1/messages" => {
            let tool = json!({ "name": "read_file", "description": description, "input_schema": contract });
            json!({ "tools": [tool], "tool_choice": { "type": "any" } })
        }
        _ => {
            let tool = json!({ "type": "function", "function": function });
            json!({ "tools": [tool], "tool_choice": "required" })
        }
    }
}

/// Puts the fields of the second object into the first.
pub(super) fn with(mut request: Value, more: &Value) -> Value {
    for (key, value) in more.as_object().unwrap() {
        request[key] = value.clone();
    }
    request
}
