//! How many tokens something takes, before a provider has counted them.

mod anchor;
mod characters;
mod estimator;

use std::fmt;

use haft_protocol::{ContentPart, ImageType, Opaque, RawArguments, Reply, ReplyPart};

use crate::{CallResult, Request, RequestMessage, ToolSpec};
pub use anchor::{Anchor, Anchored};
pub use estimator::Estimator;

/// Tokens around one message, for its role and its ends.
const AROUND_MESSAGE: u64 = 6;
/// Tokens around one call or one result, with ids and keys of their form.
const AROUND_CALL: u64 = 24;
/// Tokens around one tool.
const AROUND_TOOL: u64 = 16;
/// Bytes of an opaque part that stand for one token of what it hides: base64, of at least three bytes a token.
const OPAQUE_BYTES: u64 = 4;

/// Counts tokens.
///
/// A counter that is not exact counts too many rather than too few: a request that is shortened too early costs a little,
/// one that is too long costs a turn.
pub trait TokenCounter: Send + Sync + fmt::Debug + 'static {
    /// Counts a text.
    fn text(&self, text: &str) -> u64;

    /// Counts an image.
    fn image(&self, media_type: ImageType, data: &[u8]) -> u64;

    /// Counts what stands before the first tool wherever there are any.
    fn before_tools(&self) -> u64;

    /// Counts a tool with its description and its schema.
    fn tool(&self, tool: &ToolSpec) -> u64 {
        let texts = [
            self.text(tool.name.as_str()),
            self.text(&tool.description),
            self.text(&tool.schema.to_string()),
            AROUND_TOOL,
        ];
        sum(texts)
    }

    /// Counts a message.
    fn message(&self, message: &RequestMessage) -> u64 {
        let inside = match message {
            RequestMessage::User(parts) => sum(parts.iter().map(|it| self.part(it))),
            RequestMessage::Reply(reply) => self.reply(reply),
            RequestMessage::Results(results) => sum(results.iter().map(|it| self.result(it))),
        };
        inside.saturating_add(AROUND_MESSAGE)
    }

    /// Counts a part of what somebody said, or of a result.
    fn part(&self, part: &ContentPart) -> u64 {
        match part {
            ContentPart::Text { text } => self.text(text),
            ContentPart::Image { media_type, data } => self.image(*media_type, data),
            ContentPart::Artifact { title, media_type, .. } => {
                sum([self.text(title), self.text(media_type), AROUND_CALL])
            }
        }
    }

    /// Counts what a model said.
    fn reply(&self, reply: &Reply) -> u64 {
        let hidden = |opaque: &Option<Opaque>| {
            opaque.as_ref().map_or(0, |it| (it.json.len() as u64).div_ceil(OPAQUE_BYTES))
        };
        sum(reply.parts.iter().map(|part| match part {
            ReplyPart::Text { text, opaque } | ReplyPart::Reasoning { text, opaque } => {
                self.text(text).max(hidden(opaque))
            }
            ReplyPart::Call(call) => {
                let arguments = match &call.arguments {
                    RawArguments::Text(text) => self.text(text),
                    RawArguments::Json(value) => self.text(&value.to_string()),
                };
                sum([self.text(&call.tool), arguments.max(hidden(&call.opaque)), AROUND_CALL])
            }
            ReplyPart::Opaque(opaque) => (opaque.json.len() as u64).div_ceil(OPAQUE_BYTES),
        }))
    }

    /// Counts what came of a call.
    fn result(&self, result: &CallResult) -> u64 {
        let images = sum(result.images.iter().map(|it| self.part(it)));
        sum([self.text(&result.tool), self.text(&result.text), images, AROUND_CALL])
    }

    /// Counts a whole request: what its operator says, its tools and its messages.
    fn request(&self, request: &Request) -> u64 {
        let system = match &*request.system {
            "" => 0,
            text => self.text(text).saturating_add(AROUND_MESSAGE),
        };
        let tools = match &*request.tools {
            [] => 0,
            tools => sum(tools.iter().map(|it| self.tool(it))).saturating_add(self.before_tools()),
        };
        let format = request.format.as_ref().map_or(0, |it| self.text(&it.schema.to_string()));
        let messages = sum(request.messages.iter().map(|it| self.message(it.message())));
        sum([system, tools, format, messages, AROUND_MESSAGE])
    }
}

fn sum(tokens: impl IntoIterator<Item = u64>) -> u64 {
    tokens.into_iter().fold(0, u64::saturating_add)
}
