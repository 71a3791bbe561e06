//! References inside a document.

use std::collections::HashMap;
use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::error::SchemaError;
use crate::pointer;

/// A reference as it stands in a schema.
pub(super) struct Reference {
    /// The node it stands in.
    pub(super) from: usize,
    pointer: String,
    text: String,
    /// What follows the `#`, decoded.
    fragment: String,
    dynamic: bool,
}

impl Reference {
    pub(super) fn new(
        from: usize,
        schema: &str,
        keyword: &str,
        text: &str,
    ) -> Result<Self, SchemaError> {
        let pointer = pointer::joined(schema, keyword);
        let Some(fragment) = text.strip_prefix('#') else {
            let (pointer, reference) = (pointer::shown(&pointer), pointer::shown(text));
            return Err(SchemaError::ExternalReference { pointer, reference });
        };
        Ok(Self {
            from,
            pointer,
            text: text.to_owned(),
            fragment: decode_percent(fragment),
            dynamic: keyword == "$dynamicRef",
        })
    }

    /// Returns where the target is; an anchor has no pointer, so its name stands for it.
    pub(super) fn target_pointer(&self) -> String {
        self.fragment.clone()
    }
}

/// The references of a document, the anchors they may name, and those not followed yet.
#[derive(Default)]
pub(super) struct References<'s> {
    waiting: Vec<Reference>,
    anchors: HashMap<&'s str, Vec<&'s Value>>,
}

impl<'s> References<'s> {
    pub(super) fn add(&mut self, reference: Reference) {
        self.waiting.push(reference);
    }

    pub(super) fn next(&mut self) -> Option<Reference> {
        self.waiting.pop()
    }

    pub(super) fn note_anchors(&mut self, object: &'s Map<String, Value>, schema: &'s Value) {
        for keyword in ["$anchor", "$dynamicAnchor"] {
            if let Some(Value::String(name)) = object.get(keyword) {
                self.anchors.entry(name).or_default().push(schema);
            }
        }
    }

    /// Finds what a reference may point to: one schema, or every bearer of a dynamic anchor.
    pub(super) fn resolve(
        &self,
        root: &'s Value,
        reference: &Reference,
    ) -> Result<Vec<&'s Value>, SchemaError> {
        let fragment = reference.fragment.as_str();
        let found = if fragment.is_empty() || fragment.starts_with('/') {
            root.pointer(fragment)
                .filter(|it| it.is_object() || it.is_boolean())
                .into_iter()
                .collect()
        } else {
            let bearers = self.anchors.get(fragment).cloned().unwrap_or_default();
            let count = if reference.dynamic { bearers.len() } else { 1 };
            bearers.into_iter().take(count).collect::<Vec<_>>()
        };
        if found.is_empty() {
            return Err(SchemaError::DanglingReference {
                pointer: pointer::shown(&reference.pointer),
                reference: pointer::shown(&reference.text),
            });
        }
        Ok(found)
    }
}

/// Decodes `%41` and the like; what is not an escape stays.
pub(crate) fn decode_percent(text: &str) -> String {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        let digits: Vec<u8> = bytes.clone().take(2).collect();
        let escaped = std::str::from_utf8(&digits)
            .ok()
            .filter(|it| byte == b'%' && it.len() == 2 && !it.starts_with('+'))
            .and_then(|it| u8::from_str_radix(it, 16).ok());
        match escaped {
            Some(value) => {
                decoded.push(value);
                bytes.nth(1);
            }
            None => decoded.push(byte),
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// Encodes what may not stand in the fragment of a URI.
pub(crate) fn encode_percent(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}
