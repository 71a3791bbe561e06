//! A request in turns: each reply beside the ends of its calls.

use std::sync::Arc;

use haft_model::{CallResult, Fragment, ModelError, ModelErrorKind, Request, RequestMessage};
use haft_protocol::{ContentPart, Opaque, RawArguments, Reply, RequestedCall};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::json;

/// Text in place of an image that a model does not see.
pub(crate) const NO_IMAGE: &str = "[an image, left out: this model does not see images]";

/// One turn of a conversation, as dialects have them.
pub(crate) enum Turn<'a> {
    /// The model's, with what came of its calls: the ids it has to go by.
    Reply { fragment: &'a Fragment, reply: &'a Reply, results: &'a [CallResult] },
    /// The other side's.
    Other(Other<'a>),
}

/// What the other side says in one turn: first what came of calls, then what somebody said.
#[derive(Default)]
pub(crate) struct Other<'a> {
    pub(crate) results: Option<(&'a Fragment, &'a [CallResult])>,
    pub(crate) said: Vec<(&'a Fragment, &'a [ContentPart])>,
}

/// Returns the turns of a request.
///
/// # Errors
///
/// Fails where a reply's calls and the results behind it do not match: no provider would take that.
pub(crate) fn turns(request: &Request) -> Result<Vec<Turn<'_>>, ModelError> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for (at, fragment) in request.messages.iter().enumerate() {
        match fragment.message() {
            RequestMessage::Reply(reply) => {
                let results = match request.messages.get(at + 1).map(|next| next.message()) {
                    Some(RequestMessage::Results(results)) => results.as_ref(),
                    _ => &[],
                };
                let calls = reply.calls().count();
                if calls != results.len() {
                    return Err(unanswered(at, calls, results.len()));
                }
                turns.push(Turn::Reply { fragment, reply, results });
            }
            RequestMessage::Results(results) => {
                if !matches!(turns.last(), Some(Turn::Reply { .. })) {
                    return Err(unanswered(at, 0, results.len()));
                }
                let results = Some((fragment.as_ref(), results.as_ref()));
                turns.push(Turn::Other(Other { results, said: Vec::new() }));
            }
            RequestMessage::User(said) => {
                let said = (fragment.as_ref(), said.as_ref());
                match turns.last_mut() {
                    Some(Turn::Other(other)) => other.said.push(said),
                    _ => turns.push(Turn::Other(Other { results: None, said: vec![said] })),
                }
            }
        }
    }
    Ok(turns)
}

/// Returns the form of a fragment, made anew only where it was not made under this key.
pub(crate) fn rendered(
    fragment: &Fragment,
    key: &str,
    write: impl FnOnce() -> Result<String, serde_json::Error>,
) -> Result<Arc<str>, serde_json::Error> {
    let mut failed = None;
    let form = fragment.rendered(key, |_| {
        write().unwrap_or_else(|error| {
            failed = Some(error);
            String::new()
        })
    });
    failed.map_or(Ok(form), Err)
}

/// Puts a request together: what stands before the messages, the messages in the field that has them, and what stands
/// behind them.
pub(crate) fn spliced(
    head: &impl Serialize,
    field: &str,
    messages: &[Arc<str>],
    tail: &impl Serialize,
) -> Result<Vec<u8>, serde_json::Error> {
    let (head, tail) = (serde_json::to_string(head)?, serde_json::to_string(tail)?);
    let bytes = messages.iter().map(|message| message.len() + 1).sum::<usize>();
    let mut body = Vec::with_capacity(head.len() + bytes + tail.len() + 16);
    let head = head.strip_suffix('}').unwrap_or(&head);
    body.extend_from_slice(head.as_bytes());
    body.extend_from_slice(if head == "{" { b"\"" } else { b",\"" });
    body.extend_from_slice(field.as_bytes());
    body.extend_from_slice(b"\":[");
    for (at, message) in messages.iter().filter(|message| !message.is_empty()).enumerate() {
        if at > 0 {
            body.push(b',');
        }
        body.extend_from_slice(message.as_bytes());
    }
    let tail = tail.strip_prefix('{').unwrap_or(&tail);
    body.extend_from_slice(if tail == "}" { b"]" } else { b"]," });
    body.extend_from_slice(tail.as_bytes());
    Ok(body)
}

/// JSON values as they stand in a list, one behind the other.
#[derive(Default)]
pub(crate) struct Blocks(String);

impl Blocks {
    /// Adds a value.
    pub(crate) fn push(&mut self, block: &impl Serialize) -> Result<(), serde_json::Error> {
        self.join(&serde_json::to_string(block)?);
        Ok(())
    }

    /// Adds values that stand one behind the other already.
    pub(crate) fn join(&mut self, blocks: &str) {
        if !self.0.is_empty() && !blocks.is_empty() {
            self.0.push(',');
        }
        self.0.push_str(blocks);
    }

    /// Adds a value byte for byte, where there is one.
    pub(crate) fn extend(&mut self, own: Option<&RawValue>) {
        self.join(own.map_or("", RawValue::get));
    }

    /// Returns the values.
    pub(crate) fn finish(self) -> String {
        self.0
    }
}

/// Returns what a server made itself, byte for byte; nothing where somebody else did.
pub(crate) fn own(opaque: Option<&Opaque>, origin: &str) -> Option<Box<RawValue>> {
    json::read_raw(&opaque.filter(|own| *own.origin == *origin)?.json)
}

/// Returns the name of the tool that a call asks for, for servers that want some name.
pub(crate) fn tool_of(call: &RequestedCall) -> &str {
    if call.tool.is_empty() { "unnamed" } else { &call.tool }
}

fn unanswered(at: usize, calls: usize, results: usize) -> ModelError {
    let text = format!(
        "the request cannot be made: message {at} asks for {calls} calls, and has results of {results}"
    );
    ModelError::new(ModelErrorKind::BadRequest, text)
}

/// Returns the arguments of a call as an object, byte for byte where they are one.
///
/// What is no object goes back as an object that holds it: a model should see what it wrote, and servers read the
/// arguments of every earlier call.
pub(crate) fn arguments(call: &RequestedCall) -> Result<Box<RawValue>, serde_json::Error> {
    let text = match &call.arguments {
        RawArguments::Json(object @ Value::Object(_)) => return json::raw(object),
        RawArguments::Json(Value::Null) => return json::raw(&serde_json::json!({})),
        RawArguments::Json(other) => other.to_string(),
        RawArguments::Text(text) => text.trim().to_owned(),
    };
    if text.is_empty() || text == "null" {
        return json::raw(&serde_json::json!({}));
    }
    let object = json::read_raw(&text).filter(|object| object.get().starts_with('{'));
    match object {
        Some(object) => Ok(object),
        None => json::raw(&serde_json::json!({ "unreadable_arguments": text })),
    }
}

/// Returns the text that stands for a part of content.
pub(crate) fn text_of(part: &ContentPart) -> String {
    match part {
        ContentPart::Text { text } => text.clone(),
        ContentPart::Image { .. } => NO_IMAGE.to_owned(),
        ContentPart::Artifact { id, title, media_type, bytes } => {
            format!("[{title}: {media_type}, {bytes} bytes, stored as {id}]")
        }
    }
}

/// Makes the error of a value that could not be written, which none of ours does.
pub(crate) fn unwritable(error: &serde_json::Error) -> ModelError {
    ModelError::new(ModelErrorKind::BadRequest, format!("the request cannot be written: {error}"))
}
