//! A request in Responses.
//!
//! What stays the same from turn to turn stands first: model, tools, instructions, items. What the server made itself goes
//! back as the items that it were; the server keeps nothing, so that reasoning comes and goes sealed.

use std::borrow::Cow;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use haft_model::{CallResult, ModelError, Request};
use haft_protocol::{ContentPart, Reply, ReplyPart};
use serde::Serialize;
use serde_json::{Value, json};

use crate::Quirks;
use crate::choice::Choice;
use crate::exchange::Exchange;
use crate::ids::fitting;
use crate::json::RawObject;
use crate::turns::{self, Blocks, Other, Turn};

type Written<T> = Result<T, serde_json::Error>;

/// Asks for reasoning as only the server can read it.
const SEALED: &[&str] = &["reasoning.encrypted_content"];

/// What the names of models begin with that do not think, and refuse to be asked for sealed reasoning.
const THOUGHTLESS: &[&str] = &["gpt-3", "gpt-4", "chatgpt-4"];

/// What stands before the items.
#[derive(Serialize)]
struct Head<'a> {
    model: &'a str,
    store: bool,
    #[serde(skip_serializing_if = "<[&str]>::is_empty")]
    include: &'static [&'static str],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    #[serde(skip_serializing_if = "str::is_empty")]
    instructions: &'a str,
}

/// What stands behind the items: each request may say something else here.
#[derive(Serialize)]
struct Tail {
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Value>,
    stream: bool,
}

/// Returns the bytes of a request.
pub(super) fn body(exchange: &Exchange, request: &Request) -> Result<Vec<u8>, ModelError> {
    let turns = turns::turns(request)?;
    write(exchange, request, &turns).map_err(|error| turns::unwritable(&error))
}

fn write(exchange: &Exchange, request: &Request, turns: &[Turn<'_>]) -> Written<Vec<u8>> {
    let quirks = exchange.endpoint.quirks;
    let writer = Writer::new(exchange);
    let mut items: Vec<Arc<str>> = Vec::new();
    for turn in turns {
        match turn {
            Turn::Reply { fragment, reply, results } => {
                let key = writer.key_of(results);
                items.push(turns::rendered(fragment, &key, || writer.reply(reply, results))?);
            }
            Turn::Other(other) => writer.other(other, &mut items)?,
        }
    }
    let choice = Choice::of(request, exchange);
    let lowering = exchange.lowered(request);
    let tools: Vec<_> = lowering
        .tools()
        .filter(|(tool, _)| choice.shows(tool))
        .map(|(tool, lowered)| {
            let (name, description) = (&tool.name, &tool.description);
            // Where nothing is said about it, the server tries to make every schema a strict one.
            json!({
                "type": "function",
                "name": name,
                "description": description,
                "parameters": lowered.schema,
                "strict": lowered.is_strict,
            })
        })
        .collect();
    let format = lowering.format().map(|(format, lowered)| {
        json!({"format": {
            "type": "json_schema",
            "name": format.name,
            "schema": lowered.schema,
            "strict": lowered.is_strict,
        }})
    });
    let sampling = exchange.sampling(request);
    let tail = Tail {
        tool_choice: choice.word(|name| json!({"type": "function", "name": name})),
        parallel_tool_calls: (quirks.parallel && !tools.is_empty()).then_some(!choice.is_one()),
        text: format,
        max_output_tokens: request.sampling.output_tokens.map(std::num::NonZeroU32::get),
        temperature: sampling.temperature,
        reasoning: sampling.effort.map(|effort| json!({"effort": effort.as_str()})),
        stream: true,
    };
    let model = exchange.facts.id.name();
    let thinks = !THOUGHTLESS.iter().any(|name| model.starts_with(name));
    let include = if thinks { SEALED } else { &[] };
    let head = Head { model, store: false, include, tools, instructions: &request.system };
    turns::spliced(&head, "input", &items, &tail)
}

struct Writer<'a> {
    exchange: &'a Exchange,
    /// All that the form of a message depends on beside the message.
    key: String,
}

impl<'a> Writer<'a> {
    fn new(exchange: &'a Exchange) -> Self {
        let facts = &exchange.facts;
        let Quirks { ids, long_items, .. } = exchange.endpoint.quirks;
        let key = format!("{} {:?} {ids:?} {long_items}", facts.origin, facts.sees_images);
        Self { exchange, key }
    }

    /// The form of a reply depends on the ids that its calls go by.
    fn key_of(&self, results: &[CallResult]) -> String {
        let ids = results.iter().map(|result| result.provider_id.as_ref());
        std::iter::once(self.key.as_str()).chain(ids).collect::<Vec<_>>().join(" ")
    }

    fn reply(&self, reply: &Reply, results: &[CallResult]) -> Written<String> {
        let origin = &self.exchange.facts.origin;
        let quirks = self.exchange.endpoint.quirks;
        let mut results = results.iter();
        let mut items = Blocks::default();
        for part in &reply.parts {
            match part {
                ReplyPart::Text { text, opaque } => match turns::own(opaque.as_ref(), origin) {
                    Some(own) => items.extend(Some(&own)),
                    None if text.trim().is_empty() => {}
                    None => items.push(&said_by_model(text, quirks.long_items))?,
                },
                ReplyPart::Reasoning { opaque, .. } => {
                    items.extend(turns::own(opaque.as_ref(), origin).as_deref());
                }
                ReplyPart::Opaque(opaque) => {
                    items.extend(turns::own(Some(opaque), origin).as_deref());
                }
                ReplyPart::Call(call) => {
                    let Some(result) = results.next() else { continue };
                    let extra = turns::own(call.opaque.as_ref(), origin);
                    let extra = extra.and_then(|it| serde_json::from_str(it.get()).ok());
                    let mut item = RawObject::default();
                    item.set("type", "function_call")?;
                    item.set("call_id", &self.id(result))?;
                    item.set("name", turns::tool_of(call))?;
                    item.set("arguments", turns::arguments(call)?.get())?;
                    for (field, value) in extra.map_or(Vec::new(), |extra: RawObject| extra.0) {
                        item.set(&field, &value)?;
                    }
                    items.push(&item)?;
                }
            }
        }
        Ok(items.finish())
    }

    fn id<'b>(&self, result: &'b CallResult) -> Cow<'b, str> {
        fitting(&result.provider_id, self.exchange.endpoint.quirks.ids)
    }

    fn other(&self, other: &Other<'_>, items: &mut Vec<Arc<str>>) -> Written<()> {
        if let Some((fragment, results)) = other.results {
            items.push(turns::rendered(fragment, &self.key, || self.results(results))?);
        }
        for (fragment, said) in &other.said {
            items.push(turns::rendered(fragment, &self.key, || self.said(said))?);
        }
        Ok(())
    }

    fn results(&self, results: &[CallResult]) -> Written<String> {
        let mut items = Blocks::default();
        for result in results {
            let output = if result.images.is_empty() {
                json!(result.text)
            } else {
                let text = (!result.text.is_empty()).then(|| input_text(&result.text));
                text.into_iter().chain(result.images.iter().map(|it| self.piece(it))).collect()
            };
            let id = self.id(result);
            items
                .push(&json!({"type": "function_call_output", "call_id": id, "output": output}))?;
        }
        Ok(items.finish())
    }

    fn said(&self, said: &[ContentPart]) -> Written<String> {
        let content: Value = match said {
            [] => json!(""),
            [ContentPart::Text { text }] => json!(text),
            said => said.iter().map(|part| self.piece(part)).collect(),
        };
        serde_json::to_string(&json!({"role": "user", "content": content}))
    }

    fn piece(&self, part: &ContentPart) -> Value {
        match part {
            ContentPart::Image { media_type, data }
                if self.exchange.facts.sees_images != Some(false) =>
            {
                let data = STANDARD.encode(data);
                let url = format!("data:{};base64,{data}", media_type.media_type());
                json!({"type": "input_image", "detail": "auto", "image_url": url})
            }
            other => input_text(&turns::text_of(other)),
        }
    }
}

/// Returns a message of the model. The long form is for items that have an id, and some servers know no other.
fn said_by_model(text: &str, long: bool) -> Value {
    if !long {
        return json!({"role": "assistant", "content": text});
    }
    let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
    json!({"type": "message", "role": "assistant", "content": content})
}

fn input_text(text: &str) -> Value {
    json!({"type": "input_text", "text": text})
}
