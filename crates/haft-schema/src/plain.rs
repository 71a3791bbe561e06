//! Schemas in plain words: those that our own types come out as.
//!
//! A plain schema compiles for sure, so compiling it can wait for a value that is refused, when the reasons are wanted.
//! Until then values are accepted by its words alone. Whatever is left open here goes to the validator, which decides.

use serde_json::{Map, Number, Value};

/// Levels of a plain schema.
const LEVELS: usize = 12;
/// Sub-schemas of a plain schema.
const SCHEMAS: usize = 256;
/// Evaluations of one value and its parts.
const EVALUATIONS: usize = 20_000;

/// Tells whether a schema is plain: well formed, without patterns and references, and far from every limit.
pub(crate) fn is_plain(schema: &Value) -> bool {
    let mut schemas_left = SCHEMAS;
    is_plain_within(schema, LEVELS, &mut schemas_left)
}

fn is_plain_within(schema: &Value, levels: usize, left: &mut usize) -> bool {
    let (Some(levels), Some(fewer)) = (levels.checked_sub(1), left.checked_sub(1)) else {
        return false;
    };
    *left = fewer;
    let object = match schema {
        Value::Bool(_) => return true,
        Value::Object(object) => object,
        _ => return false,
    };
    let mut is_plain = |schema: &Value| is_plain_within(schema, levels, left);
    object.iter().all(|(keyword, value)| match keyword.as_str() {
        "const" | "default" => true,
        "description" | "format" => value.is_string(),
        "enum" => value.is_array(),
        "type" => match value {
            Value::Array(names) => {
                let is_new = |at: usize| !names.iter().take(at).any(|it| Some(it) == names.get(at));
                !names.is_empty() && names.iter().all(is_type) && (0..names.len()).all(is_new)
            }
            name => is_type(name),
        },
        "minimum" | "maximum" => value.is_number(),
        "minLength" | "maxLength" | "minItems" | "maxItems" => value.is_u64(),
        "required" => value.as_array().is_some_and(|names| {
            let is_new = |at: usize| !names.iter().take(at).any(|it| Some(it) == names.get(at));
            names.iter().all(Value::is_string) && (0..names.len()).all(is_new)
        }),
        "properties" => value.as_object().is_some_and(|named| named.values().all(&mut is_plain)),
        "items" | "additionalProperties" => is_plain(value),
        "anyOf" | "oneOf" => value
            .as_array()
            .is_some_and(|schemas| !schemas.is_empty() && schemas.iter().all(&mut is_plain)),
        _ => false,
    })
}

fn is_type(name: &Value) -> bool {
    const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];
    name.as_str().is_some_and(|name| TYPES.contains(&name))
}

/// Tells whether a plain schema surely accepts a value. What it does not accept may still be right.
pub(crate) fn accepts(schema: &Value, value: &Value) -> bool {
    Check { left: EVALUATIONS }.accepts(schema, value)
}

struct Check {
    left: usize,
}

impl Check {
    fn accepts(&mut self, schema: &Value, value: &Value) -> bool {
        let Some(left) = self.left.checked_sub(1) else { return false };
        self.left = left;
        let object = match schema {
            Value::Bool(accepts) => return *accepts,
            Value::Object(object) => object,
            _ => return false,
        };
        object.iter().all(|(keyword, rule)| match keyword.as_str() {
            "description" | "default" | "format" => true,
            "properties" => self.named(rule, value),
            "additionalProperties" => self.others(object, rule, value),
            "items" => {
                value.as_array().is_none_or(|items| items.iter().all(|it| self.accepts(rule, it)))
            }
            "anyOf" => rule
                .as_array()
                .is_some_and(|schemas| schemas.iter().any(|schema| self.accepts(schema, value))),
            keyword => holds(keyword, rule, value),
        })
    }

    fn named(&mut self, properties: &Value, value: &Value) -> bool {
        let (Some(properties), Some(object)) = (properties.as_object(), value.as_object()) else {
            return true;
        };
        object.iter().all(|(name, value)| {
            properties.get(name).is_none_or(|schema| self.accepts(schema, value))
        })
    }

    fn others(&mut self, schema: &Map<String, Value>, rule: &Value, value: &Value) -> bool {
        let named = schema.get("properties").and_then(Value::as_object);
        value.as_object().is_none_or(|object| {
            let is_named = |name: &String| named.is_some_and(|it| it.contains_key(name));
            object.iter().all(|(name, value)| is_named(name) || self.accepts(rule, value))
        })
    }
}

/// Tells whether a rule surely holds that is about the value alone.
fn holds(keyword: &str, rule: &Value, value: &Value) -> bool {
    let limit = || rule.as_u64().and_then(|limit| usize::try_from(limit).ok());
    match (keyword, value) {
        ("type", _) => match rule {
            Value::Array(names) => names.iter().any(|name| is_of(name, value)),
            name => is_of(name, value),
        },
        ("const", _) => rule == value,
        ("enum", _) => rule.as_array().is_some_and(|choices| choices.contains(value)),
        ("required", Value::Object(object)) => rule.as_array().is_some_and(|names| {
            names.iter().filter_map(Value::as_str).all(|name| object.contains_key(name))
        }),
        ("minimum", Value::Number(number)) => is_ordered(rule.as_number(), Some(number)),
        ("maximum", Value::Number(number)) => is_ordered(Some(number), rule.as_number()),
        ("minLength", Value::String(text)) => limit().is_some_and(|it| text.chars().count() >= it),
        ("maxLength", Value::String(text)) => limit().is_some_and(|it| text.chars().count() <= it),
        ("minItems", Value::Array(items)) => limit().is_some_and(|it| items.len() >= it),
        ("maxItems", Value::Array(items)) => limit().is_some_and(|it| items.len() <= it),
        (
            "required" | "minimum" | "maximum" | "minLength" | "maxLength" | "minItems"
            | "maxItems",
            _,
        ) => true,
        _ => false,
    }
}

fn is_of(name: &Value, value: &Value) -> bool {
    match (name.as_str(), value) {
        (Some("null"), Value::Null)
        | (Some("boolean"), Value::Bool(_))
        | (Some("number"), Value::Number(_))
        | (Some("string"), Value::String(_))
        | (Some("array"), Value::Array(_))
        | (Some("object"), Value::Object(_)) => true,
        (Some("integer"), Value::Number(number)) => number.is_i64() || number.is_u64(),
        _ => false,
    }
}

/// Compares whole numbers; what a fraction is near to is not for here.
fn is_ordered(least: Option<&Number>, most: Option<&Number>) -> bool {
    let whole = |number: &Number| {
        number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
    };
    let (least, most) = (least.and_then(whole), most.and_then(whole));
    least.zip(most).is_some_and(|(least, most)| least <= most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_has_a_form_of_its_own_or_is_large_is_not_plain() {
        let plain = json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}}});
        assert!(is_plain(&plain));
        for other in [
            json!({"type": "text"}),
            json!({"type": ["string", "string"]}),
            json!({"required": ["a", "a"]}),
            json!({"minLength": -1}),
            json!({"pattern": "a"}),
            json!({"$ref": "#"}),
            json!({"properties": {"a": 1}}),
            json!({"anyOf": []}),
            (0..LEVELS).fold(json!(true), |inner, _| json!({"items": inner})),
            json!({"anyOf": vec![true; SCHEMAS]}),
        ] {
            assert!(!is_plain(&other), "{other}");
        }
    }

    #[test]
    fn what_is_not_surely_right_is_left_to_the_validator() {
        let whole = json!({"type": "integer", "minimum": 0});
        assert!(accepts(&whole, &json!(7)));
        assert!(!accepts(&whole, &json!(7.0)));
        assert!(!accepts(&json!({"oneOf": [true]}), &json!(1)));
        let many = json!(vec![1; EVALUATIONS]);
        assert!(!accepts(&json!({"items": {"type": "integer"}}), &many));
    }
}
