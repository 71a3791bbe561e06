//! Schemas for dialects that take nearly everything.

use serde_json::{Map, Value};

use super::inverse::{Field, Object, Undo};
use super::objects::plain_name;
use super::table::{Dialect, Feature, Treatment};
use super::{Loss, LossKind, narrow};
use crate::keywords::for_each_child_mut;
use crate::pointer;

/// Takes out what the dialect does not take.
pub(super) fn lower(root: &Value, dialect: Dialect) -> (Value, Undo, Vec<Loss>) {
    let mut losses = Vec::new();
    let object = root.as_object().cloned().unwrap_or_default();
    let is_union = ["anyOf", "oneOf", "allOf"].iter().any(|it| object.contains_key(*it));
    let mut object = if is_union && dialect.treatment(Feature::RootUnion) == Treatment::Rewrite {
        let (mut merged, lost) = narrow::merge_root(root, dialect);
        losses = lost;
        for keyword in ["$defs", "definitions"] {
            if let Some(definitions) = object.get(keyword) {
                merged.insert(keyword.to_owned(), definitions.clone());
            }
        }
        merged
    } else {
        object
    };
    trim(&mut object, dialect, &mut String::new(), &mut losses);
    object.insert("type".to_owned(), Value::from("object"));
    let undo = rename(&mut object, dialect, &mut losses);
    (Value::Object(object), undo, losses)
}

/// Gives arguments other names where the dialect does not take theirs. What is deeper keeps its name: only arguments are
/// looked at.
fn rename(object: &mut Map<String, Value>, dialect: Dialect, losses: &mut Vec<Loss>) -> Undo {
    let mut undo = Object::default();
    let Some(Value::Object(properties)) = object.get_mut("properties") else { return Undo::Same };
    let own: Vec<String> = properties.keys().cloned().collect();
    let mut renamed = Map::new();
    for (name, schema) in std::mem::take(properties) {
        let is_taken = |it: &str| renamed.contains_key(it) || own.iter().any(|own| own == it);
        let plain = plain_name(dialect, &name, is_taken);
        let Some(plain) = plain else {
            renamed.insert(name, schema);
            continue;
        };
        losses.push(Loss::at(
            &pointer::joined("", &name),
            "a property's name",
            LossKind::Rewritten,
        ));
        renamed.insert(plain.clone(), schema);
        undo.fields.insert(plain, Field { name: Some(name), undo: Undo::Same, drops_null: false });
    }
    *properties = renamed;
    if undo.fields.is_empty() {
        return Undo::Same;
    }
    for name in object.get_mut("required").and_then(Value::as_array_mut).into_iter().flatten() {
        let wire = undo.fields.iter().find(|(_, field)| field.name.as_deref() == name.as_str());
        if let Some((wire, _)) = wire {
            *name = Value::from(wire.as_str());
        }
    }
    Undo::Object(Box::new(undo))
}

fn trim(
    object: &mut Map<String, Value>,
    dialect: Dialect,
    place: &mut String,
    losses: &mut Vec<Loss>,
) {
    object.retain(|keyword, _| {
        !matches!(
            keyword.as_str(),
            "title"
                | "$schema"
                | "$id"
                | "$comment"
                | "examples"
                | "example"
                | "deprecated"
                | "readOnly"
                | "writeOnly"
                | "discriminator"
        ) && !keyword.starts_with("x-")
    });
    if !dialect.keeps(Feature::Logic) {
        for keyword in ["not", "if", "then", "else", "dependentSchemas", "dependentRequired"] {
            if object.shift_remove(keyword).is_some() {
                losses.push(Loss::at(place, keyword, LossKind::Dropped));
            }
        }
    }
    for_each_child_mut(object, |at, child| {
        if let Value::Object(child) = child {
            let length = place.len();
            at.push_to(place);
            trim(child, dialect, place, losses);
            place.truncate(length);
        }
    });
}
