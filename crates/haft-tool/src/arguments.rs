//! Arguments that were checked.

use std::sync::{Arc, LazyLock};

use haft_protocol::Digest;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Arguments after normalising: valid under the tool's contract, defaults applied, digested once.
///
/// Everything behind that station speaks about these: policy, approvals, the journal, the body.
#[derive(Debug, Clone)]
pub struct Arguments {
    /// An object, shared with the record of the call.
    object: Arc<Value>,
    digest: Digest,
}

impl Arguments {
    /// Takes values that the contract has accepted.
    pub(crate) fn accepted(values: Map<String, Value>) -> Self {
        let digest = Digest::of_object(&values);
        Self { object: Arc::new(Value::Object(values)), digest }
    }

    /// Returns the values.
    pub fn values(&self) -> &Map<String, Value> {
        // Never looked at: what was accepted is an object.
        static NOTHING: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
        self.object.as_object().unwrap_or_else(|| &NOTHING)
    }

    /// Returns the values as they go on record.
    pub(crate) fn shared(&self) -> Arc<Value> {
        Arc::clone(&self.object)
    }

    /// Returns the digest.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Reads the values as a type.
    ///
    /// # Errors
    ///
    /// Fails where the type asks for more than the contract did.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        T::deserialize(&*self.object)
    }

    /// Returns the value at a pointer.
    pub(crate) fn at(&self, pointer: &str) -> Option<&Value> {
        let rest = pointer.strip_prefix('/')?;
        match rest.split_once('/') {
            None => self.values().get(rest),
            Some((first, _)) => {
                self.values().get(first)?.pointer(rest.strip_prefix(first).unwrap_or_default())
            }
        }
    }

    /// Returns the text values at a pointer whose parts may be `*` for every item of an array, with their own pointers.
    pub(crate) fn texts_at(&self, pointer: &str) -> Vec<(String, &str)> {
        let mut found: Vec<(String, &Value)> = Vec::new();
        let mut parts = pointer.split('/').skip(1);
        if let Some(first) = parts.next()
            && let Some(value) = self.values().get(first)
        {
            found.push((format!("/{first}"), value));
        }
        for part in parts {
            found = found
                .into_iter()
                .flat_map(|(at, value)| -> Vec<(String, &Value)> {
                    match (part, value) {
                        ("*", Value::Array(items)) => items
                            .iter()
                            .enumerate()
                            .map(|(index, item)| (format!("{at}/{index}"), item))
                            .collect(),
                        (key, Value::Object(object)) => object
                            .get(key)
                            .map(|it| (format!("{at}/{key}"), it))
                            .into_iter()
                            .collect(),
                        _ => Vec::new(),
                    }
                })
                .collect();
        }
        found.into_iter().filter_map(|(at, value)| value.as_str().map(|text| (at, text))).collect()
    }
}
