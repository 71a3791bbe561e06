//! The size of a JSON value, taken without recursion.

use serde_json::{Map, Value};

/// How deep a value nests and how many values it consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Measure {
    /// Levels: 1 for a value without parts.
    pub(crate) depth: usize,
    /// Values, itself included.
    pub(crate) parts: usize,
    /// Bytes of texts and keys, and a few for everything else.
    pub(crate) bytes: usize,
}

impl Measure {
    pub(crate) fn of(value: &Value) -> Self {
        let mut total = Self { depth: 0, parts: 0, bytes: 0 };
        // Only what has parts is put aside: most values have none.
        let mut open = Vec::new();
        total.take(value, 1, &mut open);
        while let Some((value, level)) = open.pop() {
            match value {
                Value::Array(items) => {
                    for item in items {
                        total.take(item, level + 1, &mut open);
                    }
                }
                Value::Object(object) => {
                    for part in object.values() {
                        total.take(part, level + 1, &mut open);
                    }
                }
                _ => {}
            }
        }
        total
    }

    fn take<'v>(&mut self, value: &'v Value, level: usize, open: &mut Vec<(&'v Value, usize)>) {
        self.add(value, level);
        if value.is_array() || value.is_object() {
            open.push((value, level));
        }
    }

    pub(crate) fn of_object(object: &Map<String, Value>) -> Self {
        let inside = object.values().map(Self::of);
        let keys: usize = object.keys().map(|key| key.len() + 4).sum();
        inside.fold(Self { depth: 1, parts: 1, bytes: keys + 2 }, |total, inside| Self {
            depth: total.depth.max(inside.depth + 1),
            parts: total.parts + inside.parts,
            bytes: total.bytes + inside.bytes,
        })
    }

    fn add(&mut self, value: &Value, level: usize) {
        self.depth = self.depth.max(level);
        self.parts += 1;
        self.bytes += match value {
            Value::String(text) => text.len() + 2,
            Value::Object(object) => object.keys().map(|key| key.len() + 4).sum::<usize>() + 2,
            _ => 4,
        };
    }
}

/// Drops a value of any depth; the drop that comes with the type recurses.
pub(crate) fn dismantle(value: Value) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(object) => open.extend(object.into_iter().map(|(_, value)| value)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn measures_count_levels_and_parts() {
        let measure = Measure::of(&json!({"a": [1, {"b": 2}], "c": "text"}));
        assert_eq!((measure.depth, measure.parts), (4, 6));
        let object = json!({"a": [1, {"b": 2}], "c": "text"});
        assert_eq!(Measure::of_object(object.as_object().unwrap()), measure);
    }

    #[test]
    fn values_of_any_depth_are_measured_and_dropped() {
        let deep = (0..200_000).fold(json!(1), |inner, _| Value::Array(vec![inner]));
        assert_eq!(Measure::of(&deep).depth, 200_001);
        dismantle(deep);
    }
}
