//! The keywords of draft 2020-12 that hold other schemas.
//!
//! Everything that walks a schema walks through here, so that a property that happens to be called `title` or `$ref` is
//! never mistaken for a keyword.

use serde_json::{Map, Value};

use crate::pointer;

/// How a keyword holds its schemas.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    One,
    List,
    Named,
}

/// What a sub-schema is applied to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Applies {
    /// The value that the parent is applied to.
    SameValue,
    /// A part of that value.
    Part,
    /// Nothing, until a reference points to it.
    Nothing,
}

/// A keyword that holds schemas.
struct Keyword {
    name: &'static str,
    holds: Holds,
    applies: Applies,
}

/// Returns what a keyword holds, where it holds schemas.
fn keyword(name: &str) -> Option<Keyword> {
    use Applies::{Nothing, Part, SameValue};
    use Holds::{List, Named, One};
    let (name, holds, applies) = match name {
        "properties" => ("properties", Named, Part),
        "patternProperties" => ("patternProperties", Named, Part),
        "additionalProperties" => ("additionalProperties", One, Part),
        "unevaluatedProperties" => ("unevaluatedProperties", One, Part),
        "propertyNames" => ("propertyNames", One, Part),
        "prefixItems" => ("prefixItems", List, Part),
        "items" => ("items", One, Part),
        "unevaluatedItems" => ("unevaluatedItems", One, Part),
        "contains" => ("contains", One, Part),
        "allOf" => ("allOf", List, SameValue),
        "anyOf" => ("anyOf", List, SameValue),
        "oneOf" => ("oneOf", List, SameValue),
        "not" => ("not", One, SameValue),
        "if" => ("if", One, SameValue),
        "then" => ("then", One, SameValue),
        "else" => ("else", One, SameValue),
        "dependentSchemas" => ("dependentSchemas", Named, SameValue),
        "dependencies" => ("dependencies", Named, SameValue),
        "contentSchema" => ("contentSchema", One, Nothing),
        "$defs" => ("$defs", Named, Nothing),
        "definitions" => ("definitions", Named, Nothing),
        _ => return None,
    };
    Some(Keyword { name, holds, applies })
}

/// The place of a sub-schema beneath its keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place<'s> {
    /// The keyword holds it alone.
    Alone,
    /// Its position in the keyword's list.
    Index(usize),
    /// Its name in the keyword's map.
    Name(&'s str),
}

/// How a parent holds a sub-schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Holding<'s> {
    pub(crate) keyword: &'static str,
    pub(crate) place: Place<'s>,
    pub(crate) applies: Applies,
}

impl Holding<'_> {
    /// Appends the way from the parent to the sub-schema.
    pub(crate) fn push_to(&self, pointer: &mut String) {
        pointer::push(pointer, self.keyword);
        match self.place {
            Place::Alone => {}
            Place::Index(index) => pointer::push_index(pointer, index),
            Place::Name(name) => pointer::push(pointer, name),
        }
    }
}

fn is_schema(value: &Value) -> bool {
    value.is_object() || value.is_boolean()
}

/// Lists the sub-schemas directly beneath a schema, in the order in which they are written.
pub(crate) fn children(schema: &Value) -> Vec<(Holding<'_>, &Value)> {
    let mut found = Vec::new();
    for (name, value) in schema.as_object().into_iter().flatten() {
        let Some(Keyword { name, holds, applies }) = keyword(name) else { continue };
        let at = |place| Holding { keyword: name, place, applies };
        match (holds, value) {
            (Holds::One, schema) if is_schema(schema) => found.push((at(Place::Alone), schema)),
            (Holds::List, Value::Array(list)) => {
                let list = list.iter().enumerate();
                found.extend(list.map(|(index, schema)| (at(Place::Index(index)), schema)));
            }
            (Holds::Named, Value::Object(map)) => {
                let schemas = map.iter().filter(|(_, schema)| is_schema(schema));
                found.extend(schemas.map(|(name, schema)| (at(Place::Name(name)), schema)));
            }
            _ => {}
        }
    }
    found
}

/// Runs `change` on each sub-schema directly beneath a schema.
pub(crate) fn for_each_child_mut(
    schema: &mut Map<String, Value>,
    mut change: impl FnMut(Holding<'_>, &mut Value),
) {
    for (name, value) in schema {
        let Some(Keyword { name, holds, applies }) = keyword(name) else { continue };
        let at = |place| Holding { keyword: name, place, applies };
        match (holds, value) {
            (Holds::One, schema) if is_schema(schema) => change(at(Place::Alone), schema),
            (Holds::List, Value::Array(list)) => {
                for (index, schema) in list.iter_mut().enumerate() {
                    change(at(Place::Index(index)), schema);
                }
            }
            (Holds::Named, Value::Object(map)) => {
                for (name, schema) in map.iter_mut().filter(|(_, schema)| is_schema(schema)) {
                    change(at(Place::Name(name)), schema);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn properties_named_like_keywords_are_not_keywords() {
        let schema =
            json!({"properties": {"items": {"type": "string"}, "$ref": true}, "items": [1]});
        let names: Vec<_> = children(&schema).iter().map(|(at, _)| at.place).collect();
        assert_eq!(names, [Place::Name("items"), Place::Name("$ref")]);
    }
}
