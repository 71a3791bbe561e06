//! The items that a reply in Responses is made of, as the server has them.

use serde_json::{Map, Value};

use crate::json::{self, RawObject};

/// What stands between two summaries of one reasoning.
pub(super) const PARAGRAPH: &str = "\n\n";

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Text for its reader.
    Message,
    /// Reasoning, sealed or as a summary.
    Reasoning,
    /// A wish for a call.
    Call,
}

impl Kind {
    /// Returns what an item is; nothing where only its server understands it.
    pub(super) fn of(own: &RawObject) -> Option<Self> {
        match own.text("type").as_deref() {
            Some("message") => Some(Self::Message),
            Some("reasoning") => Some(Self::Reasoning),
            Some("function_call") => Some(Self::Call),
            _ => None,
        }
    }
}

/// Returns the ids that an item goes by: its own, then that of its call.
pub(super) fn names(own: &RawObject) -> impl Iterator<Item = String> + '_ {
    let names = ["id", "call_id"].into_iter().filter_map(|name| own.text(name));
    names.filter(|name| !name.is_empty())
}

/// Returns the arguments of a call as text, in whichever shape they are.
pub(super) fn arguments(own: &RawObject) -> String {
    match own.get("arguments") {
        Some(object) if object.starts_with('{') => object.to_owned(),
        Some(_) | None => own.text("arguments").unwrap_or_default(),
    }
}

/// What a message says.
pub(super) struct Message {
    pub(super) text: String,
    /// Whether it is, or has within it, a refusal.
    pub(super) refused: bool,
    /// Whether its text is all there is to it.
    pub(super) is_plain: bool,
}

/// Reads a message.
pub(super) fn said(own: &RawObject) -> Message {
    let mut message = Message { text: String::new(), refused: false, is_plain: true };
    let known = |name: &str| matches!(name, "type" | "id" | "role" | "status" | "content");
    message.is_plain = own.0.iter().all(|(name, value)| known(name) || value.get() == "null");
    for part in parts(own, "content") {
        for (name, value) in &part {
            match (name.as_str(), value) {
                ("text" | "refusal", Value::String(text)) => {
                    message.refused |= name == "refusal" && !text.is_empty();
                    message.text.push_str(&json::joined(text));
                }
                ("type", _) | (_, Value::Null) => {}
                (_, Value::Array(list)) if list.is_empty() => {}
                _ => message.is_plain = false,
            }
        }
    }
    message
}

/// Returns what may be read of reasoning: its summaries, else what was thought itself.
pub(super) fn thoughts(own: &RawObject) -> String {
    let texts = |field: &str| {
        let texts = parts(own, field).into_iter().filter_map(|part| match part.get("text") {
            Some(Value::String(text)) => Some(json::joined(text)),
            _ => None,
        });
        texts.collect::<Vec<_>>().join(PARAGRAPH)
    };
    let summary = texts("summary");
    if summary.is_empty() { texts("content") } else { summary }
}

/// Tells whether reasoning is there in a form that its server can read, and nobody else.
pub(super) fn is_sealed(own: &RawObject) -> bool {
    own.text("encrypted_content").is_some_and(|sealed| !sealed.is_empty())
}

/// Tells whether there is something in reasoning that its server can read. Of one that is an id alone, it would say that it
/// kept nothing by that name.
pub(super) fn can_be_read(own: &RawObject) -> bool {
    is_sealed(own) || !parts(own, "content").is_empty()
}

fn parts(own: &RawObject, field: &str) -> Vec<Map<String, Value>> {
    own.get(field).and_then(|parts| serde_json::from_str(parts).ok()).unwrap_or_default()
}
