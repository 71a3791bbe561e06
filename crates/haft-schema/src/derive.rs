//! Schemas from Rust types.

mod docs;
mod tidy;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use crate::error::SchemaError;
use crate::keywords::children;
use crate::view::{Types, View};
use crate::words;

/// What a schema is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Arguments, to be deserialised.
    Input,
    /// An output, serialised.
    Output,
}

/// The schema of a tool's arguments.
pub(crate) enum Derived {
    Plain(Value),
    Tagged { tag: String, description: Option<String>, branches: Vec<(String, Value)> },
}

/// Derives the schema of a tool's arguments.
pub(crate) fn arguments<T: JsonSchema + ?Sized>() -> Result<Derived, SchemaError> {
    let mut schema = generate::<T>(Direction::Input)?;
    if let Some(derived) = split(&schema) {
        return Ok(derived);
    }
    tidy::close(&mut schema, false);
    tidy::order(&mut schema);
    if View::of(&schema).types() != Types::OBJECT {
        let accepts = words::cut(&crate::describe::expected(View::of(&schema)));
        return Err(SchemaError::RefusesObjects { accepts });
    }
    Ok(Derived::Plain(schema))
}

/// Derives a schema in one piece.
pub(crate) fn schema_of<T: JsonSchema + ?Sized>(
    direction: Direction,
) -> Result<Value, SchemaError> {
    let mut schema = generate::<T>(direction)?;
    tidy::close(&mut schema, false);
    tidy::order(&mut schema);
    Ok(schema)
}

fn generate<T: JsonSchema + ?Sized>(direction: Direction) -> Result<Value, SchemaError> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let settings = match direction {
        Direction::Input => settings.for_deserialize(),
        Direction::Output => settings.for_serialize(),
    };
    let mut schema = Value::from(settings.into_generator().into_root_schema_for::<T>());
    if refers(&schema) {
        return Err(SchemaError::Recursive { type_name: std::any::type_name::<T>() });
    }
    tidy::simplify(&mut schema, direction);
    Ok(schema)
}

/// With every type in place, only a type that contains itself leaves a reference.
fn refers(schema: &Value) -> bool {
    schema.get("$ref").is_some() || children(schema).iter().any(|(_, child)| refers(child))
}

/// Splits the schema of an internally tagged enum into one for each value of the tag.
///
/// Fields beside the enum, from a struct that flattens it, go into each.
fn split(schema: &Value) -> Option<Derived> {
    let root = schema.as_object()?;
    let variants = root.get("oneOf")?.as_array()?;
    let tag = shared_tag(variants)?;
    let branches = variants.iter().map(|variant| {
        let value = tag_value(variant, &tag)?.to_owned();
        let mut branch = merged(root, variant.as_object()?);
        tidy::close(&mut branch, false);
        tidy::order(&mut branch);
        Some((value, branch))
    });
    let branches = branches.collect::<Option<Vec<_>>>()?;
    let description = root.get("description").and_then(Value::as_str).map(str::to_owned);
    Some(Derived::Tagged { tag, description, branches })
}

fn shared_tag(variants: &[Value]) -> Option<String> {
    let first = variants.first()?;
    let mut candidates = View::of(first).properties()?.keys();
    let tag = candidates.find(|key| {
        let mut values: Vec<_> = variants.iter().map(|it| tag_value(it, key)).collect();
        values.sort_unstable();
        values.dedup();
        values.len() == variants.len() && !values.contains(&None)
    })?;
    Some(tag.clone())
}

fn tag_value<'v>(variant: &'v Value, key: &str) -> Option<&'v str> {
    let view = View::of(variant);
    let value = view.properties()?.get(key)?.get("const")?.as_str()?;
    view.required().any(|it| it == key).then_some(value)
}

/// Joins the fields of a struct with those of one variant that it flattens.
fn merged(root: &Map<String, Value>, variant: &Map<String, Value>) -> Value {
    let mut branch = variant.clone();
    for (keyword, value) in root {
        match (branch.get_mut(keyword), value) {
            (Some(Value::Object(inner)), Value::Object(outer)) if keyword == "properties" => {
                let tag_first = std::mem::take(inner);
                inner.extend(outer.iter().map(|(key, value)| (key.clone(), value.clone())));
                inner.extend(tag_first);
            }
            (Some(Value::Array(inner)), Value::Array(outer)) if keyword == "required" => {
                let own = std::mem::replace(inner, outer.clone());
                inner.extend(own);
            }
            (None, value) if !matches!(keyword.as_str(), "oneOf" | "description") => {
                branch.insert(keyword.clone(), value.clone());
            }
            _ => {}
        }
    }
    Value::Object(branch)
}
