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

const KEYWORDS: &[(&str, Holds, Applies)] = &[
    ("properties", Holds::Named, Applies::Part),
    ("patternProperties", Holds::Named, Applies::Part),
    ("additionalProperties", Holds::One, Applies::Part),
    ("unevaluatedProperties", Holds::One, Applies::Part),
    ("propertyNames", Holds::One, Applies::Part),
    ("prefixItems", Holds::List, Applies::Part),
    ("items", Holds::One, Applies::Part),
    ("unevaluatedItems", Holds::One, Applies::Part),
    ("contains", Holds::One, Applies::Part),
    ("allOf", Holds::List, Applies::SameValue),
    ("anyOf", Holds::List, Applies::SameValue),
    ("oneOf", Holds::List, Applies::SameValue),
    ("not", Holds::One, Applies::SameValue),
    ("if", Holds::One, Applies::SameValue),
    ("then", Holds::One, Applies::SameValue),
    ("else", Holds::One, Applies::SameValue),
    ("dependentSchemas", Holds::Named, Applies::SameValue),
    ("dependencies", Holds::Named, Applies::SameValue),
    ("contentSchema", Holds::One, Applies::Nothing),
    ("$defs", Holds::Named, Applies::Nothing),
    ("definitions", Holds::Named, Applies::Nothing),
];

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

/// Lists the sub-schemas directly beneath a schema.
pub(crate) fn children(schema: &Value) -> Vec<(Holding<'_>, &Value)> {
    let mut found = Vec::new();
    let Some(object) = schema.as_object() else { return found };
    for &(keyword, holds, applies) in KEYWORDS {
        let at = |place| Holding { keyword, place, applies };
        match (holds, object.get(keyword)) {
            (Holds::One, Some(schema)) if is_schema(schema) => {
                found.push((at(Place::Alone), schema));
            }
            (Holds::List, Some(Value::Array(list))) => {
                let list = list.iter().enumerate();
                found.extend(list.map(|(index, schema)| (at(Place::Index(index)), schema)));
            }
            (Holds::Named, Some(Value::Object(map))) => {
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
    for &(keyword, holds, applies) in KEYWORDS {
        let at = |place| Holding { keyword, place, applies };
        match (holds, schema.get_mut(keyword)) {
            (Holds::One, Some(schema)) if is_schema(schema) => change(at(Place::Alone), schema),
            (Holds::List, Some(Value::Array(list))) => {
                for (index, schema) in list.iter_mut().enumerate() {
                    change(at(Place::Index(index)), schema);
                }
            }
            (Holds::Named, Some(Value::Object(map))) => {
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
