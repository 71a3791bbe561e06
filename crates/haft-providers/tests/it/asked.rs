//! Models, requests and replies of the tests.

use std::sync::Arc;
use std::time::Duration;

use haft_model::{
    CallResult, ChatModel, Dialect, Finished, Fragment, ModelError, Part, Request, RequestMessage,
    Sampling, ToolSpec,
};
use haft_protocol::{ContentPart, MessageId, RawArguments, Reply, ReplyPart, StopReason};
use haft_providers::{
    Address, Dialer, Endpoint, Known, Patience, Quirks, RemoteModel, Rules, Secret,
};
use serde_json::{Value, json};

use crate::server::{Answer, Server};

pub(crate) fn dialer() -> Dialer {
    Dialer::new(Rules::default()).unwrap()
}

pub(crate) fn endpoint(dialect: Dialect, port: u16) -> Endpoint {
    let path = match dialect {
        Dialect::ChatCompletions | Dialect::Responses => "/v1",
        Dialect::Messages => "",
        Dialect::Gemini => "/v1beta",
    };
    let address = Address::parse(&format!("http://127.0.0.1:{port}{path}")).unwrap();
    let mut endpoint = Endpoint::new("test", dialect, address);
    endpoint.patience = Patience { first: Duration::from_secs(20), pause: Duration::from_secs(20) };
    endpoint.with_key(Some(Secret::new("sk-very-secret-1234")))
}

pub(crate) fn known() -> Known {
    Known { output_tokens: Some(4096), ..Known::default() }
}

pub(crate) fn chat(endpoint: Endpoint) -> RemoteModel {
    called("m-1", endpoint)
}

pub(crate) fn messages(endpoint: Endpoint) -> RemoteModel {
    called("m-2", endpoint)
}

pub(crate) fn responses(endpoint: Endpoint) -> RemoteModel {
    called("m-3", endpoint)
}

/// Returns a model of the third generation.
pub(crate) fn gemini(endpoint: Endpoint) -> RemoteModel {
    called("gemini-3-pro", endpoint)
}

pub(crate) fn called(name: &str, endpoint: Endpoint) -> RemoteModel {
    let id = haft_protocol::ModelId::new("test", name).unwrap();
    endpoint.model(id, known(), dialer()).unwrap()
}

/// Returns the body of a request to a server with these quirks.
pub(crate) fn body(dialect: Dialect, quirks: Quirks, request: &Request) -> Value {
    let mut endpoint = endpoint(dialect, 1);
    endpoint.quirks = quirks;
    let model = match dialect {
        Dialect::ChatCompletions => chat(endpoint),
        Dialect::Messages => messages(endpoint),
        Dialect::Responses => responses(endpoint),
        Dialect::Gemini => gemini(endpoint),
    };
    serde_json::from_slice(&model.body(request).unwrap()).unwrap()
}

/// Returns the reply that an answer is read as.
pub(crate) async fn reply_of(dialect: Dialect, answer: Answer) -> String {
    let (finished, _) = played(dialect, answer, asking(vec![user("x")])).await.unwrap();
    told(&finished)
}

/// Returns the error that an answer is read as.
pub(crate) async fn error_of(dialect: Dialect, answer: Answer) -> ModelError {
    played(dialect, answer, asking(vec![user("x")])).await.unwrap_err()
}

/// Two calls, one of which failed, and a question behind them.
pub(crate) fn conversation() -> Request {
    asking(vec![
        user("What is in a and b?"),
        reply(vec![
            text("Looking."),
            call("c1", r#"{"path": "a"}"#),
            call("c2", json!({"path": "b"})),
        ]),
        results(&[("c1", "alpha"), ("c2", "error: there is no b")]),
        user("And c?"),
    ])
}

pub(crate) fn model(dialect: Dialect, port: u16) -> RemoteModel {
    endpoint(dialect, port).model("test/m".parse().unwrap(), known(), dialer()).unwrap()
}

/// Plays an answer to a request and returns the reply with the pieces that were shown.
pub(crate) async fn played(
    dialect: Dialect,
    answer: Answer,
    request: Request,
) -> Result<(Finished, Vec<Part>), ModelError> {
    let server = Server::start(answer).await;
    all(&model(dialect, server.port), request).await
}

pub(crate) async fn all(
    model: &dyn ChatModel,
    request: Request,
) -> Result<(Finished, Vec<Part>), ModelError> {
    let mut stream = model.ask(Arc::new(request)).await?;
    let mut shown = Vec::new();
    while let Some(part) = stream.next().await {
        match part? {
            Part::Finished(finished) => return Ok((finished, shown)),
            part => shown.push(part),
        }
    }
    panic!("a stream ended without its end");
}

pub(crate) fn user(text: &str) -> Arc<Fragment> {
    Fragment::new(RequestMessage::User([ContentPart::text(text)].into()))
}

pub(crate) fn reply(parts: Vec<ReplyPart>) -> Arc<Fragment> {
    Fragment::new(RequestMessage::Reply(Arc::new(Reply {
        id: MessageId::from_parts(0, 0),
        at: haft_protocol::Timestamp::from_unix_ms(0),
        model: "test/m".parse().unwrap(),
        parts,
        stop: StopReason::Calls,
        usage: haft_protocol::TokenUsage::default(),
    })))
}

pub(crate) fn results(results: &[(&str, &str)]) -> Arc<Fragment> {
    let results = results.iter().map(|(id, text)| CallResult {
        provider_id: (*id).into(),
        tool: "read".into(),
        text: (*text).into(),
        images: [].into(),
        is_error: text.starts_with("error"),
    });
    Fragment::new(RequestMessage::Results(results.collect()))
}

pub(crate) fn call(id: &str, arguments: impl Into<RawArguments>) -> ReplyPart {
    ReplyPart::Call(haft_protocol::RequestedCall {
        id: Finished::NO_CALL,
        provider_id: Some(id.to_owned()),
        tool: "read".to_owned(),
        arguments: arguments.into(),
        is_whole: true,
        opaque: None,
    })
}

pub(crate) fn text(text: &str) -> ReplyPart {
    ReplyPart::Text { text: text.to_owned(), opaque: None }
}

pub(crate) fn tools() -> Arc<[ToolSpec]> {
    let schema = json!({
        "type": "object",
        "properties": {"path": {"type": "string"}},
        "required": ["path"],
        "additionalProperties": false,
    });
    let tool = |name: &str, description: &str| ToolSpec {
        name: haft_protocol::WireName::new(name).unwrap(),
        description: description.into(),
        schema: Arc::new(schema.clone()),
    };
    [tool("list", "Lists a directory."), tool("read", "Reads a file.")].into()
}

pub(crate) fn asking(messages: Vec<Arc<Fragment>>) -> Request {
    Request {
        system: "Be brief.".into(),
        messages: messages.into(),
        tools: tools(),
        sampling: Sampling { output_tokens: std::num::NonZeroU32::new(64), ..Sampling::default() },
        ..Request::default()
    }
}

/// Returns a reply in a line for each part.
pub(crate) fn told(finished: &Finished) -> String {
    let parts = finished.parts.iter().map(|part| match part {
        ReplyPart::Text { text, opaque } => format!("text {text:?}{}", own(opaque.as_ref())),
        ReplyPart::Reasoning { text, opaque } => {
            format!("reasoning {text:?}{}", own(opaque.as_ref()))
        }
        ReplyPart::Call(call) => {
            let arguments = match &call.arguments {
                RawArguments::Text(text) => text.clone(),
                RawArguments::Json(json) => json.to_string(),
            };
            let cut = if call.is_whole { "" } else { " (not whole)" };
            let id = call.provider_id.as_deref().unwrap_or("-");
            format!("call {id} {} {arguments}{cut}{}", call.tool, own(call.opaque.as_ref()))
        }
        ReplyPart::Opaque(opaque) => format!("opaque{}", own(Some(opaque))),
    });
    let mut lines: Vec<String> = parts.collect();
    let usage = serde_json::to_string(&finished.usage).unwrap();
    lines.push(format!(
        "{} {usage} {}",
        finished.stop,
        finished.served_by.as_deref().unwrap_or("-")
    ));
    lines.join("\n")
}

fn own(opaque: Option<&haft_protocol::Opaque>) -> String {
    opaque.map_or(String::new(), |opaque| format!(" = {}", opaque.json))
}

/// Returns what was shown, with pieces of the same kind joined.
pub(crate) fn shown(parts: &[Part]) -> Vec<String> {
    let mut seen: Vec<(String, String)> = Vec::new();
    for part in parts {
        let (kind, piece) = match part {
            Part::Text(text) => ("text".to_owned(), text.clone()),
            Part::Reasoning(text) => ("reasoning".to_owned(), text.clone()),
            Part::CallBegins { index, tool } => (format!("call {index} {tool}"), String::new()),
            Part::CallArguments { index, json } => (format!("arguments {index}"), json.clone()),
            Part::Finished(_) => ("finished".to_owned(), String::new()),
        };
        match seen.last_mut() {
            Some((last, text)) if *last == kind => text.push_str(&piece),
            _ => seen.push((kind, piece)),
        }
    }
    seen.into_iter().map(|(kind, text)| format!("{kind}: {text}")).collect()
}
