//! A request in Messages.
//!
//! What stays the same from turn to turn stands first: model, tools, system, messages. Three of the four marks that tell a
//! cache what to keep are used: behind the tools, behind the system, and one at the end of the request, which the server
//! moves along with the conversation, so that it changes nothing in front of it.

use std::borrow::Cow;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use haft_model::{CallResult, Effort, ModelError, Request, ToolChoice};
use haft_protocol::{ContentPart, Opaque, Reply, ReplyPart};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::choice::demanded;
use crate::exchange::Exchange;
use crate::ids::fitting;
use crate::json::RawObject;
use crate::schema::marked;
use crate::turns::{self, Blocks, Other, Turn};
use crate::ways::Thinking;

type Written<T> = Result<T, serde_json::Error>;

/// Tokens a reply may have where neither the request nor anybody else says so: all models in service can.
const OUTPUT_TOKENS: u32 = 8_192;

/// What stands before the messages.
#[derive(Serialize)]
struct Head<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<Value>,
}

/// What stands behind the messages: each request may say something else here.
#[derive(Serialize)]
struct Tail {
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Value>,
    stream: bool,
}

/// Returns how many tokens the reply may have, which this dialect has to be told.
pub(super) fn cap(exchange: &Exchange, request: &Request) -> u32 {
    let own = request.sampling.output_tokens.map(std::num::NonZeroU32::get);
    let known = exchange.facts.output_tokens.and_then(|tokens| u32::try_from(tokens).ok());
    own.or(known).unwrap_or(OUTPUT_TOKENS)
}

/// Returns the bytes of a request.
pub(super) fn body(exchange: &Exchange, request: &Request) -> Result<Vec<u8>, ModelError> {
    let turns = turns::turns(request)?;
    write(exchange, request, &turns).map_err(|error| turns::unwritable(&error))
}

fn write(exchange: &Exchange, request: &Request, turns: &[Turn<'_>]) -> Written<Vec<u8>> {
    let marks = exchange.endpoint.quirks.cache_marks;
    let mark = || json!({"type": "ephemeral"});
    let writer = Writer::new(exchange);
    let mut messages: Vec<Arc<str>> = Vec::new();
    for turn in turns {
        match turn {
            Turn::Reply { fragment, reply, results } => {
                let key = writer.key_of(results);
                let write = || Ok(message("assistant", &writer.reply(reply, results)?));
                messages.push(turns::rendered(fragment, &key, write)?);
            }
            Turn::Other(other) => messages.push(message("user", &writer.other(other)?).into()),
        }
    }
    let lowering = exchange.lowered(request);
    let mut tools: Vec<Value> = lowering
        .tools()
        .map(|(tool, lowered)| {
            let tool = json!({
                "name": tool.name,
                "description": tool.description,
                "input_schema": lowered.schema,
            });
            marked(tool, lowered)
        })
        .collect();
    if let Some(Value::Object(last)) = tools.last_mut().filter(|_| marks) {
        last.insert("cache_control".to_owned(), mark());
    }
    let system = (!request.system.is_empty()).then(|| {
        let mut block = json!({"type": "text", "text": request.system});
        if let (true, Value::Object(block)) = (marks, &mut block) {
            block.insert("cache_control".to_owned(), mark());
        }
        json!([block])
    });
    let demanded = demanded(request, exchange);
    let is_forced = matches!(demanded, ToolChoice::Required | ToolChoice::Named(_));
    let sampling = exchange.sampling(request);
    let cap = cap(exchange, request);
    // Whoever has to ask for a tool may not think first.
    let thinking = sampling.effort.filter(|_| !is_forced);
    let thinking = thinking.and_then(|effort| thinking_of(exchange.ways.thinking, effort, cap));
    let effort = sampling.effort.filter(|_| exchange.ways.thinking != Thinking::Tokens);
    let format = lowering.format();
    let format = format.map(|(_, it)| json!({"type": "json_schema", "schema": it.schema}));
    let mut config = serde_json::Map::new();
    config.extend(effort.map(|effort| ("effort".to_owned(), json!(effort.as_str()))));
    config.extend(format.map(|format| ("format".to_owned(), format)));
    let tail = Tail {
        tool_choice: (!tools.is_empty()).then(|| choice(demanded)).flatten(),
        max_tokens: cap,
        output_config: (!config.is_empty()).then(|| Value::Object(config)),
        // Who thinks picks its words as it likes.
        temperature: sampling.temperature.filter(|_| thinking.is_none()),
        thinking,
        cache_control: marks.then(mark),
        stream: true,
    };
    let head = Head { model: exchange.facts.id.name(), tools, system };
    turns::spliced(&head, "messages", &messages, &tail)
}

/// Returns a message of blocks; nothing where there are none, as where all of a reply was another provider's.
fn message(role: &str, blocks: &str) -> String {
    if blocks.is_empty() {
        return String::new();
    }
    format!(r#"{{"role":"{role}","content":[{blocks}]}}"#)
}

/// Returns how a model is told to think: not at all where that would take all of the reply.
fn thinking_of(by: Thinking, effort: Effort, cap: u32) -> Option<Value> {
    /// Tokens that thinking has to have at least.
    const LEAST: u32 = 1_024;
    match by {
        Thinking::Word => Some(json!({"type": "adaptive"})),
        Thinking::WordAlone | Thinking::Untold => None,
        Thinking::Tokens => {
            let tokens = match effort {
                Effort::Low => 2_048,
                Effort::Medium => 8_192,
                Effort::High => 24_576,
            };
            let tokens = tokens.min(cap / 2);
            (tokens >= LEAST).then(|| json!({"type": "enabled", "budget_tokens": tokens}))
        }
    }
}

fn choice(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(json!({"type": "none"})),
        ToolChoice::Required => Some(json!({"type": "any"})),
        ToolChoice::Named(name) => {
            Some(json!({"type": "tool", "name": name, "disable_parallel_tool_use": true}))
        }
    }
}

struct Writer<'a> {
    exchange: &'a Exchange,
    /// All that the form of a message depends on beside the message.
    key: String,
}

impl<'a> Writer<'a> {
    fn new(exchange: &'a Exchange) -> Self {
        let facts = &exchange.facts;
        let ids = exchange.endpoint.quirks.ids;
        let key = format!("{} {:?} {ids:?}", facts.origin, facts.sees_images);
        Self { exchange, key }
    }

    /// The form of a reply depends on the ids that its calls go by.
    fn key_of(&self, results: &[CallResult]) -> String {
        let ids = results.iter().map(|result| result.provider_id.as_ref());
        std::iter::once(self.key.as_str()).chain(ids).collect::<Vec<_>>().join(" ")
    }

    fn reply(&self, reply: &Reply, results: &[CallResult]) -> Written<String> {
        let mut results = results.iter();
        let mut blocks = Blocks::default();
        for part in &reply.parts {
            match part {
                ReplyPart::Text { text, opaque } => match self.own(opaque.as_ref()) {
                    Some(own) => blocks.extend(Some(&own)),
                    None if text.trim().is_empty() => {}
                    None => blocks.push(&json!({"type": "text", "text": text}))?,
                },
                ReplyPart::Reasoning { opaque, .. } => {
                    blocks.extend(self.own(opaque.as_ref()).as_deref());
                }
                ReplyPart::Opaque(opaque) => blocks.extend(self.own(Some(opaque)).as_deref()),
                ReplyPart::Call(call) => {
                    let Some(result) = results.next() else { continue };
                    let extra = self.own(call.opaque.as_ref());
                    let extra = extra.and_then(|it| serde_json::from_str(it.get()).ok());
                    let mut block = RawObject::default();
                    block.set("type", "tool_use")?;
                    block.set("id", &self.id(result))?;
                    block.set("name", turns::tool_of(call))?;
                    block.set("input", &turns::arguments(call)?)?;
                    for (field, value) in extra.map_or(Vec::new(), |extra: RawObject| extra.0) {
                        block.set(&field, &value)?;
                    }
                    blocks.push(&block)?;
                }
            }
        }
        Ok(blocks.finish())
    }

    /// Returns a block that this server made itself, byte for byte.
    fn own(&self, opaque: Option<&Opaque>) -> Option<Box<RawValue>> {
        turns::own(opaque, &self.exchange.facts.origin)
    }

    fn id<'b>(&self, result: &'b CallResult) -> Cow<'b, str> {
        fitting(&result.provider_id, self.exchange.endpoint.quirks.ids)
    }

    fn other(&self, other: &Other<'_>) -> Written<String> {
        let mut blocks = Blocks::default();
        if let Some((fragment, results)) = other.results {
            blocks.join(&turns::rendered(fragment, &self.key, || self.results(results))?);
        }
        for (fragment, said) in &other.said {
            blocks.join(&turns::rendered(fragment, &self.key, || self.said(said))?);
        }
        Ok(blocks.finish())
    }

    fn results(&self, results: &[CallResult]) -> Written<String> {
        let mut blocks = Blocks::default();
        for result in results {
            let mut parts = Vec::new();
            if !result.text.is_empty() {
                parts.push(json!({"type": "text", "text": result.text}));
            }
            parts.extend(result.images.iter().map(|image| self.block(image)));
            let id = self.id(result);
            let mut block = json!({"type": "tool_result", "tool_use_id": id, "content": parts});
            if let (true, Value::Object(block)) = (result.is_error, &mut block) {
                block.insert("is_error".to_owned(), Value::Bool(true));
            }
            blocks.push(&block)?;
        }
        Ok(blocks.finish())
    }

    fn said(&self, said: &[ContentPart]) -> Written<String> {
        let mut blocks = Blocks::default();
        let says = |part: &&ContentPart| part.as_text().is_none_or(|it| !it.trim().is_empty());
        for part in said.iter().filter(says) {
            blocks.push(&self.block(part))?;
        }
        Ok(blocks.finish())
    }

    fn block(&self, part: &ContentPart) -> Value {
        match part {
            ContentPart::Image { media_type, data }
                if self.exchange.facts.sees_images != Some(false) =>
            {
                let source = json!({
                    "type": "base64",
                    "media_type": media_type.media_type(),
                    "data": STANDARD.encode(data),
                });
                json!({"type": "image", "source": source})
            }
            other => json!({"type": "text", "text": turns::text_of(other)}),
        }
    }
}
