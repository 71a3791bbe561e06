//! The messages of a conversation.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    CallId, ContentPart, MessageId, ModelId, Notice, Outcome, RawArguments, StopReason, Timestamp,
    TokenUsage,
};

/// One entry of a transcript.
///
/// What a model asked for and what came of it are one entry, so that no result can stand without its call, and no call
/// can be shown to a model without its one result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Entry {
    /// Somebody said something to the model.
    User(UserMessage),
    /// The model replied, and its calls ended in these ways.
    Step(Step),
    /// A summary that stands for all entries before it, but the first task.
    Summary(Summary),
}

impl Entry {
    /// Returns the entry's id.
    pub fn id(&self) -> MessageId {
        match self {
            Self::User(it) => it.id,
            Self::Step(it) => it.reply.id,
            Self::Summary(it) => it.id,
        }
    }
}

/// What somebody said to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UserMessage {
    /// The message's id.
    pub id: MessageId,
    /// When it was said.
    pub at: Timestamp,
    /// What was said.
    pub content: Vec<ContentPart>,
    /// What the runtime has to say beside it, under its own name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
}

impl UserMessage {
    /// Tells whether there is nothing in it: no word, no image, no notice.
    pub fn is_empty(&self) -> bool {
        let is_blank = |part: &ContentPart| part.as_text().is_some_and(|it| it.trim().is_empty());
        self.notices.is_empty() && self.content.iter().all(is_blank)
    }
}

/// A summary of what came before, so that the rest fits into a model's window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The message's id.
    pub id: MessageId,
    /// When it was made.
    pub at: Timestamp,
    /// The summary.
    pub text: String,
    /// The first entry that it stands for.
    pub first: MessageId,
    /// The last entry that it stands for.
    pub last: MessageId,
    /// How many entries it stands for.
    pub entries: u64,
    /// Who wrote it.
    pub model: Option<ModelId>,
    /// What writing it took.
    #[serde(default)]
    pub usage: TokenUsage,
}

/// One reply of a model with the ends of its calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// What the model said.
    pub reply: Arc<Reply>,
    /// The ends of its calls, in the order of the calls. While a call has none, the step is open and no request can be
    /// made of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<Option<Arc<Outcome>>>,
}

impl Step {
    /// Makes a step whose calls are still to be made.
    pub fn new(reply: Reply) -> Self {
        let results = reply.calls().map(|_| None).collect();
        Self { reply: Arc::new(reply), results }
    }

    /// Returns each call with its end.
    pub fn calls(&self) -> impl Iterator<Item = (&RequestedCall, Option<&Arc<Outcome>>)> {
        let ends = self.results.iter().map(Option::as_ref).chain(std::iter::repeat(None));
        self.reply.calls().zip(ends)
    }

    /// Returns the calls that have no end yet.
    pub fn open_calls(&self) -> impl Iterator<Item = &RequestedCall> {
        self.calls().filter(|(_, end)| end.is_none()).map(|(call, _)| call)
    }
}

/// What a model said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The message's id.
    pub id: MessageId,
    /// When it was complete.
    pub at: Timestamp,
    /// The model that was asked.
    pub model: ModelId,
    /// What it said, in order.
    pub parts: Vec<ReplyPart>,
    /// Why it stopped.
    pub stop: StopReason,
    /// What the request took.
    #[serde(default)]
    pub usage: TokenUsage,
}

impl Reply {
    /// Returns the calls it asks for, in order.
    pub fn calls(&self) -> impl Iterator<Item = &RequestedCall> {
        self.parts.iter().filter_map(|part| match part {
            ReplyPart::Call(call) => Some(call),
            ReplyPart::Text { .. } | ReplyPart::Reasoning { .. } | ReplyPart::Opaque(_) => None,
        })
    }

    /// Returns what it said to its reader, without reasoning.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            ReplyPart::Text { text, .. } => Some(text.as_str()),
            ReplyPart::Reasoning { .. } | ReplyPart::Call(_) | ReplyPart::Opaque(_) => None,
        });
        texts.collect()
    }
}

/// One part of what a model said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ReplyPart {
    /// Text for its reader.
    Text {
        /// The text.
        text: String,
        /// The provider's own form, where it has to come back byte for byte.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opaque: Option<Opaque>,
    },
    /// Reasoning, as far as the provider shows it.
    Reasoning {
        /// The text; empty where only the provider can read it.
        text: String,
        /// The provider's own form, with its signature.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opaque: Option<Opaque>,
    },
    /// A wish for a call.
    Call(RequestedCall),
    /// Something that only the provider understands and wants back.
    Opaque(Opaque),
}

/// A call as a model wished for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequestedCall {
    /// The id of the call, ours: unique whatever the provider's is.
    pub id: CallId,
    /// The id that the provider gave it. It is left out where it cannot tell the call from others of the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// The wire name asked for, as it came.
    pub tool: String,
    /// The arguments as they came.
    #[serde(default)]
    pub arguments: RawArguments,
    /// Whether the provider showed that the arguments are whole. A call whose are not never runs.
    pub is_whole: bool,
    /// The provider's own form, where it has to come back byte for byte.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Opaque>,
}

impl RequestedCall {
    /// Returns the id that goes to the provider with the call and with its result.
    pub fn echoed_id(&self) -> Cow<'_, str> {
        match self.provider_id.as_deref() {
            Some(id) if !id.is_empty() => Cow::Borrowed(id),
            Some(_) | None => Cow::Owned(format!("call_{}", self.id)),
        }
    }
}

/// A provider's own form of a part, kept byte for byte.
///
/// It goes back to where it came from, and to nobody else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opaque {
    /// The dialect and the account or server that it came from, such as `anthropic-messages anthropic`.
    pub origin: Arc<str>,
    /// The JSON text.
    pub json: Arc<str>,
}
