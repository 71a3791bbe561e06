//! Requests to Gemini, and its replies.

use std::sync::Arc;
use std::time::Duration;

use haft_model::{
    CallResult, ChatModel as _, Dialect, Effort, Fragment, ModelErrorKind, Request, RequestMessage,
    ResponseFormat, ToolChoice, ToolSpec,
};
use haft_protocol::{ContentPart, ImageType, Opaque, Reply, ReplyPart, RequestedCall, WireName};
use haft_providers::{Address, Endpoint, EndpointError, Known, Quirks, RemoteModel};
use haft_schema::dialect::Dialect as Schemas;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::asked::{
    self, asking, call, called, conversation, dialer, endpoint, gemini, played, reply, results,
    shown, told, tools, user,
};
use crate::server::{Answer, Server};

const SIGNED: &str = r#""thoughtSignature":"skip_thought_signature_validator""#;

async fn reply_of(answer: Answer) -> String {
    asked::reply_of(Dialect::Gemini, answer).await
}

async fn error_of(answer: Answer) -> haft_model::ModelError {
    asked::error_of(Dialect::Gemini, answer).await
}

fn text_of(model: &RemoteModel, request: &Request) -> String {
    String::from_utf8(model.body(request).unwrap()).unwrap()
}

fn body(request: &Request) -> Value {
    serde_json::from_str(&text_of(&gemini(endpoint(Dialect::Gemini, 1)), request)).unwrap()
}

#[test]
fn a_conversation() {
    let request = Request { tools: [tools()[1].clone()].into(), ..conversation() };
    insta::assert_snapshot!(serde_json::to_string_pretty(&body(&request)).unwrap(), @r#"
{
  "systemInstruction": {
    "parts": [
      {
        "text": "Be brief."
      }
    ]
  },
  "tools": [
    {
      "functionDeclarations": [
        {
          "name": "read",
          "description": "Reads a file.",
          "parametersJsonSchema": {
            "type": "object",
            "properties": {
              "path": {
                "type": "string"
              }
            },
            "required": [
              "path"
            ],
            "additionalProperties": false
          }
        }
      ]
    }
  ],
  "contents": [
    {
      "role": "user",
      "parts": [
        {
          "text": "What is in a and b?"
        }
      ]
    },
    {
      "role": "model",
      "parts": [
        {
          "text": "Looking."
        },
        {
          "functionCall": {
            "id": "c1",
            "name": "read",
            "args": {
              "path": "a"
            }
          },
          "thoughtSignature": "skip_thought_signature_validator"
        },
        {
          "functionCall": {
            "id": "c2",
            "name": "read",
            "args": {
              "path": "b"
            }
          }
        }
      ]
    },
    {
      "role": "user",
      "parts": [
        {
          "functionResponse": {
            "id": "c1",
            "name": "read",
            "response": {
              "result": "alpha"
            }
          }
        },
        {
          "functionResponse": {
            "id": "c2",
            "name": "read",
            "response": {
              "error": "error: there is no b"
            }
          }
        },
        {
          "text": "And c?"
        }
      ]
    }
  ],
  "generationConfig": {
    "maxOutputTokens": 64
  }
}
"#);
}

#[test]
fn a_request_of_nothing_but_a_question_is_one() {
    let request = Request { messages: vec![user("x")].into(), ..Request::default() };
    let body = text_of(&gemini(endpoint(Dialect::Gemini, 1)), &request);
    assert_eq!(body, r#"{"contents":[{"role":"user","parts":[{"text":"x"}]}]}"#);
}

#[test]
fn how_a_reply_is_made_stands_behind_the_contents() {
    let mut request = asking(vec![user("x")]);
    request.choice = ToolChoice::Named(WireName::new("read").unwrap());
    request.sampling.temperature = Some(0.2);
    request.sampling.seed = Some(0x1_8000_0007);
    request.sampling.effort = Some(Effort::Low);
    request.format = Some(ResponseFormat {
        name: WireName::new("answer").unwrap(),
        schema: Arc::new(json!({"type": "object"})),
    });
    let body = body(&request);
    insta::assert_snapshot!(body["toolConfig"].to_string(), @r#"{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["read"]}}"#);
    insta::assert_snapshot!(body["generationConfig"].to_string(), @r#"{"maxOutputTokens":64,"temperature":0.2,"seed":7,"responseMimeType":"application/json","responseJsonSchema":{"type":"object"},"thinkingConfig":{"thinkingLevel":"low","includeThoughts":true}}"#);
}

#[test]
fn a_call_is_demanded_by_a_mode() {
    let mode = |choice| {
        let body = body(&Request { choice, ..asking(vec![user("x")]) });
        body["toolConfig"]["functionCallingConfig"].to_string()
    };
    let modes = [ToolChoice::Auto, ToolChoice::None, ToolChoice::Required].map(mode);
    insta::assert_snapshot!(modes.join(" "), @r#"null {"mode":"NONE"} {"mode":"ANY"}"#);
}

#[test]
fn each_generation_is_told_in_its_own_words_how_much_to_think() {
    let told = |name: &str| {
        let mut request = asking(vec![user("x")]);
        request.sampling.effort = Some(Effort::High);
        let model = called(name, endpoint(Dialect::Gemini, 1));
        let body: Value = serde_json::from_str(&text_of(&model, &request)).unwrap();
        format!("{name} {}", body["generationConfig"]["thinkingConfig"])
    };
    let all = ["gemini-2.0-flash", "models/gemini-2.5-pro", "gemini-3.1-pro", "gemma-5"].map(told);
    insta::assert_snapshot!(all.join("\n"), @r#"
gemini-2.0-flash null
models/gemini-2.5-pro {"thinkingBudget":24576,"includeThoughts":true}
gemini-3.1-pro {"thinkingLevel":"high","includeThoughts":true}
gemma-5 {"thinkingLevel":"high","includeThoughts":true}
"#);
}

#[test]
fn a_function_without_arguments_has_no_schema_and_always_a_description() {
    let tool = ToolSpec {
        name: WireName::new("now").unwrap(),
        description: " ".into(),
        schema: Arc::new(
            json!({"type": "object", "properties": {}, "additionalProperties": false}),
        ),
    };
    let request = Request { tools: [tool].into(), ..asking(vec![user("x")]) };
    let declared = |schemas| {
        let mut endpoint = endpoint(Dialect::Gemini, 1);
        endpoint.quirks = Quirks { schemas, ..Quirks::USUAL };
        let body: Value = serde_json::from_str(&text_of(&gemini(endpoint), &request)).unwrap();
        body["tools"][0]["functionDeclarations"][0].clone()
    };
    for schemas in [Schemas::Gemini, Schemas::GeminiJson, Schemas::Common] {
        assert_eq!(declared(schemas), json!({"name": "now", "description": "now"}));
    }
}

#[test]
fn schemas_go_into_the_field_of_their_dialect_and_arguments_are_brought_back() {
    let mut tool = tools()[1].clone();
    tool.schema = Arc::new(json!({
        "type": "object",
        "properties": {"env": {"type": "object", "additionalProperties": {"type": "string"}}},
        "required": ["env"],
        "additionalProperties": false,
    }));
    let request = || Request { tools: [tool.clone()].into(), ..asking(vec![user("x")]) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let part = json!({"functionCall": {"name": "read", "args": {"env": [{"key": "HOME", "value": "/root"}]}}});
        let chunk = json!({"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]});
        let server = Server::start(Answer::stream(&format!("data: {chunk}\n\n"))).await;
        let mut endpoint = endpoint(Dialect::Gemini, server.port);
        endpoint.quirks.schemas = Schemas::Gemini;
        let model = gemini(endpoint);
        let finished = model.ask(Arc::new(request())).await.unwrap().finish().await.unwrap();
        assert_eq!(told(&finished), "call - read {\"env\":{\"HOME\":\"/root\"}}\ncalls {} -");
        let asked = server.asked().concat();
        assert!(asked.contains(r#""parameters":{"type":"OBJECT""#), "{asked}");
    });
}

#[tokio::test]
async fn what_is_sent_says_who_asks_and_whom() {
    let server = Server::start(Answer::cassette("gemini-calls.authored.sse")).await;
    let model = gemini(endpoint(Dialect::Gemini, server.port));
    model.ask(Arc::new(asking(vec![user("x")]))).await.unwrap().finish().await.unwrap();
    let mut bare = endpoint(Dialect::Gemini, server.port);
    bare.address = Address::parse(&format!("http://127.0.0.1:{}", server.port)).unwrap();
    let model = called("tunedModels/mine-1", bare);
    model.ask(Arc::new(asking(vec![user("x")]))).await.unwrap().finish().await.unwrap();
    let asked = server.asked();
    let line = |at: usize| asked[at].lines().next().unwrap();
    assert_eq!(line(0), "POST /v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse HTTP/1.1");
    assert_eq!(line(1), "POST /v1beta/tunedModels/mine-1:streamGenerateContent?alt=sse HTTP/1.1");
    assert!(asked[0].contains("\r\nx-goog-api-key: sk-very-secret-1234\r\n"), "{}", asked[0]);
}

#[test]
fn a_name_that_would_lead_elsewhere_is_no_model() {
    for name in ["../x", "models/../../x", "a b", "x?key=1", "x#y", "a%2e", "a:b"] {
        let id = haft_protocol::ModelId::new("gemini", name).unwrap();
        let endpoint = endpoint(Dialect::Gemini, 1);
        let error = endpoint.model(id, Known::default(), dialer()).unwrap_err();
        assert!(matches!(error, EndpointError::ModelName { .. }), "{name}: {error}");
    }
    let id = haft_protocol::ModelId::new("gemini", "../x").unwrap();
    let error = endpoint(Dialect::Gemini, 1).model(id, Known::default(), dialer()).unwrap_err();
    insta::assert_snapshot!(error, @"`../x` cannot be a model of `test`: its name is part of an address, expected letters, digits, `-`, `_` and `.`");
}

#[tokio::test]
async fn o_087_parts_are_kept_with_their_signatures() {
    let answer = Answer::cassette("gemini-calls.authored.sse");
    let (finished, parts) = played(Dialect::Gemini, answer, asking(vec![user("x")])).await.unwrap();
    insta::assert_snapshot!(told(&finished), @r#"
reasoning "First “look” at it."
text "Looking."
call 8f2b1a3c read {"path": "a", "n": 1.50} = {"thoughtSignature":"EjQKMgEM+/a1bQ=="}
call 9c0d list {}
calls {"input":20,"cache_read":100,"output":60,"reasoning":20} gemini-3-pro-001
"#);
    insta::assert_snapshot!(shown(&parts).join("\n"), @r#"
reasoning: First “look” at it.
text: Looking.
call 0 read: 
arguments 0: {"path": "a", "n": 1.50}
call 1 list: 
arguments 1: {}
"#);
    insta::assert_snapshot!(reply_of(Answer::cassette("gemini-signed-text.authored.sse")).await, @r#"
text "Both are there."
text "" = {"text": "", "thoughtSignature": "EjQKMgEMdGV4dA=="}
text "" = {"thoughtSignature":"EjQKMgEMYWxvbg==","text":""}
end {"input":20,"cache_read":100,"output":60,"reasoning":20} gemini-3-pro-001
"#);
}

#[test]
fn o_087_signatures_go_back_on_their_parts_and_to_nobody_else() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let said = |name| {
        runtime.block_on(async {
            let server = Server::start(Answer::cassette(name)).await;
            let model = gemini(endpoint(Dialect::Gemini, server.port));
            let asked = model.ask(Arc::new(asking(vec![user("x")]))).await.unwrap();
            (server.port, asked.finish().await.unwrap().parts)
        })
    };
    let back = |to: Endpoint, parts: &[ReplyPart], ids: &[(&str, &str)]| {
        let mut step = vec![user("x"), reply(parts.to_vec())];
        step.extend((!ids.is_empty()).then(|| results(ids)));
        text_of(&gemini(to), &asking(step))
    };
    let (port, calls) = said("gemini-calls.authored.sse");
    let ids = [("8f2b1a3c", "alpha"), ("9c0d", "beta")];
    let same = back(endpoint(Dialect::Gemini, port), &calls, &ids);
    let own = r#"{"functionCall":{"id":"8f2b1a3c","name":"read","args":{"path": "a", "n": 1.50}},"thoughtSignature":"EjQKMgEM+/a1bQ=="}"#;
    assert!(same.contains(own) && !same.contains(SIGNED), "{same}");
    assert!(!same.contains("First"), "a summary of thoughts is for people: {same}");
    let elsewhere = back(endpoint(Dialect::Gemini, 1), &calls, &ids);
    assert!(!elsewhere.contains("EjQ") && elsewhere.contains(SIGNED), "{elsewhere}");

    let (port, signed) = said("gemini-signed-text.authored.sse");
    let same = back(endpoint(Dialect::Gemini, port), &signed, &[]);
    let own = r#"{"text":"Both are there."},{"text": "", "thoughtSignature": "EjQKMgEMdGV4dA=="},{"thoughtSignature":"EjQKMgEMYWxvbg==","text":""}"#;
    assert!(same.contains(own), "{same}");
    let elsewhere = back(endpoint(Dialect::Gemini, 1), &signed, &[]);
    assert!(!elsewhere.contains("EjQ") && elsewhere.contains("Both are there."), "{elsewhere}");
}

#[test]
fn o_087_a_call_of_another_model_has_something_in_place_of_a_signature() {
    let step = asking(vec![
        user("x"),
        reply(vec![call("c1", "{}"), call("c2", "{}")]),
        results(&[("c1", "a"), ("c2", "b")]),
    ]);
    let of = |name| text_of(&called(name, endpoint(Dialect::Gemini, 1)), &step);
    assert_eq!(of("gemini-3-flash").matches(SIGNED).count(), 1, "on the first of them");
    assert_eq!(of("gemini-2.5-flash").matches(SIGNED).count(), 0);
    assert_eq!(of("gemma-5").matches(SIGNED).count(), 0);
    let of_its_own = |parts: Vec<ReplyPart>| {
        let RequestMessage::Reply(said) = reply(parts).message().clone() else {
            panic!("no reply")
        };
        let said = Reply { model: "test/gemini-3-pro".parse().unwrap(), ..(*said).clone() };
        let said = Fragment::new(RequestMessage::Reply(Arc::new(said)));
        let step = asking(vec![user("x"), said, results(&[("c1", "a")])]);
        text_of(&gemini(endpoint(Dialect::Gemini, 1)), &step).contains(SIGNED)
    };
    assert!(!of_its_own(vec![call("c1", "{}")]), "it goes back as it came");
    let elsewhere = Opaque { origin: "gemini http://127.0.0.1:9".into(), json: "{}".into() };
    assert!(of_its_own(vec![ReplyPart::Opaque(elsewhere), call("c1", "{}")]));
}

#[test]
fn calls_without_ids_go_together_with_their_results_by_order() {
    let nameless = || {
        ReplyPart::Call(RequestedCall {
            id: haft_model::Finished::NO_CALL,
            provider_id: None,
            tool: "read".to_owned(),
            arguments: "{}".into(),
            is_whole: true,
            opaque: None,
        })
    };
    let request = asking(vec![
        user("x"),
        reply(vec![nameless(), call("c2", "{}")]),
        results(&[("call_1", "a"), ("c2", "b")]),
    ]);
    let body = body(&request);
    let ids = |at: usize, kind: &str| {
        let parts = body["contents"][at]["parts"].as_array().unwrap();
        parts.iter().map(|part| part[kind]["id"].to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(ids(1, "functionCall"), r#"null "c2""#);
    assert_eq!(ids(2, "functionResponse"), r#"null "c2""#);
}

#[test]
fn images_follow_the_results() {
    let image = ContentPart::Image { media_type: ImageType::Png, data: b"png"[..].into() };
    let result = CallResult {
        provider_id: "c1".into(),
        tool: "read".into(),
        text: "an image".into(),
        images: [image].into(),
        is_error: false,
    };
    let results = Fragment::new(RequestMessage::Results([result].into()));
    let request = asking(vec![user("x"), reply(vec![call("c1", "{}")]), results]);
    insta::assert_snapshot!(body(&request)["contents"][2].to_string(), @r#"{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"read","response":{"result":"an image"}}},{"text":"Images of the result of `read`:"},{"inlineData":{"mimeType":"image/png","data":"cG5n"}}]}"#);
}

#[test]
fn o_092_each_request_begins_with_the_one_before() {
    let all = conversation().messages;
    let model = gemini(endpoint(Dialect::Gemini, 1));
    let body_to =
        |count: usize| text_of(&model, &asking(all.iter().take(count).cloned().collect()));
    let (earlier, later) = (body_to(1), body_to(3));
    assert_eq!(later, body_to(3));
    let end = earlier.find("],\"generationConfig\"").unwrap();
    assert!(later.starts_with(&earlier[..end]), "{earlier}");
}

#[tokio::test]
async fn o_082_a_call_of_a_reply_that_its_length_has_cut_is_not_whole() {
    insta::assert_snapshot!(reply_of(Answer::cassette("gemini-cut.authored.sse")).await, @r#"
call - write {"path": "b"} (not whole)
text "And"
length {"input":12,"output":64} gemini-3-pro-001
"#);
}

#[tokio::test]
async fn o_088_the_allowance_of_a_minute_comes_back_and_that_of_a_day_does_not() {
    let error = error_of(Answer::cassette("gemini-429.authored.json")).await;
    assert_eq!(error.kind, ModelErrorKind::RateLimited, "{}", error.text);
    assert_eq!(error.retry_after, Some(Duration::from_secs_f64(36.4)));
    let mut daily = Answer::cassette("gemini-429.authored.json");
    let crate::server::Play::Send(body) = &mut daily.plays[0] else { panic!("no body") };
    *body = String::from_utf8(body.clone()).unwrap().replace("PerMinute", "PerDay").into();
    assert_eq!(error_of(daily).await.kind, ModelErrorKind::Quota);
}

#[tokio::test]
async fn o_088_errors_inside_a_200_are_errors() {
    let event = r#"data: {"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}"#;
    let error = error_of(Answer::stream(&format!("{event}\n\n"))).await;
    assert_eq!((error.kind, error.began), (ModelErrorKind::Overloaded, false));
    let error = error_of(Answer::cassette("gemini-malformed.authored.sse")).await;
    assert_eq!((error.kind, error.began), (ModelErrorKind::Server, true));
    assert!(
        error.text.ends_with(": the server could not read what its model said (`MALFORMED_FUNCTION_CALL`): Malformed function call: call:read{path:a"),
        "{}", error.text
    );
    let unsigned = r#"{"error":{"code":400,"message":"Function call is missing a thought_signature in functionCall parts.","status":"INVALID_ARGUMENT"}}"#;
    let error = error_of(Answer::of("400 Bad Request", "application/json", unsigned)).await;
    assert_eq!(error.kind, ModelErrorKind::Reasoning);
}

#[tokio::test]
async fn every_reason_to_stop_has_a_word() {
    let mut lines = Vec::new();
    for reason in ["STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "MODEL_ARMOR", "LANGUAGE", "OTHER"]
    {
        let chunk = json!({"candidates": [{"content": {"parts": [{"text": "So"}]}, "finishReason": reason}]});
        let told = reply_of(Answer::stream(&format!("data: {chunk}\n\n"))).await;
        lines.push(format!("{reason} {}", told.lines().last().unwrap()));
    }
    insta::assert_snapshot!(lines.join("\n"), @r"
STOP end {} -
MAX_TOKENS length {} -
SAFETY filtered {} -
RECITATION filtered {} -
MODEL_ARMOR filtered {} -
LANGUAGE LANGUAGE {} -
OTHER OTHER {} -
");
    let blocked =
        json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "modelVersion": "m"});
    let error = error_of(Answer::stream(&format!("data: {blocked}\n\n"))).await;
    assert_eq!(error.kind, ModelErrorKind::Refused);
    assert!(error.text.ends_with("the prompt was refused: `PROHIBITED_CONTENT`"), "{}", error.text);
}

#[tokio::test]
async fn a_reply_that_is_not_streamed_is_read() {
    let parts = |parts: Value| json!({"candidates": [{"content": {"parts": parts}}]});
    let end = json!({"candidates": [{"finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2}});
    let list = json!([
        parts(json!([{"text": "One "}])),
        parts(json!([{"text": "moment."}, {"executableCode": {"code": "1"}}, {}])),
        parts(json!([{"text": "Said.", "speechMetadata": {"speaker": 1}}, {"thought": true}])),
        end,
    ]);
    let answer = Answer::of("200 OK", "application/json; charset=UTF-8", &list.to_string());
    insta::assert_snapshot!(reply_of(answer).await, @r#"
text "One moment."
opaque = {"executableCode":{"code":"1"}}
text "Said." = {"text":"Said.","speechMetadata":{"speaker":1}}
end {"input":3,"output":2} -
"#);
}

#[tokio::test]
async fn what_is_no_reply_is_told() {
    let cut = json!({"candidates": [{"content": {"parts": [{"text": "So"}]}}]});
    let error = error_of(Answer::stream(&format!("data: {cut}\n\n"))).await;
    assert_eq!((error.kind, error.began), (ModelErrorKind::CutShort, true));
    let other = error_of(Answer::cassette("chat-parallel.authored.sse")).await;
    assert_eq!(other.kind, ModelErrorKind::Malformed, "{}", other.text);
    for odd in
        ["5", "{}", "{\"candidates\":[5]}", "{\"candidates\":[{\"content\":{\"parts\":[[]]}}]}"]
    {
        let error = error_of(Answer::stream(&format!("data: {odd}\n\n"))).await;
        assert!(matches!(error.kind, ModelErrorKind::Malformed), "{odd}: {}", error.text);
    }
    let deep = format!("data: {}\n\n", "[".repeat(100_000));
    let error = error_of(Answer::stream(&deep)).await;
    assert!(matches!(error.kind, ModelErrorKind::Malformed | ModelErrorKind::CutShort));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn where_a_stream_is_cut_changes_nothing(
        name in prop::sample::select(vec![
            "gemini-calls.authored.sse", "gemini-signed-text.authored.sse", "gemini-cut.authored.sse",
        ]),
        cuts in prop::collection::vec(any::<usize>(), 0..40),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let request = || asking(vec![user("x")]);
            let whole = played(Dialect::Gemini, Answer::cassette(name), request()).await.unwrap();
            let cut = played(Dialect::Gemini, Answer::cassette(name).cut(&cuts), request()).await.unwrap();
            prop_assert_eq!(told(&cut.0), told(&whole.0));
            prop_assert_eq!(cut.1, whole.1);
            Ok(())
        })?;
    }
}
