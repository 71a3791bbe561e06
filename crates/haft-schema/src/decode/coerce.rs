//! Repairs that the schema asks for, each only where the schema refuses what is there.

use std::collections::HashSet;

use serde_json::{Map, Number, Value};

use super::{Extra, read};
use crate::contract::Tag;
use crate::pointer;
use crate::repair::{RepairKind, Repairs};
use crate::view::{Types, View};
use crate::words;

/// Digits up to which a decimal fraction survives the way through a float.
const EXACT_DIGITS: usize = 15;

/// Gives the value of a tag its right case.
pub(crate) fn spell_tag(tag: &Tag, arguments: &mut Map<String, Value>, repairs: &mut Repairs) {
    let choices: Vec<&str> = tag.values().iter().map(String::as_str).collect();
    if let Some(Value::String(text)) = arguments.get_mut(tag.key())
        && let Some(choice) = spelling(&choices, text)
    {
        choice.clone_into(text);
        repairs
            .note(&pointer::joined("", tag.key()), RepairKind::Spelling { to: choice.to_owned() });
    }
}

/// Repairs arguments in place. `elsewhere` says for a key of the root which other values of the tag use it.
pub(crate) fn coerce(
    view: View<'_>,
    arguments: &mut Map<String, Value>,
    extra: Extra,
    elsewhere: &dyn Fn(&str) -> Vec<String>,
    repairs: &mut Repairs,
) {
    let mut value = Value::Object(std::mem::take(arguments));
    let mut coercion = Coercion { extra, elsewhere, repairs, place: String::new() };
    coercion.value(view, &mut value);
    if let Value::Object(object) = value {
        *arguments = object;
    }
}

struct Coercion<'r> {
    extra: Extra,
    elsewhere: &'r dyn Fn(&str) -> Vec<String>,
    repairs: &'r mut Repairs,
    place: String,
}

impl Coercion<'_> {
    fn note(&mut self, kind: RepairKind) {
        self.repairs.note(&self.place, kind);
    }

    fn inside(&mut self, key: &str, view: View<'_>, value: &mut Value) {
        let length = self.place.len();
        pointer::push(&mut self.place, key);
        self.value(view, value);
        self.place.truncate(length);
    }

    fn value(&mut self, view: View<'_>, value: &mut Value) {
        if self.repairs.is_full() {
            return;
        }
        if let Value::String(text) = value {
            if !view.types().meets(Types::STRING) {
                if let Some((read, into)) = read_as(view.types(), text) {
                    *value = read;
                    self.note(RepairKind::TextRead { into: into.to_owned() });
                }
            } else if let Some(choices) = view.choices()
                && let Some(choice) = spelling(&choices, text)
            {
                choice.clone_into(text);
                self.note(RepairKind::Spelling { to: choice.to_owned() });
            }
        }
        if into_list(view, value) {
            self.note(RepairKind::Listed);
        }
        let views = view.applying(value);
        match value {
            Value::Object(object) => self.object(&views, object),
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    if let Some(view) = views.iter().find_map(|view| view.item(index)) {
                        self.inside(&index.to_string(), view, item);
                    }
                }
            }
            _ => {}
        }
    }

    fn object(&mut self, views: &[View<'_>], object: &mut Map<String, Value>) {
        self.remove(object, |key, value| {
            let is_required = || views.iter().any(|view| view.required().any(|it| it == key));
            let refuses_null = |view: &View<'_>| {
                view.property(key).is_some_and(|property| !property.types().meets(Types::NULL))
            };
            let removable = value.is_null() && !is_required() && views.iter().any(refuses_null);
            removable.then_some(RepairKind::NullRemoved)
        });
        if self.extra == Extra::Drop {
            let given: HashSet<String> = object.keys().cloned().collect();
            let (is_root, elsewhere) = (self.place.is_empty(), self.elsewhere);
            self.remove(object, |key, _| {
                let refuses = |view: &View<'_>| view.is_closed() && view.property(key).is_none();
                // A slip of the pen would get lost, and the call would do more than was meant: checking names it.
                let known = views.iter().filter_map(|view| view.properties()).flatten();
                let missing = known.map(|(key, _)| key.as_str()).filter(|it| !given.contains(*it));
                let is_slip = || words::meant(key, missing).is_some();
                let used_by = || if is_root { elsewhere(key) } else { Vec::new() };
                (views.iter().any(refuses) && !is_slip())
                    .then(|| RepairKind::KeyDropped { used_by: used_by() })
            });
        }
        for (key, value) in object.iter_mut() {
            if let Some(view) = views.iter().find_map(|view| view.property(key)) {
                self.inside(key, view, value);
            }
        }
    }

    fn remove(
        &mut self,
        object: &mut Map<String, Value>,
        reason: impl Fn(&str, &Value) -> Option<RepairKind>,
    ) {
        object.retain(|key, value| match reason(key, value) {
            Some(kind) if !self.repairs.is_full() => {
                self.repairs.note(&pointer::joined(&self.place, key), kind);
                false
            }
            _ => true,
        });
    }
}

/// Reads a text as one of the types asked for, where that loses nothing.
fn read_as(types: Types, text: &str) -> Option<(Value, &'static str)> {
    let (value, into) = match text.trim_start().as_bytes().first()? {
        b'{' => (read::whole(text).ok()?.strict()?, "an object"),
        b'[' => (read::whole(text).ok()?.strict()?, "an array"),
        b'-' | b'0'..=b'9' => (Value::Number(exact_number(types, text)?), "a number"),
        _ => match text {
            "true" => (Value::Bool(true), "a truth value"),
            "false" => (Value::Bool(false), "a truth value"),
            _ => return None,
        },
    };
    types.meets(Types::of(&value)).then_some((value, into))
}

/// Puts a lone value into a list where the schema takes only a list, and one of such values. Tells whether it did.
///
/// A text that begins like a list or is empty stays: nobody knows what was meant.
fn into_list(view: View<'_>, value: &mut Value) -> bool {
    let could_be_meant = match value {
        Value::String(text) => !text.trim().is_empty() && !text.trim_start().starts_with('['),
        Value::Number(_) | Value::Bool(_) | Value::Object(_) => true,
        Value::Null | Value::Array(_) => false,
    };
    let (types, kind) = (view.types(), Types::of(value));
    if !could_be_meant || types.meets(kind) || !types.meets(Types::ARRAY) {
        return false;
    }
    let list = Value::Array(vec![value.clone()]);
    let item = view.applying(&list).into_iter().find_map(|view| view.item(0));
    let fits = item.is_some_and(|item| item.types().meets(kind));
    if fits {
        *value = list;
    }
    fits
}

/// Reads a number that is the same number afterwards.
fn exact_number(types: Types, text: &str) -> Option<Number> {
    let number: Number = serde_json::from_str(text).ok().filter(|_| text.trim() == text)?;
    if number.is_i64() || number.is_u64() {
        return Some(number);
    }
    let digits = text.split(['e', 'E']).next()?.chars().filter(char::is_ascii_digit);
    if digits.skip_while(|digit| *digit == '0').count() > EXACT_DIGITS {
        return None;
    }
    if types.meets(Types::FRACTION) { Some(number) } else { words::whole(&number) }
}

/// Finds the one choice that differs from a text in case alone.
fn spelling<'c>(choices: &[&'c str], text: &str) -> Option<&'c str> {
    /// Characters of a text that could still be a choice.
    const LONGEST: usize = 256;
    if choices.contains(&text) || text.len() > LONGEST {
        return None;
    }
    let wanted = text.to_lowercase();
    let mut alike = choices.iter().filter(|choice| choice.to_lowercase() == wanted);
    let choice = alike.next()?;
    alike.all(|other| other == choice).then_some(choice)
}
