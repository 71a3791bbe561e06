//! The section `aliases`: tools with some arguments fixed, under names of the user's.

use std::collections::BTreeMap;

use haft_policy::Origin;
use haft_protocol::QualifiedName;
use haft_protocol::limits::ARGUMENTS_DEPTH;
use serde_json::{Map, Number, Value as Json};
use toml::de::DeValue;

use crate::document::Document;
use crate::models::word;
use crate::read::{Node, Value, Values};
use crate::{ConfigError, Problem};

/// How many aliases there may be.
const ALIASES: usize = 100;

/// Bytes that a description may have.
const DESCRIPTION_BYTES: usize = 4_096;

/// The keys of an alias.
const KEYS: [&str; 3] = ["tool", "arguments", "description"];

/// A tool with some arguments fixed, as it is configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AliasEntry {
    /// The tool it stands for, as people name it.
    pub tool: String,
    /// The arguments that are fixed.
    pub arguments: Map<String, Json>,
    /// What a model reads of it; nothing, where that is what it reads of the tool.
    pub description: Option<String>,
    /// Where all this comes from.
    pub origin: Origin,
}

/// Aliases as they were read.
pub(crate) type Named = Vec<(QualifiedName, Value<AliasEntry>)>;

/// Aliases as they count.
pub(crate) type Aliases = BTreeMap<QualifiedName, AliasEntry>;

/// Reads the section.
pub(crate) fn aliases(
    document: &Document<'_>,
    node: &Node<'_>,
    values: &mut Values,
) -> Result<(), ConfigError> {
    let table = document.table("aliases", node)?;
    if table.len() > ALIASES {
        return Err(document.too_many("aliases", table.len(), ALIASES, node));
    }
    for (key, node) in table {
        let name = QualifiedName::for_user(key.get_ref())
            .map_err(|source| document.error(key.span(), Problem::Name { source }))?;
        let entry = entry(document, &format!("aliases.{name}"), node)?;
        values.aliases.push((name, document.value(entry, node)));
    }
    Ok(())
}

fn entry(
    document: &Document<'_>,
    within: &str,
    node: &Node<'_>,
) -> Result<AliasEntry, ConfigError> {
    let mut tool = None;
    let (mut arguments, mut description) = (Map::new(), None);
    for (key, node) in document.table(within, node)? {
        let name = &**key.get_ref();
        let full = format!("{within}.{name}");
        match name {
            "tool" => tool = Some(word(document, &full, node)?),
            "description" => {
                let text = document.text(&full, node)?.trim();
                if text.is_empty() || text.len() > DESCRIPTION_BYTES {
                    let expected = "a text that is not empty, of 4096 bytes at most";
                    return Err(document.mistyped(&full, expected, node));
                }
                description = Some(text.to_owned());
            }
            "arguments" => {
                for (key, node) in document.table(&full, node)? {
                    let key = &**key.get_ref();
                    let value = json(document, &format!("{full}.{key}"), node, 1)?;
                    arguments.insert(key.to_owned(), value);
                }
            }
            _ => return Err(document.unknown(&format!("{within}."), key, &KEYS)),
        }
    }
    let tool = tool.ok_or_else(|| {
        document.mistyped(within, "a table with `tool`, and with `arguments` that it fixes", node)
    })?;
    Ok(AliasEntry { tool, arguments, description, origin: Origin::default() })
}

/// Brings a value into the form that arguments have. A date has none.
fn json(
    document: &Document<'_>,
    key: &str,
    node: &Node<'_>,
    level: usize,
) -> Result<Json, ConfigError> {
    let mistyped = || document.mistyped(key, "what JSON can say", node);
    if level > ARGUMENTS_DEPTH {
        return Err(mistyped());
    }
    match node.get_ref() {
        DeValue::String(text) => Ok(Json::String(text.to_string())),
        DeValue::Boolean(value) => Ok(Json::Bool(*value)),
        DeValue::Integer(integer) => {
            let number = i64::from_str_radix(integer.as_str(), integer.radix());
            number.map(|it| Json::Number(it.into())).map_err(|_| mistyped())
        }
        DeValue::Float(float) => {
            let number = float.as_str().parse().ok().and_then(Number::from_f64);
            number.map(Json::Number).ok_or_else(mistyped)
        }
        DeValue::Array(items) => {
            let items = items.iter().map(|item| json(document, key, item, level + 1));
            items.collect::<Result<_, _>>().map(Json::Array)
        }
        DeValue::Table(table) => {
            let entries = table.iter().map(|(name, node)| {
                let name = name.get_ref().to_string();
                Ok((name, json(document, key, node, level + 1)?))
            });
            entries.collect::<Result<_, _>>().map(Json::Object)
        }
        DeValue::Datetime(_) => Err(mistyped()),
    }
}
