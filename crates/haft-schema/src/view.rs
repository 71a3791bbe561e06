//! A place in a schema, seen from the value it is applied to.
//!
//! A view answers simple questions (which types, which choices, what applies to this property) and errs on the side of
//! accepting: what it says a schema refuses, the schema does refuse. Repairs and defaults rest on that.

use serde_json::{Map, Value};

use crate::lookup::lookup;
use crate::survey::decode_percent;

/// Steps through references and combinations that one question may take.
const FUEL: usize = 24;

/// A place in a schema.
#[derive(Clone, Copy)]
pub(crate) struct View<'s> {
    root: &'s Value,
    schema: &'s Value,
}

/// A set of JSON types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Types(u8);

impl Types {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const NULL: Self = Self(1);
    pub(crate) const BOOLEAN: Self = Self(2);
    pub(crate) const INTEGER: Self = Self(4);
    /// Numbers, integers included.
    pub(crate) const NUMBER: Self = Self(4 | 8);
    /// Numbers that are no integers.
    pub(crate) const FRACTION: Self = Self(8);
    pub(crate) const STRING: Self = Self(16);
    pub(crate) const ARRAY: Self = Self(32);
    pub(crate) const OBJECT: Self = Self(64);
    pub(crate) const ALL: Self = Self(127);

    fn named(name: &str) -> Self {
        match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::INTEGER,
            "number" => Self::NUMBER,
            "string" => Self::STRING,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT,
            _ => Self::NONE,
        }
    }

    /// Returns the narrowest type of a value.
    pub(crate) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) if crate::words::whole(number).is_some() => Self::INTEGER,
            Value::Number(number) if number.as_f64().is_some_and(|it| it.fract() == 0.0) => {
                Self::INTEGER
            }
            Value::Number(_) => Self::FRACTION,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    /// Tells whether some type is in both sets.
    pub(crate) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    fn any(sets: impl Iterator<Item = Self>) -> Self {
        sets.fold(Self::NONE, Self::or)
    }
}

impl<'s> View<'s> {
    pub(crate) fn of(root: &'s Value) -> Self {
        Self { root, schema: root }
    }

    /// Looks at a schema that stands somewhere in `root`, or was made of what does.
    pub(crate) fn within(root: &'s Value, schema: &'s Value) -> Self {
        Self { root, schema }
    }

    fn at(self, schema: &'s Value) -> Self {
        Self { schema, ..self }
    }

    /// Moves to a place given as a JSON Pointer.
    pub(crate) fn moved(self, pointer: &str) -> Option<Self> {
        self.root.pointer(pointer).map(|schema| self.at(schema))
    }

    pub(crate) fn schema(self) -> &'s Value {
        self.schema
    }

    pub(crate) fn keyword(self, keyword: &str) -> Option<&'s Value> {
        lookup(self.schema.as_object()?, keyword)
    }

    /// Moves to the schema that a keyword holds.
    pub(crate) fn child(self, keyword: &str) -> Option<Self> {
        self.keyword(keyword).map(|schema| self.at(schema))
    }

    fn list(self, keyword: &str) -> impl Iterator<Item = Self> {
        let schemas = self.keyword(keyword).and_then(Value::as_array);
        schemas.into_iter().flatten().map(move |schema| self.at(schema))
    }

    /// Lists the alternatives of `anyOf` and `oneOf`.
    pub(crate) fn alternatives(self) -> impl Iterator<Item = Self> {
        self.list("anyOf").chain(self.list("oneOf"))
    }

    /// Follows a reference, where the schema has one.
    pub(crate) fn target(self) -> Option<Self> {
        let reference = self.keyword("$ref")?.as_str()?;
        let fragment = decode_percent(reference.strip_prefix('#')?);
        self.moved(&fragment)
    }

    /// Lists the schemas that hold together with this one: the target of its reference and `allOf`.
    fn joined(self) -> impl Iterator<Item = Self> {
        self.target().into_iter().chain(self.list("allOf"))
    }

    /// Returns the types that may be accepted.
    pub(crate) fn types(self) -> Types {
        self.types_within(FUEL)
    }

    fn types_within(self, fuel: usize) -> Types {
        let Some(object) = self.schema.as_object() else {
            return if self.schema == &Value::Bool(false) { Types::NONE } else { Types::ALL };
        };
        let Some(fuel) = fuel.checked_sub(1) else { return Types::ALL };
        let mut types = match lookup(object, "type") {
            Some(Value::String(name)) => Types::named(name),
            Some(Value::Array(names)) => {
                Types::any(names.iter().filter_map(Value::as_str).map(Types::named))
            }
            _ => Types::ALL,
        };
        if let Some(Value::Array(values)) = lookup(object, "enum") {
            types = types.and(Types::any(values.iter().map(Types::of)));
        }
        if let Some(value) = lookup(object, "const") {
            types = types.and(Types::of(value));
        }
        for keyword in ["anyOf", "oneOf"] {
            if lookup(object, keyword).is_some() {
                types = types.and(Types::any(self.list(keyword).map(|it| it.types_within(fuel))));
            }
        }
        self.joined().fold(types, |types, other| types.and(other.types_within(fuel)))
    }

    /// Returns the texts accepted, where only certain ones are.
    pub(crate) fn choices(self) -> Option<Vec<&'s str>> {
        self.choices_within(FUEL)
    }

    fn choices_within(self, fuel: usize) -> Option<Vec<&'s str>> {
        let fuel = fuel.checked_sub(1)?;
        if let Some(Value::Array(values)) = self.keyword("enum") {
            return Some(values.iter().filter_map(Value::as_str).collect());
        }
        if let Some(value) = self.keyword("const") {
            return Some(value.as_str().into_iter().collect());
        }
        for keyword in ["anyOf", "oneOf"] {
            let mut alternatives =
                self.list(keyword).filter(|it| it.types().meets(Types::STRING)).peekable();
            if alternatives.peek().is_some() {
                let choices = alternatives.map(|it| it.choices_within(fuel));
                return choices.collect::<Option<Vec<_>>>().map(|lists| lists.concat());
            }
        }
        self.joined().find_map(|it| it.choices_within(fuel))
    }

    /// Returns the properties that this schema itself names.
    pub(crate) fn properties(self) -> Option<&'s Map<String, Value>> {
        self.keyword("properties")?.as_object()
    }

    /// Lists the properties that must be present.
    pub(crate) fn required(self) -> impl Iterator<Item = &'s str> {
        let names = self.keyword("required").and_then(Value::as_array);
        names.into_iter().flatten().filter_map(Value::as_str)
    }

    /// Tells whether this schema itself refuses properties that it does not name.
    pub(crate) fn is_closed(self) -> bool {
        self.keyword("additionalProperties") == Some(&Value::Bool(false))
            && self.keyword("patternProperties").is_none()
    }

    /// Lists every schema that surely applies to a value beside this one, this one first.
    ///
    /// An alternative is listed only when all others are ruled out by the value's type or by a tag.
    pub(crate) fn applying(self, value: &Value) -> Vec<Self> {
        let mut applying = vec![self];
        let mut next = 0;
        while let Some(&view) = applying.get(next) {
            next += 1;
            if applying.len() > FUEL {
                break;
            }
            applying.extend(view.joined());
            for keyword in ["anyOf", "oneOf"] {
                let mut possible = view.list(keyword).filter(|it| it.may_accept(value));
                if let (Some(only), None) = (possible.next(), possible.next()) {
                    applying.push(only);
                }
            }
        }
        applying
    }

    /// Tells whether type and tags leave it open that the value is accepted.
    fn may_accept(self, value: &Value) -> bool {
        self.types().meets(Types::of(value)) && !self.is_tagged_otherwise(value)
    }

    fn is_tagged_otherwise(self, value: &Value) -> bool {
        let Some(object) = value.as_object() else { return false };
        [Some(self), self.target()].into_iter().flatten().any(|view| {
            let properties = view.properties().into_iter().flatten();
            properties
                .filter_map(|(name, schema)| Some((name, view.at(schema).keyword("const")?)))
                .any(|(name, wanted)| match object.get(name) {
                    Some(found) => wanted != found,
                    None => view.required().any(|it| it == name),
                })
        })
    }

    /// Returns the schema that this one has for a property, by its name or as one of many.
    pub(crate) fn property(self, name: &str) -> Option<Self> {
        let named = self.properties().and_then(|properties| lookup(properties, name));
        let others = || {
            let others = self.keyword("additionalProperties").filter(|it| it.is_object());
            others.filter(|_| self.keyword("patternProperties").is_none())
        };
        named.or_else(others).map(|schema| self.at(schema))
    }

    /// Returns the schema that this one has for an item.
    pub(crate) fn item(self, index: usize) -> Option<Self> {
        let prefix = self.keyword("prefixItems").and_then(Value::as_array);
        match prefix.and_then(|schemas| schemas.get(index)) {
            Some(schema) => Some(self.at(schema)),
            None => self.keyword("items").map(|schema| self.at(schema)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn types(schema: &Value) -> Types {
        View::of(schema).types()
    }

    #[test]
    fn types_are_gathered_from_every_form() {
        assert_eq!(types(&json!({"type": ["string", "null"]})), Types::STRING.or(Types::NULL));
        assert_eq!(types(&json!({"enum": ["a", 1]})), Types::STRING.or(Types::INTEGER));
        assert_eq!(
            types(&json!({"anyOf": [{"type": "array"}, {"const": null}]})),
            Types::ARRAY.or(Types::NULL)
        );
        assert_eq!(
            types(&json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}})),
            Types::OBJECT
        );
        assert_eq!(types(&json!(false)), Types::NONE);
        assert_eq!(types(&json!({"description": "anything"})), Types::ALL);
    }

    #[test]
    fn loops_end_with_everything_accepted() {
        assert_eq!(types(&json!({"$ref": "#"})), Types::ALL);
    }

    #[test]
    fn alternatives_are_told_apart_by_type_and_tag() {
        let schema = json!({"oneOf": [
            {"type": "object", "properties": {"kind": {"const": "a"}, "x": true}, "required": ["kind"]},
            {"type": "object", "properties": {"kind": {"const": "b"}, "y": true}, "required": ["kind"]},
            {"type": "string"},
        ]});
        let applying = |value: Value| View::of(&schema).applying(&value).len();
        assert_eq!(applying(json!({"kind": "a"})), 2);
        assert_eq!(applying(json!("text")), 2);
        assert_eq!(applying(json!({"kind": "c"})), 1);
    }

    #[test]
    fn choices_are_found_in_unions_of_constants() {
        let schema = json!({"anyOf": [{"const": "a"}, {"enum": ["b", "c"]}, {"type": "null"}]});
        assert_eq!(View::of(&schema).choices(), Some(vec!["a", "b", "c"]));
        assert_eq!(
            View::of(&json!({"anyOf": [{"const": "a"}, {"type": "string"}]})).choices(),
            None
        );
    }
}
