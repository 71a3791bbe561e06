//! Rules of a schema in a few words, for what a dialect cannot say.

use serde_json::{Map, Value};

use super::narrow::set;
use super::table::{Dialect, Feature};
use crate::words;

/// Characters of one rule in words.
const RULE_CHARS: usize = 200;

/// A keyword that says something about values of certain types.
pub(super) struct Rule {
    pub(super) keyword: &'static str,
    pub(super) feature: Feature,
    about: &'static [&'static str],
    /// The words before the value and behind it.
    words: (&'static str, &'static str),
}

const fn rule(
    keyword: &'static str,
    feature: Feature,
    about: &'static [&'static str],
    words: (&'static str, &'static str),
) -> Rule {
    Rule { keyword, feature, about, words }
}

const NUMBER: &[&str] = &["number", "integer"];
const STRING: &[&str] = &["string"];
const ARRAY: &[&str] = &["array"];
const OBJECT: &[&str] = &["object"];

/// All of them; those without words cannot be said in a few.
pub(super) const RULES: &[Rule] = &[
    rule("minimum", Feature::Range, NUMBER, ("at least ", "")),
    rule("maximum", Feature::Range, NUMBER, ("at most ", "")),
    rule("exclusiveMinimum", Feature::FineRange, NUMBER, ("more than ", "")),
    rule("exclusiveMaximum", Feature::FineRange, NUMBER, ("less than ", "")),
    rule("multipleOf", Feature::FineRange, NUMBER, ("a multiple of ", "")),
    rule("minLength", Feature::Length, STRING, ("at least ", " character")),
    rule("maxLength", Feature::Length, STRING, ("at most ", " character")),
    rule("pattern", Feature::Pattern, STRING, ("matches ", "")),
    rule("format", Feature::Format, STRING, ("format ", "")),
    rule("minItems", Feature::ItemCount, ARRAY, ("at least ", " item")),
    rule("maxItems", Feature::ItemCount, ARRAY, ("at most ", " item")),
    rule("uniqueItems", Feature::Unusual, ARRAY, ("no item twice", "")),
    rule("contains", Feature::Unusual, ARRAY, ("", "")),
    rule("minContains", Feature::Unusual, ARRAY, ("", "")),
    rule("maxContains", Feature::Unusual, ARRAY, ("", "")),
    rule("unevaluatedItems", Feature::Unusual, ARRAY, ("", "")),
    rule("minProperties", Feature::PropertyCount, OBJECT, ("at least ", " key")),
    rule("maxProperties", Feature::PropertyCount, OBJECT, ("at most ", " key")),
    rule("propertyNames", Feature::Unusual, OBJECT, ("", "")),
    rule("unevaluatedProperties", Feature::Unusual, OBJECT, ("", "")),
];

impl Rule {
    pub(super) fn is_about(&self, name: &str) -> bool {
        self.about.contains(&name)
    }

    /// Tells whether a dialect that takes the keyword takes it with this value.
    pub(super) fn is_fit(&self, value: &Value, dialect: Dialect) -> bool {
        match self.keyword {
            "format" => value.as_str().is_some_and(|name| has_format(dialect, name)),
            "pattern" => value.is_string(),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
                value.is_number()
            }
            "uniqueItems" => value.is_boolean(),
            _ => value.as_u64().is_some_and(|it| it <= dialect.repetitions()),
        }
    }

    /// Says the rule, where it can be said.
    pub(super) fn say(&self, value: &Value) -> Option<String> {
        let (before, after) = self.words;
        if before.is_empty() || value == &Value::Bool(false) {
            return None;
        }
        if self.keyword == "uniqueItems" {
            return Some(before.to_owned());
        }
        let many = if after.is_empty() || value == &Value::from(1) { "" } else { "s" };
        let shown = match value {
            Value::String(text) => cut(text),
            value => cut(&value.to_string()),
        };
        Some(format!("{before}{shown}{after}{many}"))
    }
}

fn has_format(dialect: Dialect, name: &str) -> bool {
    const COMMON: [&str; 9] =
        ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];
    COMMON.contains(&name) || (dialect == Dialect::AnthropicStrict && name == "uri")
}

/// Returns what a schema says of itself.
pub(super) fn description(schema: &Map<String, Value>) -> &str {
    schema.get("description").and_then(Value::as_str).unwrap_or_default()
}

/// Sets a description, or none where there is nothing to say.
pub(super) fn describe(schema: &mut Value, description: &str) {
    if !description.is_empty() {
        set(schema, "description", Value::from(description));
    }
}

/// Adds rules to a description: `The file. (at most 3 items; no item twice)`.
pub(super) fn joined(description: &str, rules: &[String]) -> String {
    let rules: Vec<&str> = rules.iter().map(String::as_str).filter(|it| !it.is_empty()).collect();
    match (description.trim_end(), rules.as_slice()) {
        (description, []) => description.to_owned(),
        ("", rules) => rules.join("; "),
        (description, rules) => format!("{description} ({})", rules.join("; ")),
    }
}

/// Cuts words to a length fit for a description.
pub(super) fn cut(text: &str) -> String {
    words::cut_at(text, RULE_CHARS)
}
