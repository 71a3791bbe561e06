//! What has to be true of every text that is read as the arguments of a call.
//!
//! The fuzz target runs this on inputs it invents, an ordinary test on those that were kept.

use std::sync::LazyLock;

use haft_schema::{Contract, Ending, Extra, Reading};
use serde_json::{Value, json};

/// How long a message may be, whatever it is about.
const MESSAGE_BYTES: usize = 16 * 1024;

/// Reads a text as arguments; its first byte says how.
pub(crate) fn check(input: &[u8]) {
    let Some((how, text)) = input.split_first() else { return };
    let text = String::from_utf8_lossy(text).into_owned();
    let reading = Reading {
        extra: if how & 1 == 0 { Extra::Reject } else { Extra::Drop },
        ending: match how >> 1 & 3 {
            0 => Ending::Unknown,
            1 => Ending::Finished,
            _ => Ending::Cut,
        },
    };
    let decoded = match CONTRACT.decode(text.as_str().into(), reading) {
        Ok(decoded) => decoded,
        Err(error) => return assert!(error.model_text().len() < MESSAGE_BYTES),
    };

    let plain = serde_json::from_str::<Value>(&text).ok().filter(Value::is_object);
    if let Some(plain) = plain.filter(|plain| CONTRACT.check(plain).is_ok()) {
        assert_eq!(Value::Object(decoded.arguments.clone()), plain, "accepted, and changed");
        assert!(decoded.repairs.is_empty(), "accepted, and repaired: {:?}", decoded.repairs);
    }
    match CONTRACT.normalise(decoded.arguments) {
        Ok(normal) => {
            let value = Value::Object(normal.arguments.clone());
            assert!(CONTRACT.check(&value).is_ok(), "normal, and refused: {value}");
            let again = CONTRACT.normalise(normal.arguments.clone()).expect("normal twice");
            assert_eq!(again.arguments, normal.arguments, "normal, and changed");
        }
        Err(problems) => assert!(problems.model_text().len() < MESSAGE_BYTES),
    }
}

static CONTRACT: LazyLock<Contract> = LazyLock::new(|| {
    Contract::foreign(json!({
        "type": "object",
        "properties": {
            "action": {"enum": ["read", "grep", "find"]},
            "text": {"type": "string", "maxLength": 40},
            "count": {"type": "integer", "minimum": 0, "default": 3},
            "share": {"type": "number"},
            "deep": {"type": "boolean"},
            "paths": {"type": "array", "items": {"type": "string"}, "maxItems": 4},
            "edits": {"type": "array", "items": {
                "type": "object",
                "properties": {"old": {"type": "string"}, "new": {"type": ["string", "null"]}},
                "required": ["old"],
            }},
            "either": {"anyOf": [{"type": "string"}, {"type": "array"}]},
        },
        "required": ["action"],
        "additionalProperties": false,
    }))
    .expect("a schema of ours is admitted")
});
