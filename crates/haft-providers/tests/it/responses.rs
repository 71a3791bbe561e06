//! Requests and replies in Responses.

use std::sync::Arc;

use haft_model::{
    CallResult, ChatModel as _, Dialect, Effort, Fragment, ModelErrorKind, Request, RequestMessage,
    ResponseFormat, ToolChoice,
};
use haft_protocol::{ContentPart, ImageType, RawArguments, ReplyPart, WireName};
use haft_providers::{Endpoint, Forced, Quirks};
use haft_schema::dialect::Dialect as Schemas;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::asked::{
    self, asking, call, conversation, endpoint, played, reply, responses, results, shown, told,
    tools, user,
};
use crate::server::{Answer, Server};

async fn reply_of(answer: Answer) -> String {
    asked::reply_of(Dialect::Responses, answer).await
}

async fn error_of(answer: Answer) -> haft_model::ModelError {
    asked::error_of(Dialect::Responses, answer).await
}

fn body(quirks: Quirks, request: &Request) -> Value {
    asked::body(Dialect::Responses, quirks, request)
}

#[test]
fn a_conversation() {
    let request = Request { tools: [tools()[1].clone()].into(), ..conversation() };
    let body = body(Quirks::USUAL, &request);
    insta::assert_snapshot!(serde_json::to_string_pretty(&body).unwrap(), @r#"
{
  "model": "m-3",
  "store": false,
  "include": [
    "reasoning.encrypted_content"
  ],
  "tools": [
    {
      "type": "function",
      "name": "read",
      "description": "Reads a file.",
      "parameters": {
        "type": "object",
        "properties": {
          "path": {
            "type": "string"
          }
        },
        "additionalProperties": false,
        "required": [
          "path"
        ]
      },
      "strict": false
    }
  ],
  "instructions": "Be brief.",
  "input": [
    {
      "role": "user",
      "content": "What is in a and b?"
    },
    {
      "role": "assistant",
      "content": "Looking."
    },
    {
      "type": "function_call",
      "call_id": "c1",
      "name": "read",
      "arguments": "{\"path\": \"a\"}"
    },
    {
      "type": "function_call",
      "call_id": "c2",
      "name": "read",
      "arguments": "{\"path\":\"b\"}"
    },
    {
      "type": "function_call_output",
      "call_id": "c1",
      "output": "alpha"
    },
    {
      "type": "function_call_output",
      "call_id": "c2",
      "output": "error: there is no b"
    },
    {
      "role": "user",
      "content": "And c?"
    }
  ],
  "parallel_tool_calls": true,
  "max_output_tokens": 64,
  "stream": true
}
"#);
}

#[test]
fn what_a_model_said_goes_back_in_the_form_that_its_server_knows() {
    let long = body(Quirks { long_items: true, ..Quirks::USUAL }, &conversation());
    assert_eq!(
        long["input"][1].to_string(),
        r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Looking.","annotations":[]}]}"#
    );
    let short = body(Quirks::USUAL, &conversation());
    assert_eq!(short["input"][1].to_string(), r#"{"role":"assistant","content":"Looking."}"#);
}

#[test]
fn how_a_reply_is_made_stands_behind_the_items() {
    let mut request = asking(vec![user("x")]);
    request.sampling.temperature = Some(0.2);
    request.sampling.effort = Some(Effort::Low);
    request.format = Some(ResponseFormat {
        name: WireName::new("answer").unwrap(),
        schema: Arc::new(json!({
            "type": "object",
            "properties": {"a": {"type": "string"}},
            "additionalProperties": false,
            "required": ["a"],
        })),
    });
    let tail = |quirks| {
        let fields = body(quirks, &request).as_object().unwrap().clone();
        let fields = fields.into_iter().skip_while(|(name, _)| name != "input").skip(1);
        Value::Object(fields.collect()).to_string()
    };
    insta::assert_snapshot!(tail(Quirks::USUAL), @r#"{"parallel_tool_calls":true,"text":{"format":{"type":"json_schema","name":"answer","schema":{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false,"required":["a"]},"strict":false}},"max_output_tokens":64,"temperature":0.2,"reasoning":{"effort":"low"},"stream":true}"#);
    let bare = Quirks { parallel: false, effort: false, ..Quirks::USUAL };
    insta::assert_snapshot!(tail(bare), @r#"{"text":{"format":{"type":"json_schema","name":"answer","schema":{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false,"required":["a"]},"strict":false}},"max_output_tokens":64,"temperature":0.2,"stream":true}"#);
}

#[test]
fn a_call_is_demanded_in_the_words_of_each_server() {
    let name = WireName::new("read").unwrap();
    let choices =
        [ToolChoice::Auto, ToolChoice::None, ToolChoice::Required, ToolChoice::Named(name)];
    let said = |forced| {
        let said = choices.clone().map(|choice| {
            let request = Request { choice, ..asking(vec![user("x")]) };
            let body = body(Quirks { forced, ..Quirks::USUAL }, &request);
            let tools = body["tools"].as_array().unwrap().len();
            format!("{} of {tools}", body["tool_choice"])
        });
        said.join(", ")
    };
    insta::assert_snapshot!([Forced::Named, Forced::Alone, Forced::Never].map(said).join("\n"), @r#"
null of 2, "none" of 2, "required" of 2, {"type":"function","name":"read"} of 2
null of 2, "none" of 2, "required" of 2, "required" of 1
null of 2, "none" of 2, null of 2, null of 2
"#);
}

#[test]
fn a_schema_is_strict_only_where_it_was_made_so() {
    let strict = |schemas| {
        let body = body(Quirks { schemas, ..Quirks::USUAL }, &asking(vec![user("x")]));
        body["tools"][0]["strict"].clone()
    };
    assert_eq!(strict(Schemas::OpenAiStrict), true);
    assert_eq!(strict(Schemas::OpenAi), false);
}

#[test]
fn models_that_do_not_think_are_not_asked_for_sealed_reasoning() {
    for (name, is_asked) in [("gpt-5.4", true), ("gpt-4.1-mini", false), ("chatgpt-4o", false)] {
        let id = haft_protocol::ModelId::new("openai", name).unwrap();
        let known = haft_providers::Known::default();
        let endpoint = endpoint(Dialect::Responses, 1);
        let model = endpoint.model(id, known, asked::dialer()).unwrap();
        let body = String::from_utf8(model.body(&asking(vec![user("x")])).unwrap()).unwrap();
        assert_eq!(body.contains("include"), is_asked, "{name}");
        assert!(body.contains(r#""store":false"#));
    }
}

#[test]
fn o_092_each_request_begins_with_the_one_before() {
    let all = conversation().messages;
    let body_to = |count: usize| {
        let request = asking(all.iter().take(count).cloned().collect());
        let body = responses(endpoint(Dialect::Responses, 1)).body(&request).unwrap();
        String::from_utf8(body).unwrap()
    };
    let (earlier, later) = (body_to(1), body_to(3));
    assert_eq!(later, body_to(3));
    let end = earlier.find("],\"parallel_tool_calls\"").unwrap();
    assert!(later.starts_with(&earlier[..end]), "{earlier}");
}

#[test]
fn images_go_where_they_were_seen() {
    let image = ContentPart::Image { media_type: ImageType::Png, data: b"png"[..].into() };
    let result = CallResult {
        provider_id: "c1".into(),
        tool: "read".into(),
        text: "an image".into(),
        images: [image.clone()].into(),
        is_error: false,
    };
    let request = asking(vec![
        Fragment::new(RequestMessage::User([ContentPart::text("And this?"), image].into())),
        reply(vec![call("c1", "{}")]),
        Fragment::new(RequestMessage::Results([result].into())),
    ]);
    let body = body(Quirks::USUAL, &request);
    insta::assert_snapshot!(json!([body["input"][0], body["input"][2]]).to_string(), @r#"[{"role":"user","content":[{"type":"input_text","text":"And this?"},{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,cG5n"}]},{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"an image"},{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,cG5n"}]}]"#);
}

#[tokio::test]
async fn o_087_items_are_kept_byte_for_byte() {
    let answer = Answer::cassette("responses-reasoning.authored.sse");
    let (finished, parts) =
        played(Dialect::Responses, answer, asking(vec![user("x")])).await.unwrap();
    insta::assert_snapshot!(told(&finished), @r#"
reasoning "First “look” at it.\n\nThen at b." = {"id": "rs_1", "type": "reasoning", "encrypted_content": "gAAAAABqX1a78+/BDqk_J4uGoxtDucvs8h==", "summary": [{"type": "summary_text", "text": "First \u201clook\u201d at it."}, {"type": "summary_text", "text": "Then at b."}]}
text "Looking." = {"id": "msg_1", "type": "message", "status": "completed", "role": "assistant", "phase": "commentary", "content": [{"type": "output_text", "annotations": [], "logprobs": [], "text": "Looking."}]}
call call_1 read {"path": "a"} = {"id":"fc_1","status":"completed"}
call call_2 read {"path": "b"} = {"id":"fc_2","status":"completed"}
calls {"input":20,"cache_read":100,"cache_write":0,"output":60,"reasoning":20} m-3-2026-11-01
"#);
    insta::assert_snapshot!(shown(&parts).join("\n"), @r#"
reasoning: First “look” at it.

Then at b.
text: Looking.
call 0 read: 
call 1 read: 
arguments 0: {"path"
arguments 1: {"path": "b"}
arguments 0: : "a"}
"#);
}

#[test]
fn o_087_items_go_back_to_whom_they_came_from_and_to_nobody_else() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (server, finished) = runtime.block_on(async {
        let server = Server::start(Answer::cassette("responses-reasoning.authored.sse")).await;
        let model = responses(endpoint(Dialect::Responses, server.port));
        let finished =
            model.ask(Arc::new(asking(vec![user("x")]))).await.unwrap().finish().await.unwrap();
        (server, finished)
    });
    let results = || results(&[("call_1", "alpha"), ("call_2", "beta")]);
    let step = || vec![user("x"), reply(finished.parts.clone()), results()];
    let back =
        |to: Endpoint| String::from_utf8(responses(to).body(&asking(step())).unwrap()).unwrap();
    let same = back(endpoint(Dialect::Responses, server.port));
    for own in [
        r#"{"id": "rs_1", "type": "reasoning", "encrypted_content": "gAAAAABqX1a78+/BDqk_J4uGoxtDucvs8h==", "summary": ["#,
        r#""phase": "commentary""#,
        r#"{"type":"function_call","call_id":"call_1","name":"read","arguments":"{\"path\": \"a\"}","id":"fc_1","status":"completed"}"#,
    ] {
        assert!(same.contains(own), "{own} in {same}");
    }
    let elsewhere = back(endpoint(Dialect::Responses, 1));
    for foreign in ["encrypted_content\":", "rs_1", "fc_1", "phase"] {
        assert!(!elsewhere.contains(foreign), "{foreign} in {elsewhere}");
    }
    assert!(elsewhere.contains(r#"{"role":"assistant","content":"Looking."}"#), "{elsewhere}");
}

#[tokio::test]
async fn o_082_calls_of_a_reply_that_its_length_has_cut_are_not_whole() {
    insta::assert_snapshot!(reply_of(Answer::cassette("responses-incomplete.authored.sse")).await, @r#"
call call_1 read {"path":"a"} (not whole) = {"id":"fc_1","status":"completed"}
call call_2 read {"path":"b","content":"line1\nli (not whole) = {"id":"fc_2","status":"incomplete"}
length {"input":12,"cache_read":0,"cache_write":0,"output":64,"reasoning":0} m-3
"#);
}

#[tokio::test]
async fn o_088_a_reply_that_failed_is_an_error() {
    let error = error_of(Answer::cassette("responses-failed.authored.sse")).await;
    assert_eq!((error.kind, error.began), (ModelErrorKind::RateLimited, true));
    let event = r#"data: {"type":"error","code":"server_error","message":"Something went wrong","param":null}"#;
    let error = error_of(Answer::stream(&format!("{event}\n\n"))).await;
    assert_eq!((error.kind, error.began), (ModelErrorKind::Server, false));
    let sealed = r#"{"error":{"message":"The encrypted content for item rs_1 could not be verified.","type":"invalid_request_error"}}"#;
    let error = error_of(Answer::of("400 Bad Request", "application/json", sealed)).await;
    assert_eq!(error.kind, ModelErrorKind::Reasoning, "{}", error.text);
}

#[tokio::test]
async fn a_refusal_is_one() {
    insta::assert_snapshot!(reply_of(Answer::cassette("responses-refusal.authored.sse")).await, @r#"
text "I will not."
refused {"input":12,"cache_read":0,"cache_write":0,"output":6,"reasoning":0} m-3
"#);
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_an_error() {
    let delta = r#"data: {"type":"response.output_text.delta","delta":"So"}"#;
    let error = error_of(Answer::stream(&format!("{delta}\n\ndata: [DONE]\n\n"))).await;
    assert_eq!((error.kind, error.began), (ModelErrorKind::CutShort, true));
    let other = error_of(Answer::cassette("chat-parallel.authored.sse")).await;
    assert_eq!(other.kind, ModelErrorKind::Malformed);
}

fn events(events: &[Value]) -> Answer {
    let lines: Vec<_> = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    Answer::stream(&lines.concat())
}

fn completed() -> Value {
    json!({"type": "response.completed", "response": {"status": "completed"}})
}

#[tokio::test]
async fn o_085_pieces_find_their_calls_by_whatever_they_are_named() {
    let item = |id: Option<&str>, call: &str| json!({"type": "function_call", "id": id, "call_id": call, "name": "read", "arguments": ""});
    let added = |index: Option<u64>, item: Value| json!({"type": "response.output_item.added", "output_index": index, "item": item});
    let piece = |id: Option<&str>, index: Option<u64>, text: &str| json!({"type": "response.function_call_arguments.delta", "item_id": id, "output_index": index, "delta": text});
    let two = [json!({"p": 1}).to_string(), json!({"p": 2}).to_string()];
    let [first, second] = [two[0].as_str(), two[1].as_str()];
    let cases = [
        // By the id of the item, whatever the number says.
        vec![
            added(Some(0), item(Some("fc_1"), "c1")),
            added(Some(1), item(Some("fc_2"), "c2")),
            piece(Some("fc_2"), Some(0), second),
            piece(Some("fc_1"), Some(0), first),
        ],
        // By the id of the call.
        vec![
            added(None, item(None, "c1")),
            added(None, item(None, "c2")),
            piece(Some("c2"), None, second),
            piece(Some("c1"), None, first),
        ],
        // By their number alone.
        vec![
            added(Some(4), item(None, "c1")),
            added(Some(7), item(None, "c2")),
            piece(None, Some(7), second),
            piece(None, Some(4), first),
        ],
        // By what came last.
        vec![
            added(None, item(None, "c1")),
            piece(None, None, first),
            added(None, item(None, "c2")),
            piece(None, None, second),
        ],
    ];
    for mut case in cases {
        case.push(completed());
        let told = reply_of(events(&case)).await;
        assert!(told.starts_with("call c1 read {\"p\":1}"), "{told}");
        assert!(told.contains("\ncall c2 read {\"p\":2}"), "{told}");
    }
    // The end of an item has what was meant, wherever its pieces went.
    let mut done = item(None, "c1");
    done["arguments"] = json!(first);
    let stray = [
        added(Some(0), item(None, "c1")),
        piece(Some("nobody"), Some(9), second),
        piece(None, Some(0), second),
        json!({"type": "response.output_item.done", "output_index": 0, "item": done}),
        completed(),
    ];
    assert_eq!(reply_of(events(&stray)).await, "call c1 read {\"p\":1}\ncalls {} -");
}

#[tokio::test]
async fn o_086_every_shape_of_a_reply_is_read() {
    let whole = json!({
        "object": "response", "status": "completed", "model": "m-3",
        "output": [
            {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "One moment."}]},
            {"type": "function_call", "call_id": "c1", "name": "read", "arguments": {"path": "a"}},
            {"type": "web_search_call", "id": "ws_1", "status": "completed"},
            {"type": "reasoning", "id": "rs_2", "summary": []},
        ],
        "usage": {"input_tokens": 5, "output_tokens": 9},
    });
    let answer = Answer::of("200 OK", "application/json", &whole.to_string());
    let expected = r#"
reasoning "Hm." = {"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"Hm."}]}
text "One moment."
call c1 read {"path":"a"}
opaque = {"type":"web_search_call","id":"ws_1","status":"completed"}
calls {"input":5,"output":9} m-3"#;
    assert_eq!(reply_of(answer).await, expected.trim_start());
    let late = [
        json!({"type": "response.created", "response": {"status": "in_progress"}}),
        json!({"type": "response.completed", "response": whole}),
    ];
    assert_eq!(reply_of(events(&late)).await, expected.trim_start());
}

#[tokio::test]
async fn every_reason_to_stop_has_a_word() {
    let mut lines = Vec::new();
    for (status, reason) in [
        ("completed", json!(null)),
        ("incomplete", json!({"reason": "max_output_tokens"})),
        ("incomplete", json!({"reason": "content_filter"})),
        ("incomplete", json!({"reason": "tired"})),
        ("incomplete", json!(null)),
        ("cancelled", json!(null)),
    ] {
        let response = json!({"status": status, "incomplete_details": reason});
        let end = json!({"type": format!("response.{status}"), "response": response});
        let end = if status == "cancelled" {
            json!({"object": "response", "status": status})
        } else {
            end
        };
        lines.push(reply_of(events(&[end])).await);
    }
    insta::assert_snapshot!(lines.join("\n"), @r"
end {} -
length {} -
filtered {} -
tired {} -
length {} -
cut_short {} -
");
}

#[tokio::test]
async fn what_is_hostile_is_survived() {
    let deep = "[".repeat(100_000);
    let item = format!(r#"data: {{"type":"response.output_item.done","item":{deep}"#);
    assert_eq!(
        error_of(Answer::stream(&format!("{item}\n\n"))).await.kind,
        ModelErrorKind::Malformed
    );
    let closed = format!("{deep}{}", "]".repeat(100_000));
    let nested = format!(
        r#"data: {{"type":"response.output_item.done","item":{{"type":"message","content":{closed}}}}}"#
    );
    let end = completed();
    let told = reply_of(Answer::stream(&format!("{nested}\n\ndata: {end}\n\n"))).await;
    assert_eq!(told, "end {} -");
    for odd in [json!([]), json!({"type": 5}), json!({"type": "response.completed"})] {
        assert_eq!(error_of(events(&[odd])).await.kind, ModelErrorKind::Malformed);
    }
}

#[test]
fn schemas_are_told_in_the_dialect_of_the_server_and_arguments_brought_back() {
    let mut tool = tools()[1].clone();
    tool.schema = Arc::new(json!({
        "type": "object",
        "properties": {"env": {"type": "object", "additionalProperties": {"type": "string"}}},
        "required": ["env"],
        "additionalProperties": false,
    }));
    let request = Request { tools: [tool].into(), ..asking(vec![user("x")]) };
    let said = body(Quirks::USUAL, &request);
    assert_eq!(said["tools"][0]["parameters"]["properties"]["env"]["type"], "array");
    let arguments = r#"{"env":[{"key":"HOME","value":"/root"}]}"#;
    let item =
        json!({"type": "function_call", "call_id": "c1", "name": "read", "arguments": arguments});
    let answer = events(&[json!({"type": "response.output_item.done", "item": item}), completed()]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (finished, _) = runtime.block_on(played(Dialect::Responses, answer, request)).unwrap();
    let ReplyPart::Call(call) = &finished.parts[0] else { panic!("no call") };
    assert_eq!(call.arguments, RawArguments::Json(json!({"env": {"HOME": "/root"}})));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn where_a_stream_is_cut_changes_nothing(
        name in prop::sample::select(vec![
            "responses-reasoning.authored.sse", "responses-incomplete.authored.sse", "responses-refusal.authored.sse",
        ]),
        cuts in prop::collection::vec(any::<usize>(), 0..40),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let request = || asking(vec![user("x")]);
            let whole = played(Dialect::Responses, Answer::cassette(name), request()).await.unwrap();
            let cut = played(Dialect::Responses, Answer::cassette(name).cut(&cuts), request()).await.unwrap();
            prop_assert_eq!(told(&cut.0), told(&whole.0));
            prop_assert_eq!(cut.1, whole.1);
            Ok(())
        })?;
    }
}
