//! Answers to what is no message, or not one for now.

use haft_protocol::limits;
use haft_text::visible_line;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, GetMeta as _, JsonRpcMessage, ProtocolVersion,
    RequestId, RequestMetaObject,
};
use serde_json::{Value, json};

use super::id::IdScan;
use super::values;

/// Characters of what a client sent that are shown to it again.
const SHOWN: usize = 100;

/// Returns what to answer to a line that is no message; nothing to one that expects no answer.
pub(crate) fn to_no_message(line: &[u8]) -> Option<Value> {
    if line.is_empty() {
        return None;
    }
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(problem) => {
            let text = format!("this line is no JSON that can be read: {problem}");
            return Some(error(IdScan::of(line), ErrorCode::PARSE_ERROR, &text));
        }
    };
    let object = match &value {
        Value::Object(object) => object,
        Value::Array(_) => {
            let text = "a batch is no message of this protocol: send each on its own line";
            return Some(error(None, ErrorCode::INVALID_REQUEST, text));
        }
        _ => {
            return Some(error(None, ErrorCode::INVALID_REQUEST, "a message is a JSON object"));
        }
    };
    let id = object.get("id");
    let invalid = |text: &str| Some(error(id.cloned(), ErrorCode::INVALID_REQUEST, text));
    if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return invalid("a message says `\"jsonrpc\": \"2.0\"`");
    }
    let Some(method) = object.get("method") else {
        // An answer to nothing that was asked needs none itself.
        let is_answer = object.contains_key("result") || object.contains_key("error");
        let text = "a message has a `method`, or answers a request of the server's";
        return if is_answer { None } else { invalid(text) };
    };
    let id = id?;
    if !matches!(id, Value::String(_)) && id.as_i64().is_none() {
        let found = shown(&id.to_string());
        return invalid(&format!("the id of a request is a string or an integer: found `{found}`"));
    }
    let Some(method) = method.as_str() else {
        return invalid("the `method` of a request is a string");
    };
    if method == "ping" {
        return Some(pong(id));
    }
    let text = format!("the params of `{}` are not right", shown(method));
    Some(error(Some(id.clone()), ErrorCode::INVALID_PARAMS, &text))
}

/// Returns what to answer to a line that has more bytes than a message may have.
pub(super) fn to_too_long(id: Option<Value>) -> Value {
    let most = limits::MCP_LINE_BYTES;
    let text = format!("a message may have {most} bytes, and this one has more");
    error(id, ErrorCode::INVALID_REQUEST, &text)
}

/// Returns what to answer to a line that holds more values than a message may; nothing to any other.
pub(crate) fn to_too_many_values(line: &[u8]) -> Option<Value> {
    if !values::are_too_many(line) {
        return None;
    }
    let text = format!("a message may hold {} values, and this one holds more", values::MOST);
    Some(error(IdScan::of(line), ErrorCode::INVALID_REQUEST, &text))
}

/// Returns what to answer to a request while those under way are too large to take more of them in.
pub(super) fn to_too_much(id: &RequestId) -> Value {
    let text = "large requests of this client are under way, and no more are taken: wait for some of them to end";
    error(Some(json!(id)), ErrorCode::INTERNAL_ERROR, text)
}

/// Returns what to answer to a request under the id of another one that has no answer yet.
pub(super) fn to_used_id(id: &RequestId) -> Value {
    let text = format!(
        "a request with the id `{}` is under way, and each needs one of its own",
        shown(&id.to_string())
    );
    error(Some(json!(id)), ErrorCode::INVALID_REQUEST, &text)
}

/// Returns what to answer to a request of a client that has not said how it speaks; nothing where it does so now, or where
/// the server itself answers.
pub(super) fn to_unopened(message: &ClientJsonRpcMessage) -> Option<Value> {
    let JsonRpcMessage::Request(it) = message else { return None };
    let method = match &it.request {
        ClientRequest::InitializeRequest(_) | ClientRequest::PingRequest(_) => return None,
        ClientRequest::CustomRequest(request) if request.method == "initialize" => {
            let text = "the params of `initialize` are not right: `protocolVersion`, \
                        `capabilities` and `clientInfo` with a `name` and a `version` are needed";
            return Some(error(Some(json!(it.id)), ErrorCode::INVALID_PARAMS, text));
        }
        ClientRequest::CustomRequest(request) if request.method == "ping" => {
            return Some(pong(&json!(it.id)));
        }
        request => request.method(),
    };
    let missing = missing(it.request.get_meta());
    if missing.is_empty() {
        return None;
    }
    let text = format!(
        "`{}` came before `initialize`, and its `_meta` does not say how the client speaks: {} missing",
        shown(method),
        missing.join(", ")
    );
    Some(error(Some(json!(it.id)), ErrorCode::INVALID_PARAMS, &text))
}

/// How a client says how it speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    /// With a handshake, once.
    Handshake,
    /// With each request.
    EachRequest,
}

/// Returns how a message opens a connection, if it does. A probe for what the server speaks and a ping say nothing yet.
pub(super) fn opening(message: &ClientJsonRpcMessage) -> Option<Opening> {
    let JsonRpcMessage::Request(it) = message else { return None };
    match &it.request {
        ClientRequest::InitializeRequest(_) => Some(Opening::Handshake),
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => None,
        request => {
            let meta = request.get_meta();
            let is_known = |it| ProtocolVersion::KNOWN_VERSIONS.contains(&it);
            let is_whole =
                missing(meta).is_empty() && meta.protocol_version().is_some_and(is_known);
            is_whole.then_some(Opening::EachRequest)
        }
    }
}

/// Returns what to answer to a handshake on a connection that goes without: it would be agreed to and then not kept.
pub(super) fn to_late_handshake(message: &ClientJsonRpcMessage) -> Option<Value> {
    let JsonRpcMessage::Request(it) = message else { return None };
    let ClientRequest::InitializeRequest(request) = &it.request else { return None };
    let requested = request.params.protocol_version.as_str();
    let supported = ProtocolVersion::V_2026_07_28;
    let text = format!(
        "this connection was opened by a request of {supported}, which knows no handshake: \
         go on without, or connect anew"
    );
    let code = ErrorCode::UNSUPPORTED_PROTOCOL_VERSION;
    let mut answer = error(Some(json!(it.id)), code, &text);
    let data = json!({ "supported": [supported], "requested": shown(requested) });
    if let Some(Value::Object(error)) = answer.get_mut("error") {
        error.insert("data".to_owned(), data);
    }
    Some(answer)
}

/// Answers a ping. Whatever it says besides, it asks whether anybody is there.
fn pong(id: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": {} })
}

fn missing(meta: &RequestMetaObject) -> Vec<&'static str> {
    meta.missing_required_keys(&ProtocolVersion::V_2026_07_28)
}

fn shown(text: &str) -> String {
    let start: String = text.chars().take(SHOWN).collect();
    visible_line(&start).into_owned()
}

fn error(id: Option<Value>, code: ErrorCode, text: &str) -> Value {
    let error = json!({ "code": code.0, "message": text });
    match id {
        Some(id) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
        None => json!({ "jsonrpc": "2.0", "error": error }),
    }
}
