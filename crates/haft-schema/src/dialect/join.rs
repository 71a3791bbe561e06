//! Schemas that hold together become one.

use serde_json::{Map, Value, json};

use crate::lookup::lookup;
use crate::survey::decode_percent;

/// Joins two schemas that hold for one value. Where the words of both cannot be joined, those of `over` stay: what is joined
/// accepts no less than both together.
pub(super) fn join(base: Map<String, Value>, over: Map<String, Value>) -> Map<String, Value> {
    let mut joined = base;
    for (keyword, value) in over {
        let Some(present) = joined.get_mut(&keyword) else {
            joined.insert(keyword, value);
            continue;
        };
        match (keyword.as_str(), value) {
            ("properties", Value::Object(more)) => {
                let Value::Object(properties) = present else { continue };
                for (name, schema) in more {
                    match properties.get_mut(&name) {
                        Some(present) => *present = both(present.take(), schema),
                        None => drop(properties.insert(name, schema)),
                    }
                }
            }
            ("required", Value::Array(more)) => {
                let Value::Array(names) = present else { continue };
                names.extend(more);
            }
            ("items", schema) => *present = both(present.take(), schema),
            ("additionalProperties", schema) => {
                *present = match (present.take(), schema) {
                    (Value::Bool(false), _) | (_, Value::Bool(false)) => Value::Bool(false),
                    (one, other) => both(one, other),
                };
            }
            ("type", names) => {
                let names = common_types(present, &names);
                *present = names;
            }
            ("enum", Value::Array(values)) => {
                let Value::Array(choices) = present else { continue };
                if choices.iter().any(|it| values.contains(it)) {
                    choices.retain(|it| values.contains(it));
                }
            }
            (
                "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties",
                least,
            ) => {
                if least.as_f64() > present.as_f64() {
                    *present = least;
                }
            }
            ("maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties", most) => {
                if most.as_f64() < present.as_f64() {
                    *present = most;
                }
            }
            // One union stays a union, and the other has to be left to the contract.
            ("anyOf" | "oneOf", _) => {}
            (_, value) => *present = value,
        }
    }
    joined
}

fn both(one: Value, other: Value) -> Value {
    match (one, other) {
        (Value::Bool(true), other) => other,
        (one, Value::Bool(true)) => one,
        (one, other) if one == other => one,
        (one, other) => json!({"allOf": [one, other]}),
    }
}

fn common_types(one: &Value, other: &Value) -> Value {
    let (one, other) = (type_names(one), type_names(other));
    let mut common: Vec<&str> = one.iter().copied().filter(|it| other.contains(it)).collect();
    for (wide, narrow) in [(&one, &other), (&other, &one)] {
        if wide.contains(&"number") && narrow.contains(&"integer") && !common.contains(&"number") {
            common.push("integer");
        }
    }
    common.dedup();
    match common.as_slice() {
        [] => json!(one),
        [only] => json!(only),
        several => json!(several),
    }
}

/// Lists the names in a `type`.
pub(super) fn type_names(value: &Value) -> Vec<&str> {
    match value {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Returns the place that a reference points to, as a JSON Pointer.
pub(super) fn target_of(schema: &Map<String, Value>) -> Option<String> {
    let reference = lookup(schema, "$ref").or_else(|| lookup(schema, "$dynamicRef"))?;
    reference.as_str()?.strip_prefix('#').map(decode_percent)
}
