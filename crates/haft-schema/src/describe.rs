//! What a schema asks for, in words.

use serde_json::Value;

use crate::view::{Types, View};
use crate::words;

/// Levels of schemas in schemas that a description goes into.
const LEVELS: usize = 3;

/// Says what a value should be: `an integer from 1 to 2000`.
pub(crate) fn expected(view: View<'_>) -> String {
    within(view, LEVELS)
}

fn within(view: View<'_>, levels: usize) -> String {
    let Some(levels) = levels.checked_sub(1) else { return "a value of the right form".to_owned() };
    if let Some(constant) = view.keyword("const") {
        return words::value(constant);
    }
    if let Some(Value::Array(values)) = view.keyword("enum") {
        return words::alternatives(values.iter().map(words::value).collect());
    }
    let mut alternatives = view.alternatives().peekable();
    if alternatives.peek().is_some() {
        return words::alternatives(alternatives.map(|it| within(it, levels)).collect());
    }
    match view.keyword("type") {
        Some(Value::String(name)) => of_type(view, name, levels),
        Some(Value::Array(names)) => {
            let names = names.iter().filter_map(Value::as_str);
            words::alternatives(names.map(|name| of_type(view, name, levels)).collect())
        }
        _ => match view.target() {
            Some(target) => within(target, levels),
            None if view.schema() == &Value::Bool(false) => "no value at all".to_owned(),
            None => untyped(view, levels),
        },
    }
}

/// Describes a schema that leaves its type to be guessed from the keywords it has.
fn untyped(view: View<'_>, levels: usize) -> String {
    let has = |keywords: &[&str]| keywords.iter().any(|keyword| view.keyword(keyword).is_some());
    if has(&["properties", "required", "minProperties", "maxProperties"]) {
        of_type(view, "object", levels)
    } else if has(&["items", "minItems", "maxItems"]) {
        of_type(view, "array", levels)
    } else if has(&["minLength", "maxLength", "pattern"]) {
        of_type(view, "string", levels)
    } else if has(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) {
        of_type(view, "number", levels)
    } else {
        "a value of the right form".to_owned()
    }
}

fn of_type(view: View<'_>, name: &str, levels: usize) -> String {
    match name {
        "integer" => format!("an integer{}", range(view)),
        "number" => format!("a number{}", range(view)),
        "string" => text(view),
        "boolean" => "true or false".to_owned(),
        "array" => array(view, levels),
        "object" => object(view),
        other => other.to_owned(),
    }
}

fn range(view: View<'_>) -> String {
    let limit = |keyword| view.keyword(keyword).map(Value::to_string);
    let (low, high) = (limit("minimum"), limit("maximum"));
    let (above, below) = (limit("exclusiveMinimum"), limit("exclusiveMaximum"));
    let mut text = match (low, above, high, below) {
        (Some(low), None, Some(high), None) => format!(" from {low} to {high}"),
        (low, above, high, below) => {
            let low = low.map(|it| format!(" of at least {it}"));
            let above = above.map(|it| format!(" above {it}"));
            let high = high.map(|it| format!(" of at most {it}"));
            let below = below.map(|it| format!(" below {it}"));
            let parts: Vec<_> = [above.or(low), below.or(high)].into_iter().flatten().collect();
            parts.join(" and")
        }
    };
    if let Some(step) = limit("multipleOf") {
        text.push_str(&format!(", a multiple of {step}"));
    }
    text
}

/// Says how many there should be, from a pair of keywords.
fn amount(view: View<'_>, least: &str, most: &str, unit: &str) -> Option<String> {
    let limit = |keyword| view.keyword(keyword).and_then(Value::as_u64);
    let plural = |count: u64| if count == 1 { "" } else { "s" };
    match (limit(least).filter(|it| *it > 0), limit(most)) {
        (None, None) => None,
        (Some(low), Some(high)) if low == high => Some(format!("{low} {unit}{}", plural(low))),
        (Some(low), Some(high)) => Some(format!("{low} to {high} {unit}s")),
        (Some(low), None) => Some(format!("at least {low} {unit}{}", plural(low))),
        (None, Some(high)) => Some(format!("at most {high} {unit}{}", plural(high))),
    }
}

fn text(view: View<'_>) -> String {
    let mut words = match amount(view, "minLength", "maxLength", "character") {
        Some(amount) => format!("a string of {amount}"),
        None => "a string".to_owned(),
    };
    if let Some(Value::String(pattern)) = view.keyword("pattern") {
        words.push_str(&format!(" matching `{}`", words::cut(pattern)));
    }
    words
}

fn array(view: View<'_>, levels: usize) -> String {
    let mut words = match amount(view, "minItems", "maxItems", "item") {
        Some(amount) => format!("an array of {amount}"),
        None => "an array".to_owned(),
    };
    let items =
        view.item(usize::MAX).filter(|it| it.types() != Types::ALL && it.schema().is_object());
    if let Some(items) = items {
        words.push_str(&format!(", each {}", within(items, levels)));
    }
    if view.keyword("uniqueItems") == Some(&Value::Bool(true)) {
        words.push_str(", no two equal");
    }
    words
}

fn object(view: View<'_>) -> String {
    let required: Vec<&str> = view.required().collect();
    let optional = view.properties().into_iter().flatten().map(|(key, _)| key.as_str());
    let optional: Vec<&str> = optional.filter(|it| !required.contains(it)).collect();
    match (required.is_empty(), optional.is_empty()) {
        (true, true) => match amount(view, "minProperties", "maxProperties", "key") {
            Some(amount) => format!("an object with {amount}"),
            None => "an object".to_owned(),
        },
        (false, true) => format!("an object with {}", words::names(required)),
        (true, false) => format!("an object with any of {}", words::names(optional)),
        (false, false) => {
            let required = words::names(required);
            format!("an object with {required} and any of {}", words::names(optional))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(schema: Value, words: &str) {
        assert_eq!(expected(View::of(&schema)), words, "{schema}");
    }

    #[test]
    fn schemas_read_as_phrases() {
        check(
            json!({"type": "integer", "minimum": 1, "maximum": 2000}),
            "an integer from 1 to 2000",
        );
        check(json!({"type": "integer", "exclusiveMinimum": 0}), "an integer above 0");
        check(
            json!({"type": "number", "minimum": 0, "exclusiveMaximum": 1}),
            "a number of at least 0 and below 1",
        );
        check(json!({"type": "string", "minLength": 1}), "a string of at least 1 character");
        check(json!({"type": "string", "pattern": "^a+$"}), "a string matching `^a+$`");
        check(json!({"type": ["string", "null"]}), "a string or null");
        check(json!({"enum": ["a", "b", "c"]}), r#""a", "b" or "c""#);
        check(
            json!({"type": "array", "items": {"type": "string"}, "maxItems": 3}),
            "an array of at most 3 items, each a string",
        );
        check(
            json!({"type": "object", "properties": {"a": true, "b": true}, "required": ["b"]}),
            r#"an object with "b" and any of "a""#,
        );
        check(json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "boolean"}}}), "true or false");
        check(json!({"anyOf": [{"type": "string"}, {"type": "array"}]}), "a string or an array");
        check(json!(false), "no value at all");
    }

    #[test]
    fn descriptions_of_nested_schemas_end() {
        let deep = (0..10)
            .fold(json!({"type": "string"}), |inner, _| json!({"type": "array", "items": inner}));
        check(deep, "an array, each an array, each an array, each a value of the right form");
    }
}
