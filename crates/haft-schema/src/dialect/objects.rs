//! Objects and maps.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::inverse::{Field, Object, Undo};
use super::narrow::{Narrowing, set};
use super::table::{Dialect, Feature};
use super::{LossKind, wording};
use crate::plain::{Judgement, judge};
use crate::pointer;
use crate::view::{Types, View};

/// Characters of a property's name where a dialect takes only plain words.
const NAME_CHARS: usize = 64;

impl Narrowing<'_> {
    /// Lowers an object.
    pub(super) fn object(
        &mut self,
        flat: &Map<String, Value>,
        place: &mut String,
        level: usize,
    ) -> (Value, Undo) {
        let none = Map::new();
        let properties = flat.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let required: Vec<&str> = {
            let names = flat.get("required").and_then(Value::as_array).into_iter().flatten();
            names.filter_map(Value::as_str).collect()
        };
        let others = others_of(flat, properties, &required);
        if let (Some(others), true, true) = (&others, properties.is_empty(), required.is_empty())
            && level > 0
            && !self.dialect.keeps(Feature::Map)
        {
            return self.map(flat, others, place, level);
        }
        if level > 0
            && properties.is_empty()
            && required.is_empty()
            && others.is_none()
            && self.dialect == Dialect::Gemini
        {
            return self.as_text(wording::description(flat), "no properties", place);
        }

        let unnamed = required.iter().filter(|name| !properties.contains_key(**name));
        let unnamed: Vec<(&str, &Value)> =
            unnamed.map(|name| (*name, &Value::Bool(true))).collect();
        let named = properties.iter().map(|(name, schema)| (name.as_str(), schema));
        let mut all: Vec<(&str, &Value)> = named.chain(unnamed).collect();
        if matches!(self.dialect, Dialect::AnthropicStrict | Dialect::Common) {
            all.sort_by_key(|(name, _)| !required.contains(name));
        }

        let mut lowered = Map::new();
        let mut needed: Vec<Value> = Vec::new();
        let mut undo = Object::default();
        for (name, schema) in all {
            let is_required = required.contains(&name);
            if schema == &Value::Bool(false) {
                self.lose(place, "false", LossKind::Dropped);
                continue;
            }
            let is_taken = |wire: &str| lowered.contains_key(wire) || properties.contains_key(wire);
            let plain = plain_name(self.dialect, name, is_taken);
            if plain.is_some() {
                self.lose(&pointer::joined(place, name), "a property's name", LossKind::Rewritten);
            }
            let wire = plain.unwrap_or_else(|| name.to_owned());
            let (mut property, back) = pointer::within(place, "properties", |place| {
                pointer::within(place, name, |place| self.schema(schema, place, level + 1))
            });
            let is_optional = !is_required && !self.dialect.keeps(Feature::Optional);
            if is_optional {
                property = self.nullable(property);
            }
            if is_required || is_optional {
                needed.push(Value::from(wire.as_str()));
            }
            let drops_null = is_optional && !self.accepts_null(schema);
            let name = (wire != name).then(|| name.to_owned());
            lowered.insert(wire.clone(), property);
            if back != Undo::Same || drops_null || name.is_some() {
                undo.fields.insert(wire, Field { name, undo: back, drops_null });
            }
        }
        let mut schema = self.typed("object");
        set(&mut schema, "properties", Value::Object(lowered));
        self.set_others(&mut schema, &mut needed, &mut undo, others, place, level);
        set(&mut schema, "required", Value::Array(needed));
        let schema = self.with_rules(schema, flat, place);
        let is_same = undo == Object { fields: BTreeMap::new(), others: None, gathered: None };
        (schema, if is_same { Undo::Same } else { Undo::Object(Box::new(undo)) })
    }

    /// Lowers an object of properties that nobody names to a list of pairs.
    fn map(
        &mut self,
        flat: &Map<String, Value>,
        others: &Value,
        place: &mut String,
        level: usize,
    ) -> (Value, Undo) {
        let (mut schema, undo) = self.pairs(others, place, level);
        let mut said = Vec::new();
        if let Some(patterns) = flat.get("patternProperties").and_then(Value::as_object) {
            let patterns: Vec<&str> = patterns.keys().map(String::as_str).take(4).collect();
            said.push(format!("keys match {}", wording::cut(&patterns.join(" or "))));
        }
        for rule in wording::RULES.iter().filter(|rule| rule.is_about("object")) {
            if let Some(value) = flat.get(rule.keyword) {
                let words = rule.say(value);
                let kind = if words.is_some() { LossKind::Described } else { LossKind::Dropped };
                self.lose(place, rule.keyword, kind);
                said.extend(words);
            }
        }
        said.push("each key once".to_owned());
        let description = wording::joined(wording::description(flat), &said);
        wording::describe(&mut schema, &description);
        (schema, Undo::Pairs(Box::new(undo)))
    }

    fn pairs(&mut self, others: &Value, place: &mut String, level: usize) -> (Value, Undo) {
        self.lose(place, "additionalProperties", LossKind::Rewritten);
        let (value, undo) = pointer::within(place, "additionalProperties", |place| {
            self.schema(others, place, level + 2)
        });
        let mut pair = self.typed("object");
        set(&mut pair, "properties", json!({"key": self.typed("string"), "value": value}));
        set(&mut pair, "required", json!(["key", "value"]));
        self.close(&mut pair);
        let mut schema = self.typed("array");
        set(&mut schema, "items", pair);
        (schema, undo)
    }

    /// Says what becomes of properties that nobody names.
    fn set_others(
        &mut self,
        schema: &mut Value,
        needed: &mut Vec<Value>,
        undo: &mut Object,
        others: Option<Value>,
        place: &mut String,
        level: usize,
    ) {
        let Some(others) = others else {
            return self.close(schema);
        };
        if self.dialect.keeps(Feature::Map) {
            let (lowered, back) = match &others {
                Value::Bool(_) => (others, Undo::Same),
                others => pointer::within(place, "additionalProperties", |place| {
                    self.schema(others, place, level + 1)
                }),
            };
            set(schema, "additionalProperties", lowered);
            undo.others = (back != Undo::Same).then_some(back);
            return;
        }
        let (mut pairs, back) = self.pairs(&others, place, level);
        wording::describe(&mut pairs, "all other properties, each key once");
        let is_optional = !self.dialect.keeps(Feature::Optional);
        let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
        let Some(properties) = properties else { return };
        let name = fresh("others", |name| properties.contains_key(name));
        if is_optional {
            pairs = self.nullable(pairs);
            needed.push(Value::from(name.as_str()));
        }
        properties.insert(name.clone(), pairs);
        undo.gathered = Some((name, back));
        self.close(schema);
    }

    fn close(&self, schema: &mut Value) {
        // Gemini's own form has no such keyword.
        if self.dialect != Dialect::Gemini {
            set(schema, "additionalProperties", Value::Bool(false));
        }
    }

    /// Tells whether null is one of a property's own values, and not only a way to leave it out.
    fn accepts_null(&self, schema: &Value) -> bool {
        match judge(schema, &Value::Null) {
            Judgement::Accepts => true,
            Judgement::Refuses => false,
            Judgement::Open => View::within(self.root(), schema).types().meets(Types::NULL),
        }
    }
}

/// Returns the schema of properties that nobody names, where there may be any.
fn others_of(
    flat: &Map<String, Value>,
    properties: &Map<String, Value>,
    required: &[&str],
) -> Option<Value> {
    let patterns = flat.get("patternProperties").and_then(Value::as_object);
    let patterned = patterns.filter(|it| !it.is_empty()).map(|patterns| {
        let closed = flat.get("additionalProperties") == Some(&Value::Bool(false));
        let mut schemas = patterns.values();
        match (schemas.next(), schemas.next(), closed) {
            (Some(only), None, true) => only.clone(),
            _ => Value::Bool(true),
        }
    });
    match (patterned, flat.get("additionalProperties")) {
        (Some(schema), _) => Some(schema),
        (None, Some(Value::Bool(false))) => None,
        (None, Some(schema @ Value::Object(_))) => Some(schema.clone()),
        // What is open without saying what else there may be is closed: models fill what they see.
        _ if properties.is_empty() && required.is_empty() => Some(Value::Bool(true)),
        _ => None,
    }
}

/// Returns another name for a property whose own is not taken by the dialect.
pub(super) fn plain_name(
    dialect: Dialect,
    name: &str,
    is_taken: impl Fn(&str) -> bool,
) -> Option<String> {
    let is_anthropic = matches!(dialect, Dialect::Anthropic | Dialect::AnthropicStrict);
    let goes_on = |it: char| {
        it.is_ascii_alphanumeric() || it == '_' || is_anthropic && matches!(it, '.' | '-')
    };
    let begins = |it: char| goes_on(it) && (is_anthropic || !it.is_ascii_digit());
    let is_fit =
        name.chars().count() <= NAME_CHARS && name.starts_with(begins) && name.chars().all(goes_on);
    if is_fit || dialect.keeps(Feature::OddName) {
        return None;
    }
    let plain = name.chars().take(NAME_CHARS - 8).map(|it| if goes_on(it) { it } else { '_' });
    let mut plain: String = plain.collect();
    if !plain.starts_with(begins) {
        plain.insert(0, '_');
    }
    Some(fresh(&plain, is_taken))
}

/// Returns the name, or the first with a number behind it that is not taken.
fn fresh(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(name) {
        return name.to_owned();
    }
    let numbered = (2_u32..).map(|number| format!("{name}_{number}"));
    numbered.into_iter().find(|name| !is_taken(name)).unwrap_or_else(|| name.to_owned())
}
