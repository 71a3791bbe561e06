//! Strict JSON that notices repeated keys.

use std::cell::RefCell;
use std::fmt;

use haft_protocol::limits::ARGUMENTS_DEPTH;
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::{DecodeError, syntax_error};
use crate::pointer;
use crate::repair::{RepairKind, Repairs};

/// A value, and the keys that were repeated with the same value.
pub(super) struct Read {
    value: Value,
    repeated: Vec<String>,
}

impl Read {
    pub(super) fn accept(self, repairs: &mut Repairs) -> Value {
        for pointer in &self.repeated {
            repairs.note(pointer, RepairKind::RepeatedKey);
        }
        self.value
    }

    /// Returns the value unless a key was repeated.
    pub(super) fn strict(self) -> Option<Value> {
        self.repeated.is_empty().then_some(self.value)
    }
}

/// Why a text is not JSON.
#[derive(Debug)]
pub(super) enum ReadError {
    Syntax(serde_json::Error),
    TooDeep,
    Repeated(String),
}

impl ReadError {
    /// Tells whether no repair of the text could help.
    pub(super) fn is_final(&self) -> bool {
        !matches!(self, Self::Syntax(_))
    }

    pub(super) fn into_decode_error(self, text: &str, base: usize) -> DecodeError {
        match self {
            Self::TooDeep => DecodeError::TooDeep { limit: ARGUMENTS_DEPTH },
            Self::Repeated(pointer) => {
                DecodeError::RepeatedKey { pointer: pointer::shown(&pointer) }
            }
            Self::Syntax(error) => {
                let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
                let line: usize = lines.map(str::len).sum();
                let offset = base + line + error.column().saturating_sub(1);
                let reason = error.to_string();
                let reason = reason.rsplit_once(" at line ").map_or(reason.as_str(), |it| it.0);
                syntax_error(text, offset, reason.to_owned())
            }
        }
    }
}

/// Reads a text that is one JSON value and nothing else.
pub(super) fn whole(text: &str) -> Result<Read, ReadError> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let read = read(&mut deserializer)?;
    deserializer.end().map_err(ReadError::Syntax)?;
    Ok(read)
}

/// Reads the JSON value that a text begins with, and returns what follows.
pub(super) fn beginning(text: &str) -> Result<(Read, &str), ReadError> {
    let deserializer = serde_json::Deserializer::from_str(text);
    let mut stream = deserializer.into_iter::<serde::de::IgnoredAny>();
    match stream.next() {
        Some(Ok(_)) => {}
        Some(Err(error)) => return Err(ReadError::Syntax(error)),
        None => return Err(ReadError::Syntax(serde_json::Error::custom("nothing there"))),
    }
    let (value, after) = text.split_at_checked(stream.byte_offset()).unwrap_or((text, ""));
    Ok((whole(value)?, after))
}

fn read(
    deserializer: &mut serde_json::Deserializer<serde_json::de::StrRead<'_>>,
) -> Result<Read, ReadError> {
    let state = RefCell::new(State::default());
    let result = Seed(&state).deserialize(deserializer);
    let state = state.into_inner();
    match (result, state.conflict) {
        (_, Some(pointer)) => Err(ReadError::Repeated(pointer)),
        (Ok(value), None) => Ok(Read { value, repeated: state.repeated }),
        (Err(error), None) if error.to_string().starts_with("recursion limit") => {
            Err(ReadError::TooDeep)
        }
        (Err(error), None) => Err(ReadError::Syntax(error)),
    }
}

#[derive(Default)]
struct State {
    pointer: String,
    repeated: Vec<String>,
    conflict: Option<String>,
}

struct Seed<'s>(&'s RefCell<State>);

impl Seed<'_> {
    /// Runs `body` with one more part in the pointer.
    fn within<T>(&self, part: &str, body: impl FnOnce() -> T) -> T {
        let length = {
            let mut state = self.0.borrow_mut();
            let length = state.pointer.len();
            pointer::push(&mut state.pointer, part);
            length
        };
        let result = body();
        self.0.borrow_mut().pointer.truncate(length);
        result
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        let mut part = 0.to_string();
        while let Some(item) = self.within(&part, || items.next_element_seed(Seed(self.0)))? {
            list.push(item);
            part = list.len().to_string();
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let value = self.within(&key, || entries.next_value_seed(Seed(self.0)))?;
            match object.get(&key) {
                None => {
                    object.insert(key, value);
                }
                Some(before) => {
                    let same = *before == value;
                    let mut state = self.0.borrow_mut();
                    let pointer = pointer::joined(&state.pointer, &key);
                    if !same {
                        state.conflict = Some(pointer);
                        return Err(A::Error::custom("a key is given twice"));
                    }
                    state.repeated.push(pointer);
                }
            }
        }
        Ok(Value::Object(object))
    }
}
