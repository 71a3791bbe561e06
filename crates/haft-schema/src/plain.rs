//! Schemas in plain words: those that our own types come out as.
//!
//! A plain schema compiles for sure, so compiling it can wait for a value that is refused, when the reasons are wanted.
//! Until then values are accepted by its words alone. What is not accepted here goes to the validator, which decides.

use serde_json::{Map, Number, Value};

use self::Judgement::{Accepts, Open, Refuses};
use crate::lookup::lookup;

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

/// What a schema's words say of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judgement {
    Accepts,
    Refuses,
    /// The words alone do not decide.
    Open,
}

impl Judgement {
    fn sure(accepts: bool) -> Self {
        if accepts { Accepts } else { Refuses }
    }

    /// Joins what several rules say of one value: the first that refuses decides.
    fn of_all(judgements: impl IntoIterator<Item = Self>) -> Self {
        let mut joined = Accepts;
        for judgement in judgements {
            match judgement {
                Accepts => {}
                Refuses => return Refuses,
                Open => joined = Open,
            }
        }
        joined
    }
}

/// Judges a value by the words of a plain schema.
pub(crate) fn judge(schema: &Value, value: &Value) -> Judgement {
    Check { left: EVALUATIONS }.judge(schema, value)
}

struct Check {
    left: usize,
}

impl Check {
    fn judge(&mut self, schema: &Value, value: &Value) -> Judgement {
        let Some(left) = self.left.checked_sub(1) else { return Open };
        self.left = left;
        let object = match schema {
            Value::Bool(accepts) => return Judgement::sure(*accepts),
            Value::Object(object) => object,
            _ => return Open,
        };
        Judgement::of_all(object.iter().map(|(keyword, rule)| match (keyword.as_str(), value) {
            ("properties", Value::Object(parts)) => self.named(rule, parts),
            ("additionalProperties", Value::Object(parts)) => self.others(object, rule, parts),
            ("items", Value::Array(items)) => {
                Judgement::of_all(items.iter().map(|item| self.judge(rule, item)))
            }
            (
                "description"
                | "default"
                | "format"
                | "properties"
                | "additionalProperties"
                | "items",
                _,
            ) => Accepts,
            ("anyOf", _) => {
                any(rule.as_array().into_iter().flatten().map(|schema| self.judge(schema, value)))
            }
            ("oneOf", _) => self.one_of(rule, value),
            (keyword, value) => holds(keyword, rule, value),
        }))
    }

    fn named(&mut self, properties: &Value, parts: &Map<String, Value>) -> Judgement {
        let Some(properties) = properties.as_object() else { return Open };
        Judgement::of_all(parts.iter().map(|(name, part)| match lookup(properties, name) {
            Some(schema) => self.judge(schema, part),
            None => Accepts,
        }))
    }

    fn others(
        &mut self,
        schema: &Map<String, Value>,
        rule: &Value,
        parts: &Map<String, Value>,
    ) -> Judgement {
        let named = lookup(schema, "properties").and_then(Value::as_object);
        let others = parts
            .iter()
            .filter(|(name, _)| named.is_none_or(|named| lookup(named, name).is_none()));
        Judgement::of_all(others.map(|(_, part)| self.judge(rule, part)))
    }

    fn one_of(&mut self, schemas: &Value, value: &Value) -> Judgement {
        let (mut accepting, mut open) = (0, 0);
        for schema in schemas.as_array().into_iter().flatten() {
            match self.judge(schema, value) {
                Accepts => accepting += 1,
                Refuses => {}
                Open => open += 1,
            }
        }
        if open > 0 { Open } else { Judgement::sure(accepting == 1) }
    }
}

/// Judges by a rule that is about the value alone.
fn holds(keyword: &str, rule: &Value, value: &Value) -> Judgement {
    let counted = |count: usize, holds: fn(&u64, &u64) -> bool| match rule.as_u64() {
        Some(limit) => Judgement::sure(holds(&(count as u64), &limit)),
        None => Open,
    };
    match (keyword, value) {
        ("type", _) => match rule {
            Value::Array(names) => any(names.iter().map(|name| is_of(name, value))),
            name => is_of(name, value),
        },
        ("const", _) => is_same(rule, value),
        ("enum", _) => any(rule.as_array().into_iter().flatten().map(|it| is_same(it, value))),
        ("required", Value::Object(object)) => {
            let mut names = rule.as_array().into_iter().flatten().filter_map(Value::as_str);
            Judgement::sure(names.all(|name| lookup(object, name).is_some()))
        }
        ("minimum", Value::Number(number)) => is_ordered(rule.as_number(), Some(number)),
        ("maximum", Value::Number(number)) => is_ordered(Some(number), rule.as_number()),
        ("minLength", Value::String(text)) => counted(text.chars().count(), u64::ge),
        ("maxLength", Value::String(text)) => counted(text.chars().count(), u64::le),
        ("minItems", Value::Array(items)) => counted(items.len(), u64::ge),
        ("maxItems", Value::Array(items)) => counted(items.len(), u64::le),
        (
            "required" | "minimum" | "maximum" | "minLength" | "maxLength" | "minItems"
            | "maxItems",
            _,
        ) => Accepts,
        _ => Open,
    }
}

/// Joins what several choices say of one value: the first that accepts decides.
fn any(judgements: impl IntoIterator<Item = Judgement>) -> Judgement {
    let mut joined = Refuses;
    for judgement in judgements {
        match judgement {
            Accepts => return Accepts,
            Refuses => {}
            Open => joined = Open,
        }
    }
    joined
}

fn is_of(name: &Value, value: &Value) -> Judgement {
    match (name.as_str(), value) {
        // A whole number may be written with a point.
        (Some("integer"), Value::Number(number)) if number.is_f64() => Open,
        (Some("null"), Value::Null)
        | (Some("boolean"), Value::Bool(_))
        | (Some("number" | "integer"), Value::Number(_))
        | (Some("string"), Value::String(_))
        | (Some("array"), Value::Array(_))
        | (Some("object"), Value::Object(_)) => Accepts,
        _ => Refuses,
    }
}

fn is_same(one: &Value, other: &Value) -> Judgement {
    match (one, other) {
        _ if one == other => Accepts,
        // To JSON Schema `1` and `1.0` are the same, wherever they stand.
        (Value::Number(_), Value::Number(_))
        | (Value::Array(_), Value::Array(_))
        | (Value::Object(_), Value::Object(_)) => Open,
        _ => Refuses,
    }
}

/// Compares whole numbers; what a fraction is near to is not for here.
fn is_ordered(least: Option<&Number>, most: Option<&Number>) -> Judgement {
    let whole = |number: &Number| {
        number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
    };
    match (least.and_then(whole), most.and_then(whole)) {
        (Some(least), Some(most)) => Judgement::sure(least <= most),
        _ => Open,
    }
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
    fn what_the_words_leave_open_is_left_to_the_validator() {
        let whole = json!({"type": "integer", "minimum": 0});
        assert_eq!(judge(&whole, &json!(7)), Accepts);
        assert_eq!(judge(&whole, &json!(-7)), Refuses);
        assert_eq!(judge(&whole, &json!(7.0)), Open);
        assert_eq!(judge(&json!({"const": [1]}), &json!([1.0])), Open);
        let many = json!(vec![1; EVALUATIONS]);
        assert_eq!(judge(&json!({"items": {"type": "integer"}}), &many), Open);
    }

    #[test]
    fn one_of_several_shapes_is_told_by_its_tag() {
        let shape =
            |tag: &str| json!({"properties": {"action": {"const": tag}}, "required": ["action"]});
        let shapes = json!({"oneOf": [shape("read"), shape("list")]});
        assert_eq!(judge(&shapes, &json!({"action": "list"})), Accepts);
        assert_eq!(judge(&shapes, &json!({"action": "write"})), Refuses);
        assert_eq!(judge(&shapes, &json!(1)), Refuses);
    }
}
