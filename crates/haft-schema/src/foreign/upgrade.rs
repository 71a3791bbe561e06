//! From draft-07 to draft 2020-12.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use crate::keywords::{Holding, for_each_child_mut};
use crate::survey::{decode_percent, encode_percent};

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
    "$ref",
    "$schema",
    "definitions",
    "$defs",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
];

/// Rewrites a schema so that it means in draft 2020-12 what it meant in draft-07.
pub(super) fn to_2020_12(schema: &mut Value) {
    let mut moves = Moves::default();
    moves.upgrade(schema);
    if !moves.moved.is_empty() {
        moves.redirect(schema);
    }
}

/// Schemas that stand elsewhere after the upgrade, for the references to them.
#[derive(Default)]
struct Moves {
    /// From the old JSON Pointer to the new one.
    moved: HashMap<String, String>,
    old: String,
    new: String,
}

impl Moves {
    fn upgrade(&mut self, schema: &mut Value) {
        let Value::Object(object) = schema else { return };
        for keyword in UNKNOWN {
            object.shift_remove(*keyword);
        }
        if object.get("$ref").is_some_and(Value::is_string) {
            object.retain(|keyword, _| BESIDE_REFERENCE.contains(&keyword.as_str()));
        }
        name_anchor(object);
        let renamed = [split_items(object), split_dependencies(object)].concat();
        for_each_child_mut(object, |at, child| {
            let lengths = (self.old.len(), self.new.len());
            let before = renamed.iter().find(|(_, new)| *new == at.keyword);
            let keyword = before.map_or(at.keyword, |(old, _)| *old);
            Holding { keyword, ..at }.push_to(&mut self.old);
            at.push_to(&mut self.new);
            if before.is_some() {
                self.moved.insert(self.old.clone(), self.new.clone());
            }
            self.upgrade(child);
            self.old.truncate(lengths.0);
            self.new.truncate(lengths.1);
        });
    }

    /// Points references at what moved, or at something within it.
    fn redirect(&self, schema: &mut Value) {
        let Value::Object(object) = schema else { return };
        if let Some(Value::String(reference)) = object.get_mut("$ref")
            && let Some(fragment) = reference.strip_prefix('#')
        {
            let fragment = decode_percent(fragment);
            let ends = fragment.match_indices('/').map(|(end, _)| end).chain([fragment.len()]);
            let moved = ends
                .rev()
                .filter_map(|end| fragment.split_at_checked(end))
                .find_map(|(start, rest)| self.moved.get(start).map(|new| format!("{new}{rest}")));
            if let Some(moved) = moved {
                *reference = format!("#{}", encode_percent(&moved));
            }
        }
        for_each_child_mut(object, |_, child| self.redirect(child));
    }
}

/// What keywords are called now: the old name and the new one.
type Renamed = Vec<(&'static str, &'static str)>;

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
fn split_items(schema: &mut Map<String, Value>) -> Renamed {
    let additional = schema.shift_remove("additionalItems");
    if !schema.get("items").is_some_and(Value::is_array) {
        return Vec::new();
    }
    // An empty prefix says nothing, and draft 2020-12 does not allow it.
    if let Some(prefix) = schema.shift_remove("items")
        && prefix.as_array().is_some_and(|it| !it.is_empty())
    {
        schema.insert("prefixItems".to_owned(), prefix);
    }
    if let Some(additional) = additional {
        schema.insert("items".to_owned(), additional);
    }
    vec![("items", "prefixItems"), ("additionalItems", "items")]
}

fn split_dependencies(schema: &mut Map<String, Value>) -> Renamed {
    let Some(Value::Object(dependencies)) = schema.shift_remove("dependencies") else {
        return Vec::new();
    };
    let (required, schemas): (Map<_, _>, Map<_, _>) =
        dependencies.into_iter().partition(|(_, dependency)| dependency.is_array());
    for (keyword, map) in [("dependentRequired", required), ("dependentSchemas", schemas)] {
        if !map.is_empty() {
            schema.insert(keyword.to_owned(), json!(map));
        }
    }
    vec![("dependencies", "dependentSchemas")]
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

    #[test]
    fn references_follow_what_moved() {
        let mut schema = json!({
            "items": [{"type": "string"}, {"$ref": "#/items/0"}],
            "additionalItems": {"items": [true]},
            "properties": {
                "a": {"$ref": "#/additionalItems/items/0"},
                "b": {"$ref": "#/properties/a"},
                "c": {"dependencies": {"x y": {"required": ["z"]}}},
                "d": {"$ref": "#/properties/c/dependencies/x%20y"},
            },
        });
        to_2020_12(&mut schema);
        let reference = |at: &str| schema.pointer(at).and_then(Value::as_str).unwrap_or_default();
        assert_eq!(reference("/prefixItems/1/$ref"), "#/prefixItems/0");
        assert_eq!(reference("/properties/a/$ref"), "#/items/prefixItems/0");
        assert_eq!(reference("/properties/b/$ref"), "#/properties/a");
        assert_eq!(reference("/properties/d/$ref"), "#/properties/c/dependentSchemas/x%20y");
    }
}
