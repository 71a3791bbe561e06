//! From what the generator makes of a type to what is advertised.

use serde_json::{Map, Value, json};

use super::{Direction, docs};
use crate::keywords::{Applies, for_each_child_mut};
use crate::words;

/// Keywords in the order they are advertised; others follow.
const ORDER: &[&str] = &[
    "type",
    "description",
    "const",
    "enum",
    "default",
    "format",
    "pattern",
    "minimum",
    "maximum",
    "items",
    "properties",
    "required",
    "additionalProperties",
];

/// Removes what says nothing, joins wrapped lines, spells out number formats, and collapses unions.
pub(super) fn simplify(schema: &mut Value, direction: Direction) {
    let Value::Object(object) = schema else { return };
    for_each_child_mut(object, |_, child| simplify(child, direction));
    for keyword in ["title", "$schema"] {
        object.shift_remove(keyword);
    }
    if let Some(Value::String(description)) = object.get_mut("description") {
        *description = docs::unwrapped(description);
    }
    spell_out_format(object);
    collapse_choices(object);
    if direction == Direction::Input {
        let required = object.get("required").cloned().unwrap_or_default();
        let is_required = |name: &str| {
            required.as_array().into_iter().flatten().any(|it| it.as_str() == Some(name))
        };
        if let Some(Value::Object(properties)) = object.get_mut("properties") {
            let optional = properties.iter_mut().filter(|(name, _)| !is_required(name));
            optional.for_each(|(_, property)| remove_null(property));
        }
    }
}

/// Replaces formats that only name a Rust type by the range they mean.
fn spell_out_format(schema: &mut Map<String, Value>) {
    let range = match schema.get("format").and_then(Value::as_str) {
        Some("int8") => Some((i64::from(i8::MIN), i64::from(i8::MAX))),
        Some("uint8") => Some((0, i64::from(u8::MAX))),
        Some("int16") => Some((i64::from(i16::MIN), i64::from(i16::MAX))),
        Some("uint16") => Some((0, i64::from(u16::MAX))),
        Some("int32") => Some((i64::from(i32::MIN), i64::from(i32::MAX))),
        Some("uint32") => Some((0, i64::from(u32::MAX))),
        Some("int" | "int64" | "int128" | "uint" | "uint64" | "uint128" | "float" | "double") => {
            None
        }
        _ => return,
    };
    schema.shift_remove("format");
    if let Some((least, most)) = range {
        schema.entry("minimum").or_insert_with(|| json!(least));
        schema.entry("maximum").or_insert_with(|| json!(most));
    }
}

/// Turns alternatives that are all constant texts into one `enum`, with what each means in the description.
fn collapse_choices(schema: &mut Map<String, Value>) {
    let Some(Value::Array(variants)) = schema.get("oneOf") else { return };
    let mut choices: Vec<(&str, Option<&str>)> = Vec::new();
    for variant in variants {
        let meaning = variant.get("description").and_then(Value::as_str);
        match (variant.get("const"), variant.get("enum")) {
            (Some(Value::String(choice)), None) => choices.push((choice, meaning)),
            (None, Some(Value::Array(values))) => {
                for value in values {
                    let Some(choice) = value.as_str() else { return };
                    choices.push((choice, meaning));
                }
            }
            _ => return,
        }
    }
    let list = words::choice_list(&choices);
    let values = json!(choices.iter().map(|(choice, _)| *choice).collect::<Vec<_>>());
    let description = match (schema.get("description").and_then(Value::as_str), list) {
        (Some(text), Some(list)) => Some(format!("{text}\n\n{list}")),
        (None, list) => list,
        (Some(_), None) => None,
    };
    schema.shift_remove("oneOf");
    schema.insert("type".to_owned(), json!("string"));
    schema.insert("enum".to_owned(), values);
    if let Some(description) = description {
        schema.insert("description".to_owned(), Value::String(description));
    }
}

/// Takes null out of a property that may be left out instead.
fn remove_null(schema: &mut Value) {
    let Value::Object(object) = schema else { return };
    if object.get("default") == Some(&Value::Null) {
        object.shift_remove("default");
    }
    let is_null = |it: &Value| {
        it.get("type") == Some(&json!("null")) || it.get("const") == Some(&Value::Null)
    };
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|it| it != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|it| !it.is_null());
    }
    for keyword in ["anyOf", "oneOf"] {
        let Some(Value::Array(alternatives)) = object.get_mut(keyword) else { continue };
        alternatives.retain(|it| !is_null(it));
        if let [Value::Object(only)] = alternatives.as_slice() {
            let only = only.clone();
            object.shift_remove(keyword);
            for (key, value) in only {
                object.entry(key).or_insert(value);
            }
        }
    }
}

/// Closes objects that do not say whether they are open. `part` tells that another schema names keys of the same object.
pub(super) fn close(schema: &mut Value, part: bool) {
    let Value::Object(object) = schema else { return };
    let combines = ["allOf", "anyOf", "oneOf"].iter().any(|it| object.contains_key(*it));
    let is_object = match object.get("type") {
        Some(Value::String(name)) => name == "object",
        Some(Value::Array(names)) => names.iter().any(|it| it == "object"),
        _ => false,
    };
    let whole = is_object && combines;
    for_each_child_mut(object, |at, child| {
        close(child, at.applies == Applies::SameValue && (part || whole));
    });
    let decided = ["additionalProperties", "unevaluatedProperties", "patternProperties"];
    if !is_object || part || decided.iter().any(|it| object.contains_key(*it)) {
        return;
    }
    object.entry("properties").or_insert_with(|| json!({}));
    let keyword = if whole { "unevaluatedProperties" } else { "additionalProperties" };
    object.insert(keyword.to_owned(), json!(false));
}

/// Puts keywords in one order.
pub(super) fn order(schema: &mut Value) {
    let Value::Object(object) = schema else { return };
    for_each_child_mut(object, |_, child| order(child));
    let mut keywords: Vec<(String, Value)> = std::mem::take(object).into_iter().collect();
    keywords.sort_by_key(|(keyword, _)| {
        ORDER.iter().position(|it| it == keyword).unwrap_or(ORDER.len())
    });
    object.extend(keywords);
}
