//! A request in Chat Completions.
//!
//! What stays the same from turn to turn stands first: model, tools, system, messages. So each request is a prefix of the next
//! as far as its messages go, and servers need not read it twice.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use haft_model::{CallResult, Effort, ModelError, Request};
use haft_protocol::{ContentPart, Reply, ReplyPart};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::choice::Choice;
use crate::exchange::Exchange;
use crate::ids::fitting;
use crate::json::{self, RawObject};
use crate::schema::marked;
use crate::turns::{self, Other, Turn};
use crate::{Cap, NoText, ReasoningBack};

type Written<T> = Result<T, serde_json::Error>;

/// What stands before the messages.
#[derive(Serialize)]
struct Head<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
}

/// What stands behind the messages: each request may say something else here.
#[derive(Serialize)]
struct Tail {
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<Value>,
}

/// Returns the bytes of a request.
pub(super) fn body(exchange: &Exchange, request: &Request) -> Result<Vec<u8>, ModelError> {
    let turns = turns::turns(request)?;
    write(exchange, request, &turns).map_err(|error| turns::unwritable(&error))
}

fn write(exchange: &Exchange, request: &Request, turns: &[Turn<'_>]) -> Written<Vec<u8>> {
    let quirks = exchange.endpoint.quirks;
    let writer = Writer::new(exchange);
    let mut messages: Vec<Arc<str>> = Vec::new();
    if !request.system.is_empty() {
        messages.push(json!({"role": "system", "content": request.system}).to_string().into());
    }
    for turn in turns {
        match turn {
            Turn::Reply { fragment, reply, results } => {
                let key = writer.key_of(results);
                let write = || writer.reply(reply, results);
                messages.push(turns::rendered(fragment, &key, write)?);
            }
            Turn::Other(other) => writer.other(other, &mut messages)?,
        }
    }
    let choice = Choice::of(request, exchange);
    let lowering = exchange.lowered(request);
    let tools: Vec<_> = lowering
        .tools()
        .filter(|(tool, _)| choice.shows(tool))
        .map(|(tool, lowered)| {
            let function = json!({
                "name": tool.name,
                "description": tool.description,
                "parameters": lowered.schema,
            });
            json!({"type": "function", "function": marked(function, lowered)})
        })
        .collect();
    let format = lowering.format().map(|(format, lowered)| {
        let schema = json!({"name": format.name, "schema": lowered.schema});
        json!({"type": "json_schema", "json_schema": marked(schema, lowered)})
    });
    let cap = request.sampling.output_tokens.map(std::num::NonZeroU32::get);
    let sampling = exchange.sampling(request);
    let tail = Tail {
        tool_choice: choice.word(|name| json!({"type": "function", "function": {"name": name}})),
        parallel_tool_calls: (quirks.parallel && !tools.is_empty()).then_some(!choice.is_one()),
        response_format: format,
        max_tokens: cap.filter(|_| quirks.cap == Cap::MaxTokens),
        max_completion_tokens: cap.filter(|_| quirks.cap == Cap::MaxCompletionTokens),
        temperature: sampling.temperature,
        seed: request.sampling.seed,
        reasoning_effort: sampling.effort.map(Effort::as_str),
        stream: true,
        stream_options: quirks.counts.then(|| json!({"include_usage": true})),
    };
    turns::spliced(&Head { model: exchange.facts.id.name(), tools }, "messages", &messages, &tail)
}

struct Writer<'a> {
    exchange: &'a Exchange,
    /// All that the form of a message depends on beside the message.
    key: String,
}

impl<'a> Writer<'a> {
    fn new(exchange: &'a Exchange) -> Self {
        let facts = &exchange.facts;
        let quirks = exchange.endpoint.quirks;
        let key = format!("{} {:?} {quirks:?}", facts.origin, facts.sees_images);
        Self { exchange, key }
    }

    /// The form of a reply depends on the ids that its calls go by.
    fn key_of(&self, results: &[CallResult]) -> String {
        let ids = results.iter().map(|result| result.provider_id.as_ref());
        std::iter::once(self.key.as_str()).chain(ids).collect::<Vec<_>>().join(" ")
    }

    fn reply(&self, reply: &Reply, results: &[CallResult]) -> Written<String> {
        let quirks = self.exchange.endpoint.quirks;
        let mut message = RawObject::default();
        message.set("role", "assistant")?;
        let text = reply.text();
        let has_calls = !results.is_empty();
        match quirks.no_text {
            NoText::Null if text.is_empty() && has_calls => message.set("content", &())?,
            NoText::Absent if text.is_empty() && has_calls => {}
            _ => message.set("content", &text)?,
        }
        let goes_back = match quirks.reasoning {
            ReasoningBack::Never => false,
            ReasoningBack::WithCalls => has_calls,
            ReasoningBack::Always => true,
        };
        if goes_back {
            for (field, value) in self.reasoning(reply) {
                message.set(&field, &value)?;
            }
        }
        let calls = reply.calls().zip(results).map(|(call, result)| {
            let mut entry = RawObject::default();
            entry.set("id", &fitting(&result.provider_id, quirks.ids))?;
            entry.set("type", "function")?;
            let arguments = turns::arguments(call)?;
            let name = turns::tool_of(call);
            entry.set("function", &json!({"name": name, "arguments": arguments.get()}))?;
            let own = call.opaque.as_ref().filter(|own| *own.origin == *self.exchange.facts.origin);
            if let Some(extra) = own.and_then(|own| json::read_raw(&own.json)) {
                entry.set("extra_content", &extra)?;
            }
            Ok(entry)
        });
        let calls = calls.collect::<Written<Vec<_>>>()?;
        if !calls.is_empty() {
            message.set("tool_calls", &calls)?;
        }
        serde_json::to_string(&message)
    }

    /// Returns the fields of reasoning that this server has sent itself.
    fn reasoning(&self, reply: &Reply) -> Vec<(String, Box<RawValue>)> {
        let fields = reply.parts.iter().filter_map(|part| match part {
            ReplyPart::Reasoning { opaque: Some(own), .. } => {
                let is_its = *own.origin == *self.exchange.facts.origin;
                is_its.then(|| serde_json::from_str::<RawObject>(&own.json).ok()).flatten()
            }
            _ => None,
        });
        fields.flat_map(|object| object.0).collect()
    }

    fn other(&self, other: &Other<'_>, messages: &mut Vec<Arc<str>>) -> Written<()> {
        let mut parts = Vec::new();
        if let Some((fragment, results)) = other.results {
            messages.push(turns::rendered(fragment, &self.key, || self.results(results))?);
            // A result is text alone here: its images follow as if somebody had shown them.
            for result in results.iter().filter(|result| self.sees() && !result.images.is_empty()) {
                parts.push(Piece::Text(format!("Images of the result of `{}`:", result.tool)));
                parts.extend(result.images.iter().map(|image| self.piece(image)));
            }
        }
        match (parts.is_empty(), other.said.as_slice()) {
            (true, []) => {}
            (true, [(fragment, said)]) => {
                let write = || user(said.iter().map(|part| self.piece(part)).collect());
                messages.push(turns::rendered(fragment, &self.key, write)?);
            }
            (_, said) => {
                let said = said.iter().flat_map(|(_, said)| said.iter());
                parts.extend(said.map(|part| self.piece(part)));
                messages.push(user(parts)?.into());
            }
        }
        Ok(())
    }

    fn results(&self, results: &[CallResult]) -> Written<String> {
        let ids = self.exchange.endpoint.quirks.ids;
        let messages = results.iter().map(|result| {
            let id = fitting(&result.provider_id, ids);
            let content = self.result_text(result);
            serde_json::to_string(&json!({"role": "tool", "tool_call_id": id, "content": content}))
        });
        Ok(messages.collect::<Written<Vec<_>>>()?.join(","))
    }

    fn result_text(&self, result: &CallResult) -> String {
        let mut text = result.text.to_string();
        let images = result.images.len();
        if images > 0 && !self.sees() {
            for _ in 0..images {
                text.push_str(if text.is_empty() { "" } else { "\n" });
                text.push_str(turns::NO_IMAGE);
            }
        }
        text
    }

    fn sees(&self) -> bool {
        self.exchange.facts.sees_images != Some(false)
    }

    fn piece(&self, part: &ContentPart) -> Piece {
        match part {
            ContentPart::Image { media_type, data } if self.sees() => {
                let data = STANDARD.encode(data);
                Piece::Image(format!("data:{};base64,{data}", media_type.media_type()))
            }
            other => Piece::Text(turns::text_of(other)),
        }
    }
}

fn user(parts: Vec<Piece>) -> Written<String> {
    serde_json::to_string(&json!({"role": "user", "content": joined(parts)}))
}

enum Piece {
    Text(String),
    Image(String),
}

/// Returns content as one text where it is text alone, for not every server reads a list.
fn joined(pieces: Vec<Piece>) -> Value {
    let texts: Option<Vec<&str>> = pieces
        .iter()
        .map(|piece| match piece {
            Piece::Text(text) => Some(text.as_str()),
            Piece::Image(_) => None,
        })
        .collect();
    if let Some(texts) = texts {
        return Value::String(texts.join("\n\n"));
    }
    let parts = pieces.into_iter().map(|piece| match piece {
        Piece::Text(text) => json!({"type": "text", "text": text}),
        Piece::Image(url) => json!({"type": "image_url", "image_url": {"url": url}}),
    });
    parts.collect()
}
