//! The form of a reply, and schemas that are strict.

use std::sync::Arc;

use haft_model::{Dialect, Request, ResponseFormat};
use haft_protocol::{ReplyPart, WireName};
use haft_providers::Quirks;
use haft_schema::dialect::Dialect as Schemas;
use serde_json::{Value, json};

use crate::asked::{all, asking, body, chat, endpoint, messages, tools, user};
use crate::server::{Answer, Server};

/// Asks for names with numbers, which no strict dialect has a word for.
fn asking_for_a_form() -> Request {
    let schema = json!({
        "type": "object",
        "properties": {
            "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
            "note": {"type": "string", "maxLength": 20},
        },
        "required": ["counts"],
        "additionalProperties": false,
    });
    let name = WireName::new("answer").unwrap();
    let format = Some(ResponseFormat { name, schema: Arc::new(schema) });
    Request { format, tools: [].into(), ..asking(vec![user("x")]) }
}

fn told(dialect: Dialect, schemas: Schemas) -> Value {
    body(dialect, Quirks { schemas, ..Quirks::USUAL }, &asking_for_a_form())
}

#[test]
fn a_form_is_told_in_the_dialect_of_each_server_and_strictly_where_that_is_offered() {
    let chat = |schemas| told(Dialect::ChatCompletions, schemas)["response_format"].to_string();
    insta::assert_snapshot!(chat(Schemas::OpenAi), @r#"{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object","properties":{"counts":{"type":"array","items":{"type":"object","properties":{"key":{"type":"string"},"value":{"type":"integer"}},"required":["key","value"],"additionalProperties":false},"description":"each key once"},"note":{"type":["string","null"],"description":"at most 20 characters"}},"additionalProperties":false,"required":["counts","note"]},"strict":true}}"#);
    insta::assert_snapshot!(chat(Schemas::Common), @r#"{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object","properties":{"counts":{"type":"array","items":{"type":"object","properties":{"key":{"type":"string"},"value":{"type":"integer"}},"required":["key","value"],"additionalProperties":false},"description":"each key once"},"note":{"type":"string","description":"at most 20 characters"}},"additionalProperties":false,"required":["counts"]}}}"#);
    insta::assert_snapshot!(chat(Schemas::Loose), @r#"{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object","properties":{"counts":{"type":"object","additionalProperties":{"type":"integer"}},"note":{"type":"string","maxLength":20}},"required":["counts"],"additionalProperties":false}}}"#);
    let responses = told(Dialect::Responses, Schemas::OpenAi);
    let in_chat = told(Dialect::ChatCompletions, Schemas::OpenAi);
    assert_eq!(responses["text"]["format"]["strict"], true);
    assert_eq!(
        responses["text"]["format"]["schema"],
        in_chat["response_format"]["json_schema"]["schema"]
    );
    insta::assert_snapshot!(told(Dialect::Messages, Schemas::Anthropic)["output_config"], @r#"{"format":{"type":"json_schema","schema":{"type":"object","properties":{"counts":{"type":"array","items":{"type":"object","properties":{"key":{"type":"string"},"value":{"type":"integer"}},"required":["key","value"],"additionalProperties":false},"description":"each key once"},"note":{"type":"string","description":"at most 20 characters"}},"additionalProperties":false,"required":["counts"]}}}"#);
    let gemini = &told(Dialect::Gemini, Schemas::Gemini)["generationConfig"];
    assert_eq!(gemini["responseSchema"]["type"], "OBJECT");
    assert!(gemini.get("responseJsonSchema").is_none());
    let gemini = &told(Dialect::Gemini, Schemas::GeminiJson)["generationConfig"];
    assert_eq!(gemini["responseJsonSchema"]["type"], "object");
}

#[test]
fn what_a_server_cannot_be_told_of_a_form_is_reported() {
    let mut endpoint = endpoint(Dialect::Messages, 1);
    endpoint.quirks.schemas = Schemas::Anthropic;
    let losses = messages(endpoint).losses(&asking_for_a_form());
    let lines: Vec<_> = losses
        .iter()
        .map(|(name, it)| format!("{name} {} {} {:?}", it.pointer, it.what, it.kind))
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    answer /properties/counts additionalProperties Rewritten
    answer /properties/note maxLength Described
    "#);
}

#[tokio::test]
async fn a_reply_comes_back_in_the_form_that_was_asked_for() {
    let said = r#"{"counts":[{"key":"a","value":1}],"note":null}"#;
    let event = json!({"choices": [{"delta": {"content": said}, "finish_reason": "stop"}]});
    let server = Server::start(Answer::stream(&format!("data: {event}\n\ndata: [DONE]\n\n"))).await;
    let mut endpoint = endpoint(Dialect::ChatCompletions, server.port);
    endpoint.quirks.schemas = Schemas::OpenAi;
    let (finished, _) = all(&chat(endpoint), asking_for_a_form()).await.unwrap();
    let [ReplyPart::Text { text, .. }] = &finished.parts[..] else { panic!("{finished:?}") };
    assert_eq!(text, r#"{"counts":{"a":1}}"#);
}

#[test]
fn tools_are_strict_where_that_is_wanted_and_the_provider_has_room() {
    let wide: serde_json::Map<_, _> =
        (0..30).map(|at| (format!("p{at}"), json!({"type": "string"}))).collect();
    let mut shown = tools().to_vec();
    shown[0].schema = Arc::new(json!({"type": "object", "properties": wide}));
    let request = Request { tools: shown.into(), ..asking(vec![user("x")]) };
    let strict = |dialect, schemas| {
        let body = body(dialect, Quirks { schemas, ..Quirks::USUAL }, &request);
        let tools = body["tools"].as_array().unwrap().clone();
        let of = |tool: &Value| tool.get("function").unwrap_or(tool)["strict"] == true;
        tools.iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(strict(Dialect::Messages, Schemas::AnthropicStrict), [false, true]);
    assert_eq!(strict(Dialect::ChatCompletions, Schemas::OpenAiStrict), [true, true]);
    assert_eq!(strict(Dialect::Responses, Schemas::OpenAiStrict), [true, true]);
    assert_eq!(strict(Dialect::ChatCompletions, Schemas::OpenAi), [false, false]);
    assert_eq!(strict(Dialect::Messages, Schemas::Anthropic), [false, false]);
}
