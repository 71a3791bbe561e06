//! Looking up a key.

use serde_json::{Map, Value};

/// Keys up to which comparing them all is quicker than hashing one.
const FEW: usize = 8;

/// Looks up a key: keywords and arguments are few as a rule.
pub(crate) fn lookup<'m>(object: &'m Map<String, Value>, key: &str) -> Option<&'m Value> {
    if object.len() > FEW {
        return object.get(key);
    }
    object.iter().find(|(it, _)| *it == key).map(|(_, value)| value)
}
