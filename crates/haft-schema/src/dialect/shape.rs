//! What alternatives are told apart by.

use serde_json::{Map, Value};

/// What a value of an alternative looks like from outside.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Shape {
    /// Names of its types, in small letters; empty where any type may be.
    types: Vec<String>,
    /// Properties that an object must have, with the texts each may be, where it has to be one of some.
    required: Vec<(String, Option<Vec<Value>>)>,
    /// All properties that an object may have, where no others are allowed.
    keys: Option<Vec<String>>,
}

impl Shape {
    /// Looks at a lowered schema.
    pub(super) fn of(schema: &Value) -> Self {
        let Some(object) = schema.as_object() else { return Self::default() };
        if let Some(Value::Array(branches)) = object.get("anyOf") {
            return Self::of_any(branches);
        }
        let mut types: Vec<String> = match object.get("type") {
            Some(Value::String(name)) => vec![name.to_ascii_lowercase()],
            Some(Value::Array(names)) => {
                names.iter().filter_map(Value::as_str).map(str::to_ascii_lowercase).collect()
            }
            _ => Vec::new(),
        };
        if object.get("nullable") == Some(&Value::Bool(true)) && !types.is_empty() {
            types.push("null".to_owned());
        }
        let properties = object.get("properties").and_then(Value::as_object);
        let required = object.get("required").and_then(Value::as_array).into_iter().flatten();
        let required = required.filter_map(Value::as_str).map(|name| {
            let property = properties.and_then(|it| it.get(name));
            (name.to_owned(), property.and_then(choices))
        });
        let is_closed = object.get("additionalProperties") == Some(&Value::Bool(false));
        let keys = properties.filter(|_| is_closed).map(|it| it.keys().cloned().collect());
        Self { types, required: required.collect(), keys }
    }

    fn of_any(branches: &[Value]) -> Self {
        let mut types = Vec::new();
        for branch in branches {
            let shape = Self::of(branch);
            if shape.types.is_empty() {
                return Self::default();
            }
            types.extend(shape.types);
        }
        Self { types, ..Self::default() }
    }

    /// Tells whether no value has both shapes.
    pub(super) fn excludes(&self, other: &Self) -> bool {
        if self.types.is_empty() || other.types.is_empty() {
            return false;
        }
        let shared: Vec<&str> = self
            .types
            .iter()
            .filter(|it| other.types.iter().any(|other| meets(it, other)))
            .map(String::as_str)
            .collect();
        shared.is_empty()
            || (shared == ["object"]
                && (self.is_tagged_otherwise(other)
                    || self.lacks_key_of(other)
                    || other.lacks_key_of(self)))
    }

    fn is_tagged_otherwise(&self, other: &Self) -> bool {
        self.required.iter().any(|(name, choices)| {
            let Some(choices) = choices else { return false };
            other.required.iter().any(|(other, others)| {
                let disjoint = |others: &Vec<Value>| !others.iter().any(|it| choices.contains(it));
                other == name && others.as_ref().is_some_and(disjoint)
            })
        })
    }

    fn lacks_key_of(&self, other: &Self) -> bool {
        let Some(keys) = &self.keys else { return false };
        other.required.iter().any(|(name, _)| !keys.contains(name))
    }

    /// Tells whether a value has the shape.
    pub(super) fn accepts(&self, value: &Value) -> bool {
        let name = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(object) => return self.accepts_object(object),
        };
        self.types.is_empty() || self.types.iter().any(|it| meets(it, name))
    }

    fn accepts_object(&self, object: &Map<String, Value>) -> bool {
        let of_type = self.types.is_empty() || self.types.iter().any(|it| it == "object");
        let has_all = self.required.iter().all(|(name, choices)| {
            let fits = |value| choices.as_ref().is_none_or(|choices| choices.contains(value));
            object.get(name).is_some_and(fits)
        });
        let no_other =
            |keys: &Vec<String>| object.keys().all(|key| keys.iter().any(|it| it == key));
        of_type && has_all && self.keys.as_ref().is_none_or(no_other)
    }
}

fn choices(schema: &Value) -> Option<Vec<Value>> {
    let mut choices = match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(values)), _) => values.clone(),
        (_, Some(value)) => vec![value.clone()],
        _ => return None,
    };
    if schema.get("nullable") == Some(&Value::Bool(true)) {
        choices.push(Value::Null);
    }
    Some(choices)
}

/// Tells whether a value may be of both types.
fn meets(one: &str, other: &str) -> bool {
    one == other || matches!((one, other), ("integer", "number") | ("number", "integer"))
}
