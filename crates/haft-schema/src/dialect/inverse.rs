//! The way back from the shapes of a dialect.

use std::collections::BTreeMap;

use haft_protocol::limits::ARGUMENTS_DEPTH;
use serde_json::{Map, Value};

use super::shape::Shape;
use crate::measure::{Measure, dismantle};
use crate::{pointer, words};

/// The way back for arguments in the shapes of a dialect.
#[derive(Debug, Clone)]
pub struct Inverse {
    undo: Undo,
    definitions: Vec<Undo>,
}

/// Arguments that cannot be brought back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{pointer}: found {found}, expected {expected}")]
pub struct InverseError {
    /// Where in the arguments, as a JSON Pointer.
    pub pointer: String,
    /// What stands there.
    pub found: String,
    /// What would be right.
    pub expected: String,
}

/// How a value is brought back. A value of another type than expected stays as it is: the contract says what is wrong.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Undo {
    /// It stays as it is.
    Same,
    Object(Box<Object>),
    /// A list of pairs becomes an object.
    Pairs(Box<Self>),
    /// Each item is brought back.
    Items(Box<Self>),
    /// The first alternative that it has the shape of is undone.
    OneOf(Vec<(Shape, Self)>),
    /// A text is read as JSON.
    Text {
        /// Whether a text that is no JSON is meant as it stands.
        is_anything: bool,
    },
    /// A text stands for a value.
    Named(Vec<(String, Value)>),
    /// What a definition says.
    Definition(usize),
}

/// How an object is brought back.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Object {
    /// By the name in the dialect.
    pub(super) fields: BTreeMap<String, Field>,
    /// For all other properties.
    pub(super) others: Option<Undo>,
    /// The property that holds all other properties as pairs, and how they are brought back.
    pub(super) gathered: Option<(String, Undo)>,
}

/// How a property is brought back.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    /// Its own name, where the dialect's is another.
    pub(super) name: Option<String>,
    pub(super) undo: Undo,
    /// Whether null means that it is left out.
    pub(super) drops_null: bool,
}

impl Inverse {
    pub(super) fn new(undo: Undo, definitions: Vec<Undo>) -> Self {
        Self { undo, definitions }
    }

    /// Tells whether all arguments stay as they are.
    pub fn is_identity(&self) -> bool {
        self.undo == Undo::Same
    }

    /// Brings arguments back into the shape of the schema that was lowered.
    ///
    /// It comes before anything is repaired or checked.
    ///
    /// # Errors
    ///
    /// Fails, with the place, where a list of pairs is none, where a key stands in it twice, where a text is not the JSON it
    /// should be, and where the arguments nest too deep.
    pub fn apply(&self, arguments: Value) -> Result<Value, InverseError> {
        if self.is_identity() {
            return Ok(arguments);
        }
        if Measure::of(&arguments).depth > ARGUMENTS_DEPTH {
            dismantle(arguments);
            let found = format!("more than {ARGUMENTS_DEPTH} levels");
            return Err(fault("", found, "a flatter value"));
        }
        self.back(&self.undo, arguments, &mut String::new())
    }

    #[cfg(test)]
    pub(super) fn parts(&self) -> (&Undo, &[Undo]) {
        (&self.undo, &self.definitions)
    }

    fn back(&self, undo: &Undo, value: Value, place: &mut String) -> Result<Value, InverseError> {
        match (undo, value) {
            (Undo::Object(object), Value::Object(map)) => self.object(object, map, place),
            (Undo::Pairs(undo), Value::Array(pairs)) => self.pairs(undo, pairs, place),
            (Undo::Items(undo), Value::Array(items)) => {
                let items = items.into_iter().enumerate().map(|(index, item)| {
                    pointer::within(place, &index.to_string(), |place| self.back(undo, item, place))
                });
                items.collect::<Result<Vec<_>, _>>().map(Value::Array)
            }
            (Undo::OneOf(branches), value) => {
                match branches.iter().find(|(shape, _)| shape.accepts(&value)) {
                    Some((_, undo)) => self.back(undo, value, place),
                    None => Ok(value),
                }
            }
            (Undo::Text { is_anything }, Value::String(text)) => {
                match serde_json::from_str(&text) {
                    Ok(value) => Ok(value),
                    Err(_) if *is_anything => Ok(Value::String(text)),
                    Err(error) => {
                        let found = format!("text that is no JSON ({error})");
                        Err(fault(place, found, "JSON as a text"))
                    }
                }
            }
            (Undo::Named(names), Value::String(text)) => {
                let named = names.iter().find(|(name, _)| *name == text);
                Ok(named.map_or(Value::String(text), |(_, value)| value.clone()))
            }
            (Undo::Definition(index), value) => match self.definitions.get(*index) {
                Some(undo) => self.back(undo, value, place),
                None => Ok(value),
            },
            (_, value) => Ok(value),
        }
    }

    fn object(
        &self,
        object: &Object,
        map: Map<String, Value>,
        place: &mut String,
    ) -> Result<Value, InverseError> {
        let mut back = Map::new();
        for (key, value) in map {
            if let Some(field) = object.fields.get(&key) {
                if value.is_null() && field.drops_null {
                    continue;
                }
                let value =
                    pointer::within(place, &key, |place| self.back(&field.undo, value, place))?;
                back.insert(field.name.clone().unwrap_or(key), value);
                continue;
            }
            match &object.gathered {
                Some((name, _)) if *name == key && value.is_null() => {}
                Some((name, undo)) if *name == key => {
                    let pairs = Undo::Pairs(Box::new(undo.clone()));
                    let value =
                        pointer::within(place, &key, |place| self.back(&pairs, value, place))?;
                    match value {
                        Value::Object(others) => {
                            for (key, value) in others {
                                back.entry(key).or_insert(value);
                            }
                        }
                        other => drop(back.insert(key, other)),
                    }
                }
                _ => {
                    let undo = object.others.as_ref().unwrap_or(&Undo::Same);
                    let value =
                        pointer::within(place, &key, |place| self.back(undo, value, place))?;
                    back.insert(key, value);
                }
            }
        }
        Ok(Value::Object(back))
    }

    fn pairs(
        &self,
        undo: &Undo,
        pairs: Vec<Value>,
        place: &mut String,
    ) -> Result<Value, InverseError> {
        let mut back = Map::new();
        for (index, pair) in pairs.into_iter().enumerate() {
            let (key, value) = match pair {
                Value::Object(mut pair) if pair.len() == 2 => {
                    match (pair.shift_remove("key"), pair.shift_remove("value")) {
                        (Some(Value::String(key)), Some(value)) => (key, value),
                        _ => return Err(no_pair(place, index, "an object with other keys")),
                    }
                }
                other => return Err(no_pair(place, index, &words::value(&other))),
            };
            let value = pointer::within(place, &index.to_string(), |place| {
                pointer::within(place, "value", |place| self.back(undo, value, place))
            })?;
            if back.contains_key(&key) {
                let found = format!("the key {} again", words::quoted(&key));
                let place = format!("{place}/{index}/key");
                return Err(fault(&place, found, "each key once"));
            }
            back.insert(key, value);
        }
        Ok(Value::Object(back))
    }
}

fn no_pair(place: &str, index: usize, found: &str) -> InverseError {
    let expected = r#"a pair such as {"key": "a", "value": …}"#;
    fault(&format!("{place}/{index}"), found.to_owned(), expected)
}

fn fault(place: &str, found: String, expected: &str) -> InverseError {
    let pointer = if place.is_empty() { "arguments".to_owned() } else { pointer::shown(place) };
    InverseError { pointer, found, expected: expected.to_owned() }
}
