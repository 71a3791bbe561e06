//! From draft-07 to draft 2020-12.

use serde_json::{Map, Value, json};

use crate::keywords::for_each_child_mut;

/// Keywords that draft-07 does not know, and therefore ignores.
const UNKNOWN: &[&str] = &[
    "prefixItems",
    "unevaluatedItems",
    "unevaluatedProperties",
    "dependentRequired",
    "dependentSchemas",
    "minContains",
    "maxContains",
    "$anchor",
    "$dynamicRef",
    "$dynamicAnchor",
    "$vocabulary",
    "contentSchema",
];

/// Keywords that stay beside a reference, where draft-07 ignores all: definitions, and what only describes.
const BESIDE_REFERENCE: &[&str] = &[
    "$ref", "$schema", "definitions", "$defs", "title", "description", "default", "examples", "deprecated",
];

/// Rewrites a schema so that it means in draft 2020-12 what it meant in draft-07.
pub(super) fn to_2020_12(schema: &mut Value) {
    let Value::Object(object) = schema else { return };
    for keyword in UNKNOWN {
        object.shift_remove(*keyword);
    }
    if object.get("$ref").is_some_and(Value::is_string) {
        object.retain(|keyword, _| BESIDE_REFERENCE.contains(&keyword.as_str()));
    }
    name_anchor(object);
    split_items(object);
    split_dependencies(object);
    for_each_child_mut(object, |_, child| to_2020_12(child));
}

/// An identifier that is only a fragment is an anchor.
fn name_anchor(schema: &mut Map<String, Value>) {
    let anchor = schema.get("$id").and_then(Value::as_str).and_then(|id| id.strip_prefix('#'));
    let is_name = |name: &&str| {
        let mut characters = name.chars();
        characters.next().is_some_and(|it| it.is_ascii_alphabetic() || it == '_')
            && characters.all(|it| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.'))
    };
    if let Some(anchor) = anchor.filter(is_name).map(str::to_owned) {
        schema.shift_remove("$id");
        schema.insert("$anchor".to_owned(), Value::String(anchor));
    }
}

/// A list of items becomes a prefix; what followed it becomes the items.
fn split_items(schema: &mut Map<String, Value>) {
    let additional = schema.shift_remove("additionalItems");
    if schema.get("items").is_some_and(Value::is_array)
        && let Some(prefix) = schema.shift_remove("items")
    {
        // An empty prefix says nothing, and draft 2020-12 does not allow it.
        if prefix.as_array().is_some_and(|it| !it.is_empty()) {
            schema.insert("prefixItems".to_owned(), prefix);
        }
        if let Some(additional) = additional {
            schema.insert("items".to_owned(), additional);
        }
    }
}

fn split_dependencies(schema: &mut Map<String, Value>) {
    let Some(Value::Object(dependencies)) = schema.shift_remove("dependencies") else { return };
    let (required, schemas): (Map<_, _>, Map<_, _>) =
        dependencies.into_iter().partition(|(_, dependency)| dependency.is_array());
    for (keyword, map) in [("dependentRequired", required), ("dependentSchemas", schemas)] {
        if !map.is_empty() {
            schema.insert(keyword.to_owned(), json!(map));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_forms_become_new_ones() {
        let mut schema = json!({
            "items": [{"type": "string"}],
            "additionalItems": false,
            "dependencies": {"a": ["b"], "c": {"required": ["d"]}},
            "properties": {"x": {"$id": "#x", "type": "array", "items": true, "additionalItems": false}},
            "definitions": {"y": {"$ref": "#x", "type": "string", "description": "Y."}},
            "prefixItems": [false],
        });
        to_2020_12(&mut schema);
        assert_eq!(
            schema,
            json!({
                "prefixItems": [{"type": "string"}],
                "items": false,
                "dependentRequired": {"a": ["b"]},
                "dependentSchemas": {"c": {"required": ["d"]}},
                "properties": {"x": {"$anchor": "x", "type": "array", "items": true}},
                "definitions": {"y": {"$ref": "#x", "description": "Y."}},
            })
        );
    }
}
