//! Schemas that come from elsewhere.

mod upgrade;

use haft_protocol::limits::{ARGUMENTS_DEPTH, SCHEMA_BYTES, SCHEMA_DEPTH};
use serde_json::{Map, Value, json};

use crate::describe::expected;
use crate::error::SchemaError;
use crate::keywords::for_each_child_mut;
use crate::measure::{Measure, dismantle};
use crate::pointer;
use crate::survey::{decode_percent, encode_percent};
use crate::view::{Types, View};
use crate::words;

/// References from the root to the root of a definition that are followed.
const ROOT_REFERENCES: usize = 8;

/// What the root of a schema has to accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Root {
    /// Objects, as arguments are.
    Object,
    /// Anything.
    Any,
}

/// Brings a schema into the one form that everything else works on: draft 2020-12, one resource, within bounds.
pub(crate) fn admit(schema: Value, root: Root) -> Result<Value, SchemaError> {
    let measure = Measure::of(&schema);
    // Before anything recurses, and before anything is dropped by a drop that does.
    if measure.depth > ARGUMENTS_DEPTH {
        dismantle(schema);
        return Err(SchemaError::TooDeep { limit: SCHEMA_DEPTH });
    }
    if measure.bytes > SCHEMA_BYTES || schema.to_string().len() > SCHEMA_BYTES {
        return Err(SchemaError::TooLarge { limit: SCHEMA_BYTES });
    }
    let mut schema = match (schema, root) {
        (Value::Bool(true), Root::Object) => json!({}),
        (Value::Bool(false), Root::Object) => {
            return Err(SchemaError::RefusesObjects { accepts: "no value at all".to_owned() });
        }
        (schema @ (Value::Object(_) | Value::Bool(_)), _) => schema,
        (other, _) => return Err(SchemaError::NotASchema { found: words::value(&other) }),
    };
    if dialect(&schema)? == Dialect::Draft07 {
        upgrade::to_2020_12(&mut schema);
    }
    strip_identity(&mut schema)?;
    if root == Root::Object {
        accept_object(&mut schema)?;
    }
    Ok(schema)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Draft202012,
    Draft07,
}

fn dialect(schema: &Value) -> Result<Dialect, SchemaError> {
    let Some(named) = schema.get("$schema") else { return Ok(Dialect::Draft202012) };
    let text = named.as_str().unwrap_or_default();
    let bare = text.trim_end_matches('#');
    let bare = bare.strip_prefix("https://").or(bare.strip_prefix("http://")).unwrap_or(bare);
    match bare {
        "json-schema.org/draft/2020-12/schema" => Ok(Dialect::Draft202012),
        "json-schema.org/draft-07/schema" => Ok(Dialect::Draft07),
        _ if named.is_string() => Err(SchemaError::Dialect { dialect: words::cut(text) }),
        _ => Err(SchemaError::Dialect { dialect: words::value(named) }),
    }
}

/// Removes what names the schema or its dialect, and refuses names that change what references mean.
fn strip_identity(schema: &mut Value) -> Result<(), SchemaError> {
    let refers = mentions_reference(schema);
    strip(schema, &mut String::new(), refers)
}

fn strip(schema: &mut Value, place: &mut String, refers: bool) -> Result<(), SchemaError> {
    let Value::Object(object) = schema else { return Ok(()) };
    for keyword in ["$schema", "$comment", "$vocabulary"] {
        object.shift_remove(keyword);
    }
    for keyword in ["$ref", "$dynamicRef"] {
        // Generators write names of types as they are; a reference is a URI.
        if let Some(Value::String(reference)) = object.get_mut(keyword)
            && let Some(fragment) = reference.strip_prefix('#')
        {
            *reference = format!("#{}", encode_percent(&decode_percent(fragment)));
        }
    }
    if let Some(id) = object.shift_remove("$id") {
        let text = id.as_str().unwrap_or_default();
        if refers && !place.is_empty() && !text.starts_with('#') {
            let id = words::cut(text);
            return Err(SchemaError::NestedIdentifier { pointer: pointer::shown(place), id });
        }
    }
    let mut outcome = Ok(());
    for_each_child_mut(object, |at, child| {
        if outcome.is_ok() {
            let length = place.len();
            at.push_to(place);
            outcome = strip(child, place, refers);
            place.truncate(length);
        }
    });
    outcome
}

/// Tells whether any reference may be in a value, wherever it stands.
fn mentions_reference(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(mentions_reference),
        Value::Object(object) => object.iter().any(|(key, value)| {
            matches!(key.as_str(), "$ref" | "$dynamicRef") || mentions_reference(value)
        }),
        _ => false,
    }
}

/// Gives the root the type object, which is all it will ever be asked about.
fn accept_object(schema: &mut Value) -> Result<(), SchemaError> {
    inline_root(schema);
    let types = View::of(schema).types();
    if !types.meets(Types::OBJECT) {
        let accepts = words::cut(&expected(View::of(schema)));
        return Err(SchemaError::RefusesObjects { accepts });
    }
    if let Value::Object(root) = schema
        && root.get("type").and_then(Value::as_str) != Some("object")
    {
        let rest = std::mem::take(root);
        root.insert("type".to_owned(), json!("object"));
        root.extend(rest.into_iter().filter(|(keyword, _)| keyword != "type"));
    }
    Ok(())
}

/// Puts the definition that the root refers to in the root, where no keyword of the two collides.
fn inline_root(schema: &mut Value) {
    for _ in 0..ROOT_REFERENCES {
        let Some(Value::Object(target)) = View::of(schema).target().map(View::schema) else {
            return;
        };
        let target: Map<String, Value> = target.clone();
        let Value::Object(root) = schema else { return };
        let collides = |keyword: &String| keyword != "$ref" && root.contains_key(keyword);
        let annotation =
            |keyword: &str| matches!(keyword, "description" | "title" | "default" | "examples");
        if target.keys().any(|keyword| collides(keyword) && !annotation(keyword)) {
            return;
        }
        root.shift_remove("$ref");
        for (keyword, value) in target {
            root.entry(keyword).or_insert(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(schema: Value) -> Value {
        admit(schema, Root::Object).unwrap()
    }

    #[test]
    fn roots_without_a_type_become_objects() {
        assert_eq!(admitted(json!({})), json!({"type": "object"}));
        assert_eq!(admitted(json!(true)), json!({"type": "object"}));
        assert_eq!(admitted(json!({"type": ["object", "null"]})), json!({"type": "object"}));
        let schema = json!({"properties": {"a": true}});
        assert_eq!(admitted(schema), json!({"type": "object", "properties": {"a": true}}));
    }

    #[test]
    fn roots_that_refer_to_a_definition_become_that_definition() {
        let schema = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "$ref": "#/definitions/Args",
            "definitions": {"Args": {"type": "object", "properties": {"a": true}}},
        });
        let admitted = admitted(schema);
        assert_eq!(admitted["type"], "object");
        assert_eq!(admitted["properties"], json!({"a": true}));
        assert_eq!(admitted.get("$ref"), None);
    }

    #[test]
    fn identifiers_go_unless_references_depend_on_them() {
        let schema =
            json!({"$id": "https://x.test/a", "properties": {"b": {"$id": "https://x.test/b"}}});
        assert_eq!(admitted(schema), json!({"type": "object", "properties": {"b": {}}}));
        let schema = json!({"properties": {"b": {"$id": "https://x.test/b", "$ref": "#"}}});
        assert_eq!(admit(schema, Root::Object).unwrap_err().code(), "nested_identifier");
    }
}
