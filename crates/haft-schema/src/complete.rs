//! Defaults, and whole numbers in their shortest form.

use haft_protocol::limits::ARGUMENTS_BYTES;
use serde_json::{Map, Value};

use crate::lookup::lookup;
use crate::measure::Measure;
use crate::pointer;
use crate::view::{Types, View};
use crate::words;

/// Bytes of defaults that one value may gain; a schema may repeat a large one for every item.
const DEFAULT_BYTES: usize = ARGUMENTS_BYTES / 8;

/// The defaults that a value gained.
#[derive(Debug, Default)]
pub(crate) struct Completion {
    /// For each: the object that gained it, and the key.
    gained: Vec<(String, String)>,
    bytes: usize,
    /// Whether a number may have got another form.
    shortened: bool,
}

/// Where a value stands, told only where a default is put in.
#[derive(Clone, Copy)]
enum Place<'p> {
    Root,
    Item(&'p Place<'p>, usize),
    Key(&'p Place<'p>, &'p str),
}

impl Place<'_> {
    fn pointer(self) -> String {
        let mut pointer = String::new();
        self.append_to(&mut pointer);
        pointer
    }

    fn append_to(self, pointer: &mut String) {
        match self {
            Self::Root => {}
            Self::Item(within, index) => {
                within.append_to(pointer);
                pointer::push_index(pointer, index);
            }
            Self::Key(within, key) => {
                within.append_to(pointer);
                pointer::push(pointer, key);
            }
        }
    }
}

impl Completion {
    /// Completes a value in place.
    pub(crate) fn of(view: View<'_>, value: &mut Value) -> Self {
        let mut completion = Self::default();
        completion.complete(view, value, Place::Root);
        completion
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.gained.is_empty()
    }

    /// Tells whether the value is to the letter what it was.
    pub(crate) fn changed_nothing(&self) -> bool {
        self.is_empty() && !self.shortened
    }

    /// Takes the defaults away again.
    pub(crate) fn undo(&self, value: &mut Value) {
        for (object, key) in self.gained.iter().rev() {
            if let Some(Value::Object(object)) = value.pointer_mut(object) {
                object.shift_remove(key);
            }
        }
    }

    pub(crate) fn into_pointers(self) -> Vec<String> {
        self.gained.into_iter().map(|(object, key)| pointer::joined(&object, &key)).collect()
    }

    fn complete(&mut self, view: View<'_>, value: &mut Value, place: Place<'_>) {
        match value {
            Value::Number(number) if number.is_f64() => {
                self.shortened = true;
                shorten(view, value);
            }
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    if let Some(view) = view.target().unwrap_or(view).item(index) {
                        self.complete(view, item, Place::Item(&place, index));
                    }
                }
            }
            Value::Object(_) => {
                let views = view.applying(value);
                if let Value::Object(object) = value {
                    self.complete_object(&views, object, place);
                }
            }
            _ => {}
        }
    }

    /// Completes what is there before it adds defaults, so that a default is never completed itself. Its numbers have the
    /// shortest form, as if they had been given.
    fn complete_object(
        &mut self,
        views: &[View<'_>],
        object: &mut Map<String, Value>,
        place: Place<'_>,
    ) {
        for (key, value) in object.iter_mut() {
            if let Some(view) = views.iter().find_map(|view| view.property(key)) {
                self.complete(view, value, Place::Key(&place, key));
            }
        }
        for view in views {
            for (key, schema) in view.properties().into_iter().flatten() {
                let Some(default) = schema.as_object().and_then(|it| lookup(it, "default")) else {
                    continue;
                };
                let Some(property) = view.property(key) else { continue };
                if lookup(object, key).is_none() && property.types().meets(Types::of(default)) {
                    self.bytes += Measure::of(default).bytes;
                    if self.bytes > DEFAULT_BYTES {
                        return;
                    }
                    let mut default = default.clone();
                    shorten(property, &mut default);
                    object.insert(key.clone(), default);
                    self.gained.push((place.pointer(), key.clone()));
                }
            }
        }
    }
}

/// Takes the point off whole numbers where the schema asks for integers.
fn shorten(view: View<'_>, value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() && is_integral(view) => {
            if let Some(whole) = words::whole(number) {
                *number = whole;
            }
        }
        Value::Array(items) => {
            let view = view.target().unwrap_or(view);
            for (index, item) in items.iter_mut().enumerate() {
                if let Some(view) = view.item(index) {
                    shorten(view, item);
                }
            }
        }
        Value::Object(_) => {
            let views = view.applying(value);
            for (key, value) in value.as_object_mut().into_iter().flatten() {
                if let Some(view) = views.iter().find_map(|view| view.property(key)) {
                    shorten(view, value);
                }
            }
        }
        _ => {}
    }
}

fn is_integral(view: View<'_>) -> bool {
    let types = view.types();
    types.meets(Types::INTEGER) && !types.meets(Types::FRACTION)
}
