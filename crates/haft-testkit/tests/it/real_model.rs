//! What a real server sends, in each of the ways it speaks. The recordings that `haft-providers` is tested with are these
//! exchanges: `HAFT_CASSETTES=update` in the environment writes them anew.
//!
//! Without the parts that `cargo xtask testbeds` brings, the tests say so and pass.

mod exchange;

use haft_testkit::{Event, ModelServer, Weights};
use serde_json::{Value, json};

use self::exchange::{call, chat, keep, messages, plain, read, record, responses, with};

const CHAT: &str = "/v1/chat/completions";
const RESPONSES: &str = "/v1/responses";
const MESSAGES: &str = "/v1/messages";

/// The kinds of the events of a stream that names them.
fn kinds(events: &[Event]) -> Vec<&str> {
    let mut kinds: Vec<_> = events.iter().map(|it| it.name.as_deref().unwrap_or("none")).collect();
    kinds.dedup();
    kinds
}

/// The chunks of a stream of Chat Completions, and whether it says that it is whole.
fn chunks(events: &[Event]) -> (Vec<Value>, bool) {
    assert!(events.iter().all(|it| it.name.is_none()));
    let (last, before) = events.split_last().unwrap();
    let is_whole = last.data == "[DONE]";
    let chunks = if is_whole { before } else { events };
    (chunks.iter().map(data).collect(), is_whole)
}

fn data(event: &Event) -> Value {
    serde_json::from_str(&event.data).unwrap()
}

/// Joins the text at a place of each of the values.
fn joined<'a>(values: impl IntoIterator<Item = &'a Value>, place: &str) -> String {
    values.into_iter().filter_map(|it| it.pointer(place)?.as_str()).collect()
}

/// Whether an answer, or the last piece of one, has come to an end. Whether the model has said all it wanted is up to it.
fn ends(answer: &Value) -> bool {
    ["stop", "length"].map(Value::from).contains(&answer["choices"][0]["finish_reason"])
}

#[test]
fn the_server_names_its_model() {
    let Some(server) = ModelServer::shared() else { return };
    let models = record(server, "models", "/v1/models", None).json();
    assert_eq!(models["data"][0]["id"], server.weights().name());
    assert_eq!(models["data"][0]["meta"]["n_ctx_train"], 8192);
    let properties = record(server, "properties", "/props", None).json();
    assert_eq!(properties["default_generation_settings"]["n_ctx"], 4096);
    assert_eq!(properties["total_slots"], 2);
}

#[test]
fn a_chat_is_answered_whole_and_in_pieces() {
    let Some(server) = ModelServer::shared() else { return };
    let whole = record(server, "chat-whole", CHAT, Some(chat(&plain(), 24))).json();
    assert!(ends(&whole), "{whole}");
    assert!(!joined([&whole], "/choices/0/message/content").is_empty());

    let request = with(chat(&plain(), 24), &json!({ "stream": true }));
    let (pieces, is_whole) = chunks(&record(server, "chat", CHAT, Some(request)).events());
    assert!(is_whole);
    assert_eq!(pieces[0]["choices"][0]["delta"], json!({ "role": "assistant", "content": null }));
    assert!(!joined(&pieces, "/choices/0/delta/content").is_empty());
    assert!(ends(pieces.last().unwrap()));
    assert!(pieces.iter().all(|it| it["usage"].is_null()));

    let usage = json!({ "stream": true, "stream_options": { "include_usage": true } });
    let request = with(chat(&plain(), 4), &usage);
    let (pieces, is_whole) = chunks(&record(server, "chat-usage", CHAT, Some(request)).events());
    assert!(is_whole);
    let [.., last, usage] = pieces.as_slice() else { panic!("{pieces:?}") };
    assert_eq!(last["choices"][0]["finish_reason"], "length");
    assert_eq!(usage["choices"], json!([]));
    assert_eq!(usage["usage"]["completion_tokens"], 4);
}

#[test]
fn a_required_call_comes_whole_and_in_pieces() {
    let Some(server) = ModelServer::shared() else { return };
    let request = with(chat(&read(), 60), &call(CHAT));
    let whole = record(server, "chat-call-whole", CHAT, Some(request.clone())).json();
    assert_eq!(whole["choices"][0]["finish_reason"], "tool_calls");
    let called = &whole["choices"][0]["message"]["tool_calls"][0]["function"];
    assert_eq!(
        called,
        &json!({ "name": "read_file", "arguments": r#"{"path":"notes/todo.txt"}"# })
    );

    let usage = json!({ "stream": true, "stream_options": { "include_usage": true } });
    let request = with(request, &usage);
    let (pieces, is_whole) = chunks(&record(server, "chat-call", CHAT, Some(request)).events());
    assert!(is_whole);
    let place = "/choices/0/delta/tool_calls/0/function";
    assert_eq!(joined(&pieces, &format!("{place}/name")), "read_file");
    assert_eq!(joined(&pieces, &format!("{place}/arguments")), r#"{"path":"notes/todo.txt"}"#);

    let turns = json!([
        { "role": "user", "content": read() },
        { "role": "assistant", "content": null, "tool_calls": [
            { "id": "1", "type": "function", "function": called },
        ] },
        { "role": "tool", "tool_call_id": "1", "content": "Buy milk." },
    ]);
    let request = with(chat(&read(), 12), &json!({ "messages": turns, "stream": true }));
    let (pieces, is_whole) = chunks(&record(server, "chat-result", CHAT, Some(request)).events());
    assert!(is_whole && !joined(&pieces, "/choices/0/delta/content").is_empty());
}

#[test]
fn a_call_that_is_cut_is_none_until_nothing_of_it_is_missing() {
    let Some(server) = ModelServer::shared() else { return };
    let request = with(chat(&read(), 22), &call(CHAT));
    let whole = record(server, "chat-call-cut-whole", CHAT, Some(request.clone())).json();
    assert_eq!(whole["choices"][0]["finish_reason"], "length");
    assert!(whole["choices"][0]["message"]["tool_calls"].is_null());

    let streamed = json!({ "stream": true });
    let request = with(request, &streamed);
    let (pieces, is_whole) = chunks(&record(server, "chat-call-cut", CHAT, Some(request)).events());
    assert!(!is_whole);
    assert!(pieces.iter().all(|it| it["choices"][0]["finish_reason"].is_null()));
    assert_eq!(pieces.last().unwrap()["error"]["code"], 500);

    // What is missing where the call itself is whole differs from run to run, as blanks do.
    let request = with(chat(&read(), 60), &call(CHAT));
    let all = server.post(CHAT, &request).json()["usage"]["completion_tokens"].as_u64().unwrap();
    let late = [4, 3, 5, 2, 6, 1, 7].into_iter().find_map(|fewer| {
        let most = json!({ "stream": true, "max_tokens": all - fewer });
        let request = with(request.clone(), &most);
        let answer = server.post(CHAT, &request);
        let (pieces, is_whole) = chunks(&answer.events());
        let reason = &pieces.last().unwrap()["choices"][0]["finish_reason"];
        (is_whole && reason == "length").then_some((request, answer, pieces))
    });
    let (request, answer, pieces) = late.unwrap();
    keep("chat-call-late", CHAT, Some(&request), &answer);
    let place = "/choices/0/delta/tool_calls/0/function/arguments";
    assert_eq!(joined(&pieces, place), r#"{"path":"notes/todo.txt"}"#);
}

#[test]
fn an_answer_keeps_to_a_schema() {
    let Some(server) = ModelServer::shared() else { return };
    let schema = json!({
        "type": "object",
        "properties": {
            "answer": { "enum": ["yes", "no"] },
            "certainty": { "type": "integer", "minimum": 0, "maximum": 10 },
        },
        "required": ["answer", "certainty"],
        "additionalProperties": false,
    });
    let format = json!({
        "response_format": {
            "type": "json_schema",
            "json_schema": { "name": "answer", "strict": true, "schema": schema },
        },
        "stream": true,
    });
    let request = with(chat("Is the sky blue?", 60), &format);
    let (pieces, is_whole) = chunks(&record(server, "chat-schema", CHAT, Some(request)).events());
    assert!(is_whole);
    let text = joined(&pieces, "/choices/0/delta/content");
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert!(["yes", "no"].map(Value::from).contains(&answer["answer"]), "{text}");
    assert!(answer["certainty"].as_u64().is_some_and(|it| it <= 10), "{text}");
    assert_eq!(answer.as_object().unwrap().len(), 2, "{text}");
}

#[test]
fn a_prompt_that_is_too_long_is_refused_with_both_numbers() {
    let Some(server) = ModelServer::start(Weights::Small, 256) else { return };
    let long = "word ".repeat(300);
    let streamed = json!({ "stream": true });
    for (name, path, request) in [
        ("chat-overflow", CHAT, chat(&long, 8)),
        ("responses-overflow", RESPONSES, responses(&long, 8)),
        ("messages-overflow", MESSAGES, messages(&long, 8)),
    ] {
        let answer = record(&server, name, path, Some(with(request, &streamed)));
        assert_eq!(answer.status, 400, "{}", answer.body);
        let error = &answer.json()["error"];
        assert_eq!(error["type"], "exceed_context_size_error");
        assert_eq!(error["n_ctx"], 256);
        assert!(error["n_prompt_tokens"].as_u64().is_some_and(|it| it > 300), "{error}");
    }
}

#[test]
fn responses_come_in_their_own_events() {
    let Some(server) = ModelServer::shared() else { return };
    let streamed = json!({ "stream": true });
    let request = with(responses(&plain(), 24), &streamed);
    let events = record(server, "responses", RESPONSES, Some(request)).events();
    assert_eq!(
        kinds(&events),
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed",
        ]
    );

    let request = with(with(responses(&read(), 60), &call(RESPONSES)), &streamed);
    let events = record(server, "responses-call", RESPONSES, Some(request)).events();
    assert_eq!(
        kinds(&events),
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.function_call_arguments.delta",
            "response.output_item.done",
            "response.completed",
        ]
    );
    let item = &data(events.last().unwrap())["response"]["output"][0];
    assert_eq!(item["arguments"], r#"{"path":"notes/todo.txt"}"#);

    // This server does not tell that the answer was cut.
    let request = with(responses(&plain(), 4), &streamed);
    let events = record(server, "responses-cut", RESPONSES, Some(request)).events();
    assert_eq!(data(events.last().unwrap())["response"]["status"], "completed");

    let request = with(with(responses(&read(), 22), &call(RESPONSES)), &streamed);
    let events = record(server, "responses-call-cut", RESPONSES, Some(request)).events();
    assert_eq!(data(events.last().unwrap())["error"]["code"], 500);
}

#[test]
fn messages_come_in_their_own_events() {
    let Some(server) = ModelServer::shared() else { return };
    let streamed = json!({ "stream": true });
    let named = [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ];
    let request = with(messages(&plain(), 24), &streamed);
    let events = record(server, "messages", MESSAGES, Some(request)).events();
    assert_eq!(kinds(&events), named);

    let request = with(with(messages(&read(), 60), &call(MESSAGES)), &streamed);
    let events = record(server, "messages-call", MESSAGES, Some(request)).events();
    assert_eq!(kinds(&events), named);
    let values: Vec<_> = events.iter().map(data).collect();
    assert_eq!(joined(&values, "/content_block/name"), "read_file");
    assert_eq!(joined(&values, "/delta/partial_json"), r#"{"path":"notes/todo.txt"}"#);
    assert_eq!(joined(&values, "/delta/stop_reason"), "tool_use");

    let request = with(messages(&plain(), 4), &streamed);
    let events = record(server, "messages-cut", MESSAGES, Some(request)).events();
    assert_eq!(
        joined(&events.iter().map(data).collect::<Vec<_>>(), "/delta/stop_reason"),
        "max_tokens"
    );

    let request = with(with(messages(&read(), 22), &call(MESSAGES)), &streamed);
    let events = record(server, "messages-call-cut", MESSAGES, Some(request)).events();
    assert_eq!(
        kinds(&events),
        ["message_start", "content_block_start", "content_block_delta", "error"]
    );
}

#[test]
fn the_large_model_reads_and_then_answers() {
    let Some(server) = ModelServer::start(Weights::Large, 2048) else { return };
    let question = "What is the launch code in notes/todo.txt?";
    let request = with(chat(question, 60), &call(CHAT));
    let reply = server.post(CHAT, &request).json()["choices"][0]["message"].clone();
    let called = &reply["tool_calls"][0];
    assert_eq!(called["function"]["name"], "read_file");

    let result = "Water the plants. The launch code is 7Q-ORANGE.";
    let result = json!({ "role": "tool", "tool_call_id": called["id"], "content": result });
    let asked = json!({ "role": "user", "content": question });
    let turns = json!({ "messages": [asked, reply, result] });
    let reply = server.post(CHAT, &with(chat(question, 40), &turns)).json();
    let text = reply["choices"][0]["message"]["content"].as_str().unwrap();
    assert!(text.contains("7Q-ORANGE"), "{text}");
}
