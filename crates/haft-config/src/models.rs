//! The sections `model`, `models` and `network`: who is asked, where, and what is known of it.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use haft_policy::Origin;
use haft_protocol::ModelId;
use haft_protocol::limits::RULE_PATTERN_BYTES;

use crate::document::{Document, escaped};
use crate::read::{Node, Value, Values};
use crate::settings::nearest;
use crate::{ConfigError, Problem};

/// The key of the model that is asked where none is named.
pub(crate) const DEFAULT: &str = "model.default";

/// The key of the hosts that may be asked without encryption.
pub(crate) const PLAIN_HTTP: &str = "network.plain_http";

/// How many names there may be.
const MODELS: usize = 200;

/// Tokens that a window may have.
const WINDOW: RangeInclusive<u64> = 256..=100_000_000;

/// Tokens that a reply may have.
const REPLY: RangeInclusive<u64> = 16..=100_000_000;

/// Seconds that the first piece of a reply may take.
const FIRST_WORD: RangeInclusive<u64> = 1..=86_400;

/// Dollars that a million tokens may cost.
const DOLLARS_MAX: f64 = 100_000.0;

/// How freely a model may pick its words.
const TEMPERATURE_MAX: f64 = 2.0;

/// How much a model may be told to think.
const EFFORTS: [&str; 3] = ["low", "medium", "high"];

/// The keys of a name.
const KEYS: [&str; 13] = [
    "model",
    "provider",
    "base_url",
    "dialect",
    "key_env",
    "window_tokens",
    "output_tokens",
    "sees_images",
    "temperature",
    "effort",
    "strict",
    "first_word_seconds",
    "price",
];

/// The keys of a price.
const PRICES: [&str; 4] = ["input", "output", "cache_read", "cache_write"];

/// What a name of a model or of a server stands for. What is left out is as the provider has it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelEntry {
    /// The model it stands for; nothing, where it is a server's name, or the model's own.
    pub model: Option<ModelId>,
    /// The provider that the server is like.
    pub provider: Option<String>,
    /// Where it is asked.
    pub base_url: Option<String>,
    /// The language it is spoken to in, by its name.
    pub dialect: Option<String>,
    /// The variable that holds the key.
    pub key_env: Option<String>,
    /// Tokens that prompt and reply may have together.
    pub window_tokens: Option<u64>,
    /// Tokens that a reply may have; no request asks for more.
    pub output_tokens: Option<u64>,
    /// Whether it sees images.
    pub sees_images: Option<bool>,
    /// How freely it picks its words, in thousandths: 0 to 2000.
    pub temperature: Option<u16>,
    /// How much it should think, by its name: `low`, `medium` or `high`.
    pub effort: Option<&'static str>,
    /// Whether its provider holds the arguments of calls to their schemas, where it offers to.
    pub strict: Option<bool>,
    /// Seconds that the first piece of its reply may take.
    pub first_word_seconds: Option<u64>,
    /// What it costs.
    pub price: Option<ModelPrice>,
    /// Where all this comes from.
    pub origin: Origin,
}

/// What a model costs, in millionths of a US dollar for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ModelPrice {
    /// Tokens of the prompt that no cache had or took.
    pub input: u64,
    /// Tokens of the reply.
    pub output: u64,
    /// Tokens of the prompt that came from a cache.
    pub cache_read: u64,
    /// Tokens of the prompt that went into a cache.
    pub cache_write: u64,
}

/// Reads the section `model`.
pub(crate) fn model(
    document: &Document<'_>,
    node: &Node<'_>,
    values: &mut Values,
) -> Result<(), ConfigError> {
    for (key, node) in document.table("model", node)? {
        match &**key.get_ref() {
            "default" => {
                let text = word(document, DEFAULT, node)?;
                values.model = Some(document.value(text, node));
            }
            _ => return Err(document.unknown("model.", key, &["default"])),
        }
    }
    Ok(())
}

/// Reads the section `network`.
pub(crate) fn network(
    document: &Document<'_>,
    node: &Node<'_>,
    values: &mut Values,
) -> Result<(), ConfigError> {
    for (key, node) in document.table("network", node)? {
        match &**key.get_ref() {
            "plain_http" => {
                let list = document.list(PLAIN_HTTP, node)?;
                if list.len() > MODELS {
                    return Err(document.too_many("hosts", list.len(), MODELS, node));
                }
                for node in list {
                    let host = word(document, PLAIN_HTTP, node)?;
                    values.plain_http.push(document.value(host, node));
                }
            }
            _ => return Err(document.unknown("network.", key, &["plain_http"])),
        }
    }
    Ok(())
}

/// Reads the section `models`.
pub(crate) fn models(
    document: &Document<'_>,
    node: &Node<'_>,
    values: &mut Values,
) -> Result<(), ConfigError> {
    let table = document.table("models", node)?;
    if table.len() > MODELS {
        return Err(document.too_many("models", table.len(), MODELS, node));
    }
    for (key, node) in table {
        let name = &**key.get_ref();
        if name.is_empty() || name.len() > RULE_PATTERN_BYTES || name.chars().any(char::is_control)
        {
            let problem = Problem::Type {
                key: "models".to_owned(),
                expected: "names without control characters",
                found: format!("`{}`", escaped(name)),
            };
            return Err(document.at(node, problem));
        }
        let entry = entry(document, &format!("models.{name}"), node)?;
        values.models.push((name.to_owned(), document.value(entry, node)));
    }
    Ok(())
}

fn entry(
    document: &Document<'_>,
    within: &str,
    node: &Node<'_>,
) -> Result<ModelEntry, ConfigError> {
    let mut entry = ModelEntry::default();
    for (key, node) in document.table(within, node)? {
        let name = &**key.get_ref();
        let full = format!("{within}.{name}");
        let text = || word(document, &full, node);
        match name {
            "model" => {
                let id: ModelId = text()?
                    .parse()
                    .map_err(|source| document.at(node, Problem::Model { source }))?;
                entry.model = Some(id);
            }
            "provider" => entry.provider = Some(text()?),
            "base_url" => entry.base_url = Some(text()?),
            "dialect" => entry.dialect = Some(text()?),
            "key_env" => entry.key_env = Some(text()?),
            "window_tokens" => entry.window_tokens = Some(number(document, &full, &WINDOW, node)?),
            "output_tokens" => entry.output_tokens = Some(number(document, &full, &REPLY, node)?),
            "sees_images" => entry.sees_images = Some(document.boolean(&full, node)?),
            "temperature" => entry.temperature = Some(temperature(document, &full, node)?),
            "effort" => entry.effort = Some(effort(document, &full, node)?),
            "strict" => entry.strict = Some(document.boolean(&full, node)?),
            "first_word_seconds" => {
                entry.first_word_seconds = Some(number(document, &full, &FIRST_WORD, node)?);
            }
            "price" => entry.price = Some(price(document, &full, node)?),
            _ => return Err(document.unknown(&format!("{within}."), key, &KEYS)),
        }
    }
    Ok(entry)
}

fn price(
    document: &Document<'_>,
    within: &str,
    node: &Node<'_>,
) -> Result<ModelPrice, ConfigError> {
    let mut price = ModelPrice::default();
    let (mut read, mut write) = (None, None);
    for (key, node) in document.table(within, node)? {
        let name = &**key.get_ref();
        let cost = dollars(document, &format!("{within}.{name}"), node);
        match name {
            "input" => price.input = cost?,
            "output" => price.output = cost?,
            "cache_read" => read = Some(cost?),
            "cache_write" => write = Some(cost?),
            _ => return Err(document.unknown(&format!("{within}."), key, &PRICES)),
        }
    }
    // What nobody says of a cache costs what it would without one, so that no sum is too small.
    price.cache_read = read.unwrap_or(price.input);
    price.cache_write = write.unwrap_or(price.input);
    Ok(price)
}

/// Reads how freely a model picks its words, as thousandths.
fn temperature(document: &Document<'_>, key: &str, node: &Node<'_>) -> Result<u16, ConfigError> {
    let expected = "a number from 0 to 2, such as 0.7";
    let thousandths = scaled(node, TEMPERATURE_MAX, 1_000.0).and_then(|it| u16::try_from(it).ok());
    thousandths.ok_or_else(|| document.mistyped(key, expected, node))
}

/// Reads how much a model should think.
fn effort(
    document: &Document<'_>,
    key: &str,
    node: &Node<'_>,
) -> Result<&'static str, ConfigError> {
    let text = document.text(key, node)?;
    EFFORTS.into_iter().find(|it| *it == text).ok_or_else(|| {
        let (value, nearest) = (escaped(text), nearest(text, EFFORTS));
        let what = "how much a model can be told to think";
        document.at(node, Problem::UnknownWord { value, what, nearest, expected: EFFORTS.to_vec() })
    })
}

/// Reads dollars for a million tokens as millionths of a dollar.
fn dollars(document: &Document<'_>, key: &str, node: &Node<'_>) -> Result<u64, ConfigError> {
    let expected = "US dollars for a million tokens, such as 1.25";
    scaled(node, DOLLARS_MAX, 1_000_000.0).ok_or_else(|| document.mistyped(key, expected, node))
}

/// Reads a number from 0 to a bound, with or without digits behind its point, in parts of one.
fn scaled(node: &Node<'_>, most: f64, parts: f64) -> Option<u64> {
    let value = node.get_ref();
    let text = value
        .as_float()
        .map(toml::de::DeFloat::as_str)
        .or(value.as_integer().map(toml::de::DeInteger::as_str));
    let number: f64 = text?.parse().ok()?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is between nothing and a bound far below"
    )]
    (0.0..=most).contains(&number).then(|| (number * parts).round() as u64)
}

fn number(
    document: &Document<'_>,
    key: &str,
    range: &RangeInclusive<u64>,
    node: &Node<'_>,
) -> Result<u64, ConfigError> {
    let integer = node.get_ref().as_integer();
    let integer = integer.ok_or_else(|| document.mistyped(key, "a whole number", node))?;
    match u64::from_str_radix(integer.as_str(), integer.radix()) {
        Ok(number) if range.contains(&number) => Ok(number),
        _ => {
            let problem = Problem::Range {
                key: key.to_owned(),
                value: escaped(&integer.to_string()),
                min: *range.start(),
                max: *range.end(),
            };
            Err(document.at(node, problem))
        }
    }
}

/// Reads a text that is not empty and stays on its line.
pub(crate) fn word(
    document: &Document<'_>,
    key: &str,
    node: &Node<'_>,
) -> Result<String, ConfigError> {
    let text = document.text(key, node)?;
    if text.trim().is_empty()
        || text.len() > RULE_PATTERN_BYTES
        || text.chars().any(char::is_control)
    {
        return Err(document.mistyped(key, "a text that is not empty, on one line", node));
    }
    Ok(text.to_owned())
}

/// Names as they were read.
pub(crate) type Named = Vec<(String, Value<ModelEntry>)>;

/// Names as they count.
pub(crate) type Models = BTreeMap<String, ModelEntry>;
