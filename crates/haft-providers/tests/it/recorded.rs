//! What a real llama.cpp said to requests of every kind, as the README of the cassettes tells.

use haft_model::{Dialect, Finished, ModelError, ModelErrorKind};

use crate::asked::{asking, played, told, user};
use crate::server::{Answer, read};

async fn asked(dialect: Dialect, name: &str) -> Result<Finished, ModelError> {
    let file = |end: &str| read(&format!("recorded-xllamacpp-0.2.11-smollm2-{name}{end}"));
    let request: serde_json::Value = serde_json::from_str(&file(".request.json")).unwrap();
    let is_stream = request["request"]["stream"] == true && request["status"] == 200;
    let (kind, body) = if is_stream {
        ("text/event-stream", file(".sse"))
    } else {
        ("application/json; charset=utf-8", file(".json"))
    };
    let answer = Answer::of(&format!("{} X", request["status"]), kind, &body);
    let mut asked = asking(vec![user("x")]);
    let cap = ["max_tokens", "max_output_tokens"].map(|field| request["request"][field].as_u64());
    let cap = cap.into_iter().flatten().next().unwrap();
    asked.sampling.output_tokens = std::num::NonZeroU32::new(u32::try_from(cap).unwrap());
    played(dialect, answer, asked).await.map(|(finished, _)| finished)
}

async fn tell(dialect: Dialect, names: &[&str]) -> String {
    let mut all = Vec::new();
    for name in names {
        let reply = match asked(dialect, name).await {
            Ok(finished) => told(&finished),
            Err(error) => {
                let (_, text) = error.text.split_once(" answers ").unwrap();
                format!(
                    "{}, began {}, window {:?}: {text}",
                    error.kind.as_str(),
                    error.began,
                    error.window_tokens
                )
            }
        };
        all.push(format!("== {name}\n{reply}"));
    }
    all.join("\n")
}

#[tokio::test]
async fn chat_completions_of_a_real_server_are_read() {
    let names = [
        "chat",
        "chat-whole",
        "chat-usage",
        "chat-call",
        "chat-call-whole",
        "chat-call-cut",
        "chat-call-cut-whole",
        "chat-result",
        "chat-schema",
        "chat-overflow",
    ];
    insta::assert_snapshot!(tell(Dialect::ChatCompletions, &names).await, @r#"
== chat
text "There are no three colours in the world."
end {} smollm2-135m-instruct
== chat-whole
text "There are no three colours in the world."
end {"input":24,"output":10} smollm2-135m-instruct
== chat-usage
text "There are no three"
length {"input":24,"output":4} smollm2-135m-instruct
== chat-call
call tGI8b7AhPM2iVaKpQ4zhBpZs203sw6PZ read_file {"path":"notes/todo.txt"}
calls {"input":158,"output":36} smollm2-135m-instruct
== chat-call-whole
call 5DwP9aYY82wGETQ9o0YQ1fIAaENh8Vt9 read_file {"path":"notes/todo.txt"}
calls {"input":158,"output":38} smollm2-135m-instruct
== chat-call-cut
server, began true, window None: 500: Invalid diff: now finding less tool calls!
== chat-call-cut-whole
text "```\n{\n  \"name\": \"read_file\",\n  \"arguments\": {\n    \"path\": \""
length {"input":158,"output":22} smollm2-135m-instruct
== chat-result
text "<tool_response>\n<tool_response_body"
length {} smollm2-135m-instruct
== chat-schema
text "{\n  \"answer\": \"no\",\n  \"certainty\": 0\n}"
end {} smollm2-135m-instruct
== chat-overflow
overflow, began false, window Some(256): 400: request (321 tokens) exceeds the available context size (256 tokens), try increasing it
"#);
}

#[tokio::test]
async fn responses_of_a_real_server_are_read() {
    let names = [
        "responses",
        "responses-call",
        "responses-cut",
        "responses-call-cut",
        "responses-overflow",
    ];
    insta::assert_snapshot!(tell(Dialect::Responses, &names).await, @r#"
== responses
text "There are no three colours in the world."
end {"input":24,"output":10} smollm2-135m-instruct
== responses-call
call fc_NoDSTLKhIat3AobutHmcElxU3qJkuhxz read_file {"path":"notes/todo.txt"}
calls {"input":158,"output":38} smollm2-135m-instruct
== responses-cut
text "There are no three"
length {"input":24,"output":4} smollm2-135m-instruct
== responses-call-cut
server, began true, window None: 500: Invalid diff: now finding less tool calls!
== responses-overflow
overflow, began false, window Some(256): 400: request (321 tokens) exceeds the available context size (256 tokens), try increasing it
"#);
}

#[tokio::test]
async fn messages_of_a_real_server_are_read() {
    let names =
        ["messages", "messages-call", "messages-cut", "messages-call-cut", "messages-overflow"];
    insta::assert_snapshot!(tell(Dialect::Messages, &names).await, @r#"
== messages
text "There are no three colours in the world."
end {"input":24,"output":10} smollm2-135m-instruct
== messages-call
call ES9dOzw4DwvFAoTnELENnqRlgRlnfeMU read_file {"path":"notes/todo.txt"}
calls {"input":158,"output":38} smollm2-135m-instruct
== messages-cut
text "There are no three"
length {"input":24,"output":4} smollm2-135m-instruct
== messages-call-cut
server, began true, window None: 500: Invalid diff: now finding less tool calls!
== messages-overflow
overflow, began false, window Some(256): 400: request (321 tokens) exceeds the available context size (256 tokens), try increasing it
"#);
}

#[tokio::test]
async fn o_096_a_real_overflow_is_known_with_its_window() {
    for (dialect, name) in [
        (Dialect::ChatCompletions, "chat-overflow"),
        (Dialect::Responses, "responses-overflow"),
        (Dialect::Messages, "messages-overflow"),
    ] {
        let error = asked(dialect, name).await.unwrap_err();
        assert_eq!((error.kind, error.window_tokens), (ModelErrorKind::Overflow, Some(256)));
    }
}
