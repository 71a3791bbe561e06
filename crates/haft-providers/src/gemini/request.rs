//! A request to Gemini.
//!
//! What stays the same from turn to turn stands first: instructions, tools, contents. Signatures of thoughts go back on the
//! parts that they came on, and parts that have one are never joined with others.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use haft_model::{CallResult, Effort, ModelError, Request, ToolChoice};
use haft_protocol::{ContentPart, Opaque, Reply, ReplyPart, RequestedCall};
use haft_schema::dialect::{Dialect as Schemas, Lowered};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::Forced;
use crate::choice::demanded;
use crate::exchange::Exchange;
use crate::json::RawObject;
use crate::turns::{self, Blocks, Other, Turn};

type Written<T> = Result<T, serde_json::Error>;

/// What stands for the signature of a call that another model asked for: models from the third generation on refuse a call
/// without any, and take this word for one.
const STAND_IN: &str = "skip_thought_signature_validator";

/// What stands before the contents.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Head {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Value>,
}

/// What stands behind the contents: each request may say something else here.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tail {
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<Value>,
    #[serde(skip_serializing_if = "Generation::is_empty")]
    generation_config: Generation,
}

#[derive(Serialize, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
struct Generation {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_schema: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_json_schema: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<Value>,
}

impl Generation {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Returns the bytes of a request.
pub(super) fn body(exchange: &Exchange, request: &Request) -> Result<Vec<u8>, ModelError> {
    let turns = turns::turns(request)?;
    write(exchange, request, &turns).map_err(|error| turns::unwritable(&error))
}

fn write(exchange: &Exchange, request: &Request, turns: &[Turn<'_>]) -> Written<Vec<u8>> {
    let quirks = exchange.endpoint.quirks;
    let writer = Writer::new(exchange);
    let mut contents: Vec<Arc<str>> = Vec::new();
    let mut named: Vec<bool> = Vec::new();
    for turn in turns {
        match turn {
            Turn::Reply { fragment, reply, results } => {
                let key = writer.key_of(results);
                let write = || Ok(content("model", &writer.reply(reply, results)?));
                contents.push(turns::rendered(fragment, &key, write)?);
                named = reply.calls().map(is_named).collect();
            }
            Turn::Other(other) => {
                contents.push(content("user", &writer.other(other, &named)?).into());
            }
        }
    }
    let lowering = exchange.lowered(request);
    let tools: Vec<Value> = lowering
        .tools()
        .map(|(tool, Lowered { schema, .. })| {
            let name = tool.name.as_str();
            // A function without a description is refused.
            let description =
                if tool.description.trim().is_empty() { name } else { &tool.description };
            let mut function = Map::new();
            function.insert("name".to_owned(), json!(name));
            function.insert("description".to_owned(), json!(description));
            // So is an object without properties; a function without arguments has no schema at all.
            if schema.get("properties").and_then(Value::as_object).is_some_and(|it| !it.is_empty())
            {
                let own = quirks.schemas == Schemas::Gemini;
                let field = if own { "parameters" } else { "parametersJsonSchema" };
                function.insert(field.to_owned(), schema.clone());
            }
            Value::Object(function)
        })
        .collect();
    let system = (!request.system.is_empty()).then(|| json!({"parts": [{"text": request.system}]}));
    let demanded = demanded(request, exchange);
    let may_choose = !tools.is_empty() && quirks.forced != Forced::Never;
    let sampling = exchange.sampling(request);
    let schema = lowering.format().map(|(_, lowered)| lowered.schema.clone());
    let is_own = quirks.schemas == Schemas::Gemini;
    let tail = Tail {
        tool_config: may_choose.then(|| choice(demanded)).flatten(),
        generation_config: Generation {
            max_output_tokens: sampling.output_tokens.map(std::num::NonZeroU32::get),
            temperature: sampling.temperature,
            // A seed is a number of 32 bits with a sign here.
            seed: sampling.seed.map(|seed| seed & 0x7fff_ffff),
            response_mime_type: schema.is_some().then_some("application/json"),
            response_schema: schema.clone().filter(|_| is_own),
            response_json_schema: schema.filter(|_| !is_own),
            thinking_config: sampling
                .effort
                .and_then(|effort| thinking(exchange.facts.id.name(), effort)),
        },
    };
    let tools = (!tools.is_empty()).then(|| json!([{"functionDeclarations": tools}]));
    let head = Head { system_instruction: system, tools };
    turns::spliced(&head, "contents", &contents, &tail)
}

/// Returns content of parts; nothing where there are none, as where all of a reply was another provider's.
fn content(role: &str, parts: &str) -> String {
    if parts.is_empty() {
        return String::new();
    }
    format!(r#"{{"role":"{role}","parts":[{parts}]}}"#)
}

fn choice(choice: &ToolChoice) -> Option<Value> {
    let config = match choice {
        ToolChoice::Auto => return None,
        ToolChoice::None => json!({"mode": "NONE"}),
        ToolChoice::Required => json!({"mode": "ANY"}),
        ToolChoice::Named(name) => json!({"mode": "ANY", "allowedFunctionNames": [name]}),
    };
    Some(json!({"functionCallingConfig": config}))
}

/// Returns how much a model should think: a word, or a number of tokens for the second generation. Models before it do not
/// think, and refuse to be told.
fn thinking(model: &str, effort: Effort) -> Option<Value> {
    if generation(model).is_some_and(|it| it.starts_with("2.5")) {
        let tokens = match effort {
            Effort::Low => 1_024,
            Effort::Medium => 8_192,
            Effort::High => 24_576,
        };
        return Some(json!({"thinkingBudget": tokens, "includeThoughts": true}));
    }
    let level = match effort {
        // It knows two levels, and thinks no less than it is asked to.
        Effort::Medium if generation(model).is_some_and(|it| it.starts_with("3-pro")) => {
            Effort::High
        }
        effort => effort,
    };
    let level = || json!({"thinkingLevel": level.as_str(), "includeThoughts": true});
    (!is_old(model)).then(level)
}

/// Returns what stands behind the name of the family, such as `2.5-flash`; nothing for other families.
fn generation(model: &str) -> Option<&str> {
    model.rsplit('/').next()?.strip_prefix("gemini-")
}

/// Tells whether a model is of the first or second generation.
fn is_old(model: &str) -> bool {
    matches!(generation(model).and_then(|it| it.get(..2)), Some("1." | "2."))
}

/// Tells whether a provider gave a call an id. Without one, calls and results go together by their order.
fn is_named(call: &RequestedCall) -> bool {
    call.provider_id.as_ref().is_some_and(|id| !id.is_empty())
}

struct Writer<'a> {
    exchange: &'a Exchange,
    /// All that the form of a message depends on beside the message.
    key: String,
}

impl<'a> Writer<'a> {
    fn new(exchange: &'a Exchange) -> Self {
        let facts = &exchange.facts;
        // A call of another model is written otherwise than one of the model itself.
        let key = format!("{} {} {:?}", facts.origin, facts.id, facts.sees_images);
        Self { exchange, key }
    }

    /// The form of a reply depends on the ids that its calls go by.
    fn key_of(&self, results: &[CallResult]) -> String {
        let ids = results.iter().map(|result| result.provider_id.as_ref());
        std::iter::once(self.key.as_str()).chain(ids).collect::<Vec<_>>().join(" ")
    }

    fn reply(&self, reply: &Reply, results: &[CallResult]) -> Written<String> {
        let origin = &self.exchange.facts.origin;
        let mut results = results.iter();
        let mut parts = Blocks::default();
        let mut stand_in = self.needs_stand_in(reply);
        for part in &reply.parts {
            match part {
                ReplyPart::Text { text, opaque } => match turns::own(opaque.as_ref(), origin) {
                    Some(own) => parts.extend(Some(&own)),
                    None if text.trim().is_empty() => {}
                    None => parts.push(&json!({"text": text}))?,
                },
                ReplyPart::Reasoning { opaque, .. } => {
                    parts.extend(turns::own(opaque.as_ref(), origin).as_deref());
                }
                ReplyPart::Opaque(opaque) => {
                    parts.extend(turns::own(Some(opaque), origin).as_deref());
                }
                ReplyPart::Call(call) => {
                    let Some(result) = results.next() else { continue };
                    let mut function = RawObject::default();
                    if is_named(call) {
                        function.set("id", &result.provider_id)?;
                    }
                    function.set("name", turns::tool_of(call))?;
                    function.set("args", &turns::arguments(call)?)?;
                    let mut part = RawObject::default();
                    part.set("functionCall", &function)?;
                    let beside = turns::own(call.opaque.as_ref(), origin);
                    let beside = beside.and_then(|it| serde_json::from_str(it.get()).ok());
                    for (field, value) in beside.map_or(Vec::new(), |it: RawObject| it.0) {
                        part.set(&field, &value)?;
                    }
                    if std::mem::take(&mut stand_in) {
                        part.set("thoughtSignature", STAND_IN)?;
                    }
                    parts.push(&part)?;
                }
            }
        }
        Ok(parts.finish())
    }

    /// Tells whether the first call of a reply has to have a signature that nobody gave it: another model asked for it, or
    /// the same one elsewhere.
    fn needs_stand_in(&self, reply: &Reply) -> bool {
        let facts = &self.exchange.facts;
        let opaques = || {
            reply.parts.iter().filter_map(|part| match part {
                ReplyPart::Text { opaque, .. } | ReplyPart::Reasoning { opaque, .. } => {
                    opaque.as_ref()
                }
                ReplyPart::Call(call) => call.opaque.as_ref(),
                ReplyPart::Opaque(opaque) => Some(opaque),
            })
        };
        let is_own = |own: &Opaque| *own.origin == *facts.origin;
        let name = facts.id.name();
        let wants_one = generation(name).is_some() && !is_old(name);
        let is_of_others = reply.model != facts.id || opaques().any(|it| !is_own(it));
        wants_one && is_of_others && !opaques().any(is_own)
    }

    fn other(&self, other: &Other<'_>, named: &[bool]) -> Written<String> {
        let mut parts = Blocks::default();
        if let Some((fragment, results)) = other.results {
            let ids: String = named.iter().map(|it| if *it { '+' } else { '-' }).collect();
            let key = format!("{} {ids}", self.key);
            parts.join(&turns::rendered(fragment, &key, || self.results(results, named))?);
        }
        for (fragment, said) in &other.said {
            parts.join(&turns::rendered(fragment, &self.key, || self.said(said))?);
        }
        Ok(parts.finish())
    }

    fn results(&self, results: &[CallResult], named: &[bool]) -> Written<String> {
        let mut parts = Blocks::default();
        for (result, named) in results.iter().zip(named) {
            let mut function = RawObject::default();
            if *named {
                function.set("id", &result.provider_id)?;
            }
            let name = if result.tool.is_empty() { "unnamed" } else { &result.tool };
            function.set("name", name)?;
            let field = if result.is_error { "error" } else { "result" };
            function.set("response", &json!({field: result.text}))?;
            parts.push(&json!({"functionResponse": function}))?;
        }
        // A response is an object: its images follow as if somebody had shown them.
        for result in results.iter().filter(|result| !result.images.is_empty()) {
            parts.push(&json!({"text": format!("Images of the result of `{}`:", result.tool)}))?;
            for image in result.images.iter() {
                parts.push(&self.piece(image))?;
            }
        }
        Ok(parts.finish())
    }

    fn said(&self, said: &[ContentPart]) -> Written<String> {
        let mut parts = Blocks::default();
        for part in said {
            parts.push(&self.piece(part))?;
        }
        Ok(parts.finish())
    }

    fn piece(&self, part: &ContentPart) -> Value {
        match part {
            ContentPart::Image { media_type, data }
                if self.exchange.facts.sees_images != Some(false) =>
            {
                let data = STANDARD.encode(data);
                json!({"inlineData": {"mimeType": media_type.media_type(), "data": data}})
            }
            other => json!({"text": turns::text_of(other)}),
        }
    }
}
