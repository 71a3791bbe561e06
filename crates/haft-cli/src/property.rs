//! One argument of a tool, as its schema has it.

use serde_json::Value;

/// The schema of one argument.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Property<'s>(pub(crate) &'s Value);

impl<'s> Property<'s> {
    /// Says in a word or two what the argument takes.
    pub(crate) fn takes(self) -> String {
        let facts = self.0;
        if let Some(values) = facts.get("enum").and_then(Value::as_array) {
            let text = |it: &Value| it.as_str().map_or_else(|| it.to_string(), ToOwned::to_owned);
            return values.iter().map(text).collect::<Vec<_>>().join(" | ");
        }
        match facts.get("type") {
            Some(Value::String(kind)) if kind == "array" => {
                let items = facts.get("items").map(|it| Property(it).takes());
                format!("list of {}", items.unwrap_or_else(|| "anything".to_owned()))
            }
            Some(Value::String(kind)) => kind.clone(),
            _ => {
                let mut kinds: Vec<String> = Vec::new();
                for kind in self.alternatives().map(Property::takes) {
                    if !kinds.contains(&kind) {
                        kinds.push(kind);
                    }
                }
                if kinds.is_empty() { "anything".to_owned() } else { kinds.join(" or ") }
            }
        }
    }

    /// Tells whether the argument takes text and nothing else.
    pub(crate) fn is_text(self) -> bool {
        if let Some(kind) = self.0.get("type") {
            return kind == "string";
        }
        self.alternatives().next().is_some() && self.alternatives().all(Property::is_text)
    }

    /// Returns what is said about the argument, and about each way to give it.
    pub(crate) fn descriptions(self) -> impl Iterator<Item = &'s str> {
        let own = std::iter::once(self.0);
        own.chain(self.alternatives().map(|it| it.0))
            .filter_map(|facts| facts.get("description")?.as_str())
    }

    fn alternatives(self) -> impl Iterator<Item = Property<'s>> {
        let list = ["anyOf", "oneOf"].into_iter().find_map(|key| self.0.get(key)?.as_array());
        list.into_iter().flatten().map(Property)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_taken_is_said_in_a_word() {
        let takes = |facts: Value| Property(&facts).takes();
        assert_eq!(takes(json!({ "type": "integer" })), "integer");
        assert_eq!(takes(json!({ "enum": ["a", 1] })), "a | 1");
        let texts = json!({ "type": "array", "items": { "type": "string" } });
        assert_eq!(takes(texts), "list of string");
        assert_eq!(takes(json!({ "type": "array" })), "list of anything");
        let both = json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] });
        assert_eq!(takes(both), "string or null");
        let same = json!({ "anyOf": [{ "type": "string" }, { "type": "string" }] });
        assert_eq!(takes(same), "string");
        assert_eq!(takes(json!(true)), "anything");
    }

    #[test]
    fn text_is_only_what_can_be_nothing_else() {
        let is_text = |facts: Value| Property(&facts).is_text();
        assert!(is_text(json!({ "type": "string" })));
        assert!(is_text(json!({ "anyOf": [{ "type": "string" }, { "type": "string" }] })));
        assert!(!is_text(json!({ "anyOf": [{ "type": "string" }, { "type": "integer" }] })));
        assert!(!is_text(json!({ "type": ["string", "null"] })));
        assert!(!is_text(json!({})));
    }
}
