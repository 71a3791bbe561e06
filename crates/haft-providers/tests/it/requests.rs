//! Requests as servers get them.

use std::sync::Arc;

use haft_model::{
    CallResult, ChatModel as _, Dialect, Effort, Fragment, Request, RequestMessage, ResponseFormat,
    ToolChoice,
};
use haft_protocol::{ContentPart, ImageType, Opaque, RawArguments, ReplyPart, WireName};
use haft_providers::{Cap, Endpoint, Forced, Ids, NoText, Quirks, ReasoningBack};
use serde_json::{Value, json};

use crate::asked::{
    asking, body, call, chat, conversation, endpoint, messages, played, reply, results, text,
    tools, user,
};
use crate::server::{Answer, Server};

fn chat_body(quirks: Quirks, request: &Request) -> Value {
    body(Dialect::ChatCompletions, quirks, request)
}

fn messages_body(quirks: Quirks, request: &Request) -> Value {
    body(Dialect::Messages, quirks, request)
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap()
}

#[test]
fn a_conversation_in_chat_completions() {
    insta::assert_snapshot!(pretty(&chat_body(Quirks::USUAL, &conversation())), @r#"
{
  "model": "m-1",
  "tools": [
    {
      "type": "function",
      "function": {
        "name": "list",
        "description": "Lists a directory.",
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
        }
      }
    },
    {
      "type": "function",
      "function": {
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
        }
      }
    }
  ],
  "messages": [
    {
      "role": "system",
      "content": "Be brief."
    },
    {
      "role": "user",
      "content": "What is in a and b?"
    },
    {
      "role": "assistant",
      "content": "Looking.",
      "tool_calls": [
        {
          "id": "c1",
          "type": "function",
          "function": {
            "name": "read",
            "arguments": "{\"path\": \"a\"}"
          }
        },
        {
          "id": "c2",
          "type": "function",
          "function": {
            "name": "read",
            "arguments": "{\"path\":\"b\"}"
          }
        }
      ]
    },
    {
      "role": "tool",
      "tool_call_id": "c1",
      "content": "alpha"
    },
    {
      "role": "tool",
      "tool_call_id": "c2",
      "content": "error: there is no b"
    },
    {
      "role": "user",
      "content": "And c?"
    }
  ],
  "parallel_tool_calls": true,
  "max_tokens": 64,
  "stream": true,
  "stream_options": {
    "include_usage": true
  }
}
"#);
}

#[test]
fn a_conversation_in_messages() {
    let quirks = Quirks { cache_marks: true, ..Quirks::USUAL };
    insta::assert_snapshot!(pretty(&messages_body(quirks, &conversation())), @r#"
{
  "model": "m-2",
  "tools": [
    {
      "name": "list",
      "description": "Lists a directory.",
      "input_schema": {
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
      }
    },
    {
      "name": "read",
      "description": "Reads a file.",
      "input_schema": {
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
      "cache_control": {
        "type": "ephemeral"
      }
    }
  ],
  "system": [
    {
      "type": "text",
      "text": "Be brief.",
      "cache_control": {
        "type": "ephemeral"
      }
    }
  ],
  "messages": [
    {
      "role": "user",
      "content": [
        {
          "type": "text",
          "text": "What is in a and b?"
        }
      ]
    },
    {
      "role": "assistant",
      "content": [
        {
          "type": "text",
          "text": "Looking."
        },
        {
          "type": "tool_use",
          "id": "c1",
          "name": "read",
          "input": {
            "path": "a"
          }
        },
        {
          "type": "tool_use",
          "id": "c2",
          "name": "read",
          "input": {
            "path": "b"
          }
        }
      ]
    },
    {
      "role": "user",
      "content": [
        {
          "type": "tool_result",
          "tool_use_id": "c1",
          "content": [
            {
              "type": "text",
              "text": "alpha"
            }
          ]
        },
        {
          "type": "tool_result",
          "tool_use_id": "c2",
          "content": [
            {
              "type": "text",
              "text": "error: there is no b"
            }
          ],
          "is_error": true
        },
        {
          "type": "text",
          "text": "And c?"
        }
      ]
    }
  ],
  "max_tokens": 64,
  "cache_control": {
    "type": "ephemeral"
  },
  "stream": true
}
"#);
}

#[tokio::test]
async fn what_is_sent_says_who_asks_and_in_what_form() {
    let server = Server::start(Answer::cassette("chat-plain.recorded.sse")).await;
    let model = chat(endpoint(Dialect::ChatCompletions, server.port));
    model.ask(Arc::new(asking(vec![user("x")]))).await.unwrap().finish().await.unwrap();
    let model = messages(endpoint(Dialect::Messages, server.port));
    let _ = model.ask(Arc::new(asking(vec![user("x")]))).await.unwrap().finish().await;
    let heads: Vec<_> = server
        .asked()
        .iter()
        .map(|request| {
            let head = request.split("\r\n\r\n").next().unwrap().replace("\r\n", "\n");
            let kept = head
                .lines()
                .filter(|line| !line.starts_with("host:") && !line.starts_with("content-length:"));
            kept.collect::<Vec<_>>().join("\n").replace(env!("CARGO_PKG_VERSION"), "VERSION")
        })
        .collect();
    insta::assert_snapshot!(heads.join("\n\n"), @"
POST /v1/chat/completions HTTP/1.1
authorization: Bearer sk-very-secret-1234
content-type: application/json
accept: text/event-stream, application/json
connection: close
user-agent: haft/VERSION

POST /v1/messages HTTP/1.1
anthropic-version: 2023-06-01
x-api-key: sk-very-secret-1234
content-type: application/json
accept: text/event-stream, application/json
connection: close
user-agent: haft/VERSION
");
}

#[test]
fn o_092_each_request_begins_with_the_one_before() {
    let all = conversation().messages;
    let body_to = |count: usize| {
        let request = asking(all.iter().take(count).cloned().collect());
        let quirks = Quirks { cache_marks: true, ..Quirks::USUAL };
        let (mut chatting, mut other) =
            (endpoint(Dialect::ChatCompletions, 1), endpoint(Dialect::Messages, 1));
        (chatting.quirks, other.quirks) = (quirks, quirks);
        [chat(chatting).body(&request).unwrap(), messages(other).body(&request).unwrap()]
    };
    let (earlier, later, again) = (body_to(1), body_to(3), body_to(3));
    assert_eq!(later, again, "the same conversation, the same bytes");
    for (earlier, later) in earlier.iter().zip(&later) {
        let earlier = String::from_utf8(earlier.clone()).unwrap();
        // What changes from one request to the next stands behind the messages.
        let end = ["],\"parallel_tool_calls\"", "],\"max_tokens\""].map(|it| earlier.find(it));
        let end = end.into_iter().flatten().next().unwrap();
        assert!(later.starts_with(&earlier.as_bytes()[..end]), "{earlier}");
        assert!(earlier.len() - end < 160, "{earlier}");
    }
}

#[test]
fn a_message_is_put_into_a_form_once_for_each_server() {
    let conversation = conversation();
    let first = chat_body(Quirks::USUAL, &conversation);
    let other = Quirks { ids: Ids::Nine, no_text: NoText::Empty, ..Quirks::USUAL };
    let second = chat_body(other, &conversation);
    assert_eq!(chat_body(Quirks::USUAL, &conversation), first);
    let id = second["messages"][2]["tool_calls"][0]["id"].as_str().unwrap();
    assert_eq!((id.len(), &second["messages"][3]["tool_call_id"]), (9, &json!(id)));
}

#[test]
fn o_086_a_reply_without_text_is_written_as_its_server_wants() {
    let request = asking(vec![user("x"), reply(vec![call("c1", "{}")]), results(&[("c1", "ok")])]);
    let content = |no_text| {
        let body = chat_body(Quirks { no_text, ..Quirks::USUAL }, &request);
        body["messages"][2].as_object().unwrap().get("content").cloned()
    };
    assert_eq!(content(NoText::Null), Some(Value::Null));
    assert_eq!(content(NoText::Empty), Some(json!("")));
    assert_eq!(content(NoText::Absent), None);
    let body = messages_body(Quirks::USUAL, &request);
    assert_eq!(body["messages"][1]["content"].as_array().unwrap().len(), 1);
}

#[test]
fn o_077_arguments_of_earlier_calls_are_always_an_object() {
    let cases: [(RawArguments, Value); 9] = [
        ("".into(), json!({})),
        (" ".into(), json!({})),
        ("null".into(), json!({})),
        (json!(null).into(), json!({})),
        ("{}".into(), json!({})),
        ("\"\"".into(), json!({"unreadable_arguments": "\"\""})),
        ("[]".into(), json!({"unreadable_arguments": "[]"})),
        (json!(5).into(), json!({"unreadable_arguments": "5"})),
        ("{\"path\": \"a".into(), json!({"unreadable_arguments": "{\"path\": \"a"})),
    ];
    for (arguments, expected) in cases {
        let step = || {
            vec![user("x"), reply(vec![call("c1", arguments.clone())]), results(&[("c1", "ok")])]
        };
        let body = messages_body(Quirks::USUAL, &asking(step()));
        assert_eq!(body["messages"][1]["content"][0]["input"], expected);
        let body = chat_body(Quirks::USUAL, &asking(step()));
        let text = body["messages"][2]["tool_calls"][0]["function"]["arguments"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), expected);
    }
}

#[test]
fn o_080_ids_that_a_server_does_not_take_become_others_on_both_sides() {
    let long = "x".repeat(200);
    for id in ["", "with space", &long, "ä"] {
        let request = asking(vec![user("x"), reply(vec![call(id, "{}")]), results(&[(id, "ok")])]);
        let body = chat_body(Quirks::USUAL, &request);
        let asked = body["messages"][2]["tool_calls"][0]["id"].as_str().unwrap();
        assert!(asked.starts_with("call_") && asked.len() <= 40);
        assert_eq!(body["messages"][3]["tool_call_id"], asked);
        let body = messages_body(Quirks::USUAL, &request);
        assert_eq!(
            body["messages"][2]["content"][0]["tool_use_id"],
            body["messages"][1]["content"][0]["id"]
        );
    }
}

#[test]
fn a_call_without_its_result_is_never_sent() {
    let unanswered = [
        vec![user("x"), reply(vec![call("c1", "{}")])],
        vec![user("x"), reply(vec![call("c1", "{}"), call("c2", "{}")]), results(&[("c1", "ok")])],
        vec![user("x"), reply(vec![call("c1", "{}")]), user("and?")],
        vec![user("x"), results(&[("c1", "ok")])],
        vec![user("x"), reply(vec![text("no")]), results(&[("c1", "ok")])],
    ];
    for messages_of in unanswered {
        let request = asking(messages_of);
        assert!(chat(endpoint(Dialect::ChatCompletions, 1)).body(&request).is_err());
        let error = messages(endpoint(Dialect::Messages, 1)).body(&request).unwrap_err();
        assert!(error.text.starts_with("the request cannot be made: message "), "{}", error.text);
    }
}

#[test]
fn images_of_results_go_where_the_dialect_has_a_place_for_them() {
    let image = ContentPart::Image { media_type: ImageType::Png, data: b"png"[..].into() };
    let with_image = || {
        let result = CallResult {
            provider_id: "c1".into(),
            tool: "read".into(),
            text: "an image".into(),
            images: [image.clone()].into(),
            is_error: false,
        };
        let results = Fragment::new(RequestMessage::Results([result].into()));
        asking(vec![user("x"), reply(vec![call("c1", "{}")]), results, user("What is it?")])
    };
    let body = chat_body(Quirks::USUAL, &with_image());
    insta::assert_snapshot!(pretty(&json!([body["messages"][3], body["messages"][4]])), @r#"
[
  {
    "role": "tool",
    "tool_call_id": "c1",
    "content": "an image"
  },
  {
    "role": "user",
    "content": [
      {
        "type": "text",
        "text": "Images of the result of `read`:"
      },
      {
        "type": "image_url",
        "image_url": {
          "url": "data:image/png;base64,cG5n"
        }
      },
      {
        "type": "text",
        "text": "What is it?"
      }
    ]
  }
]
"#);
    let body = messages_body(Quirks::USUAL, &with_image());
    insta::assert_snapshot!(pretty(&body["messages"][2]), @r#"
{
  "role": "user",
  "content": [
    {
      "type": "tool_result",
      "tool_use_id": "c1",
      "content": [
        {
          "type": "text",
          "text": "an image"
        },
        {
          "type": "image",
          "source": {
            "type": "base64",
            "media_type": "image/png",
            "data": "cG5n"
          }
        }
      ]
    },
    {
      "type": "text",
      "text": "What is it?"
    }
  ]
}
"#);
}

#[test]
fn o_087_reasoning_goes_back_to_whom_it_came_from_and_to_nobody_else() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (server, finished) = runtime.block_on(async {
        let server = Server::start(Answer::cassette("messages-thinking.authored.sse")).await;
        let model = messages(endpoint(Dialect::Messages, server.port));
        let finished =
            model.ask(Arc::new(asking(vec![user("x")]))).await.unwrap().finish().await.unwrap();
        (server, finished)
    });
    let step = || vec![user("x"), reply(finished.parts.clone()), results(&[("toolu_1", "alpha")])];
    let back =
        |to: Endpoint| String::from_utf8(messages(to).body(&asking(step())).unwrap()).unwrap();
    let same = back(endpoint(Dialect::Messages, server.port));
    for own in [
        r#"{"type":"thinking","thinking":"First “look” at it.","signature":"EqQBCgIYAhIM1gbcDa9GJwZA2b3h+/=="}"#,
        r#"{"type":"redacted_thinking","data":"EmwKAhgBEgy3va3pzix\/LafPsn4a"}"#,
        r#"{"type":"server_notes", "notes": [1.50, {"b":1e2,"a":null}]}"#,
    ] {
        assert!(same.contains(own), "{own} in {same}");
    }
    let elsewhere = back(endpoint(Dialect::Messages, 1));
    assert!(!elsewhere.contains("thinking") && !elsewhere.contains("server_notes"), "{elsewhere}");
    assert!(elsewhere.contains("Looking.") && elsewhere.contains("toolu_1"));
    let chatting =
        chat(endpoint(Dialect::ChatCompletions, server.port)).body(&asking(step())).unwrap();
    assert!(!String::from_utf8(chatting).unwrap().contains("thinking"));
}

#[test]
fn o_087_fields_of_reasoning_go_back_as_their_server_wants() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let own = Opaque {
        origin: "chat-completions http://127.0.0.1:1".into(),
        json: r#"{"reasoning_content":"First “look”"}"#.into(),
    };
    let thought = |parts: Vec<ReplyPart>| {
        let reasoning =
            ReplyPart::Reasoning { text: "First “look”".to_owned(), opaque: Some(own.clone()) };
        reply([vec![reasoning], parts].concat())
    };
    let request = asking(vec![
        user("x"),
        thought(vec![call("c1", "{}")]),
        results(&[("c1", "ok")]),
        thought(vec![text("Done.")]),
        user("And?"),
    ]);
    let back = |reasoning| {
        let body = chat_body(Quirks { reasoning, ..Quirks::USUAL }, &request);
        [2, 4].map(|at: usize| body["messages"][at].get("reasoning_content").is_some())
    };
    assert_eq!(back(ReasoningBack::Never), [false, false]);
    assert_eq!(back(ReasoningBack::WithCalls), [true, false]);
    assert_eq!(back(ReasoningBack::Always), [true, true]);
    let answer = Answer::cassette("chat-details.authored.sse");
    let played = played(Dialect::ChatCompletions, answer, asking(vec![user("x")]));
    let (finished, _) = runtime.block_on(played).unwrap();
    let kept = finished.parts.iter().find_map(|part| match part {
        ReplyPart::Reasoning { opaque, .. } => opaque.clone(),
        _ => None,
    });
    let details = r#""reasoning_details":[{"type":"reasoning.text","text":"Hm.","signature":"c2ln","index":0}]"#;
    assert!(kept.unwrap().json.contains(details));
}

#[test]
fn a_call_is_demanded_in_the_words_of_each_server() {
    let name = WireName::new("read").unwrap();
    let choices =
        [ToolChoice::Auto, ToolChoice::None, ToolChoice::Required, ToolChoice::Named(name)];
    let said = |forced| {
        choices.clone().map(|choice| {
            let request = Request { choice, ..asking(vec![user("x")]) };
            let body = chat_body(Quirks { forced, ..Quirks::USUAL }, &request);
            let tools = body["tools"].as_array().unwrap().len();
            format!(
                "{} of {tools}",
                body.get("tool_choice").map_or("-".to_owned(), Value::to_string)
            )
        })
    };
    insta::assert_snapshot!(
        [Forced::Named, Forced::Alone, Forced::Any, Forced::Never].map(|it| said(it).join(", ")).join("\n"),
        @r#"
- of 2, "none" of 2, "required" of 2, {"type":"function","function":{"name":"read"}} of 2
- of 2, "none" of 2, "required" of 2, "required" of 1
- of 2, "none" of 2, "any" of 2, {"type":"function","function":{"name":"read"}} of 2
- of 2, "none" of 2, - of 2, - of 2
"#
    );
    let in_messages = choices.clone().map(|choice| {
        let mut request = Request { choice, ..asking(vec![user("x")]) };
        request.sampling.effort = Some(Effort::High);
        let body = messages_body(Quirks::USUAL, &request);
        format!("{} {} {}", body["tool_choice"], body["thinking"], body["output_config"])
    });
    insta::assert_snapshot!(in_messages.join("\n"), @r#"
null {"type":"adaptive"} {"effort":"high"}
{"type":"none"} {"type":"adaptive"} {"effort":"high"}
{"type":"any"} null {"effort":"high"}
{"type":"tool","name":"read","disable_parallel_tool_use":true} null {"effort":"high"}
"#);
}

#[test]
fn how_a_reply_is_made_stands_behind_the_messages() {
    let mut request = asking(vec![user("x")]);
    request.sampling.temperature = Some(0.2);
    request.sampling.seed = Some(7);
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
    let quirks = Quirks { cap: Cap::MaxCompletionTokens, ..Quirks::USUAL };
    let tail = |body: Value| {
        let fields = body.as_object().unwrap().clone();
        let fields = fields.into_iter().skip_while(|(name, _)| name != "messages").skip(1);
        Value::Object(fields.collect()).to_string()
    };
    insta::assert_snapshot!(tail(chat_body(quirks, &request)), @r#"{"parallel_tool_calls":true,"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false,"required":["a"]}}},"max_completion_tokens":64,"temperature":0.2,"seed":7,"reasoning_effort":"low","stream":true,"stream_options":{"include_usage":true}}"#);
    insta::assert_snapshot!(tail(messages_body(quirks, &request)), @r#"{"max_tokens":64,"thinking":{"type":"adaptive"},"output_config":{"effort":"low","format":{"type":"json_schema","schema":{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false,"required":["a"]}}},"stream":true}"#);
    request.sampling.output_tokens = None;
    assert_eq!(messages_body(quirks, &request)["max_tokens"], 4096);
    let bare = Quirks { counts: false, effort: false, parallel: false, ..quirks };
    insta::assert_snapshot!(tail(chat_body(bare, &request)), @r#"{"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false,"required":["a"]}}},"temperature":0.2,"seed":7,"stream":true}"#);
}

#[test]
fn schemas_are_told_in_the_dialect_of_the_server_and_arguments_brought_back() {
    let mut request = asking(vec![user("x")]);
    let mut tool = tools()[1].clone();
    tool.schema = Arc::new(json!({
        "type": "object",
        "properties": {"env": {"type": "object", "additionalProperties": {"type": "string"}}},
        "required": ["env"],
        "additionalProperties": false,
    }));
    request.tools = [tool].into();
    let body = chat_body(Quirks::USUAL, &request);
    assert_eq!(body["tools"][0]["function"]["parameters"]["properties"]["env"]["type"], "array");
    let event = json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "c1", "function": {
        "name": "read", "arguments": r#"{"env":[{"key":"HOME","value":"/root"}]}"#,
    }}]}, "finish_reason": "tool_calls"}]});
    let answer = Answer::stream(&format!("data: {event}\n\ndata: [DONE]\n\n"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (finished, _) =
        runtime.block_on(played(Dialect::ChatCompletions, answer, request)).unwrap();
    let ReplyPart::Call(call) = &finished.parts[0] else { panic!("no call") };
    assert_eq!(call.arguments, RawArguments::Json(json!({"env": {"HOME": "/root"}})));
}
