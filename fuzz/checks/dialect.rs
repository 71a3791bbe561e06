//! What has to be true of every schema in every dialect, and of whatever a model says to it.
//!
//! The fuzz target runs this on inputs it invents, an ordinary test on those that were kept. An input is a schema, or an
//! array of a schema and what is said to it.

use haft_schema::Contract;
use haft_schema::dialect::{Dialect, lower};
use serde_json::{Value, json};

/// How large a schema may be in any dialect.
const SCHEMA_BYTES: usize = 4 * 1024 * 1024;
/// How long a message may be, whatever it is about.
const MESSAGE_BYTES: usize = 16 * 1024;

/// Lowers a schema to every dialect, raw and as a contract has it, and brings back what is said.
pub(crate) fn check(input: &[u8]) {
    let Ok(document) = serde_json::from_slice::<Value>(input) else { return };
    let (schema, said) = match document {
        Value::Array(mut parts) if parts.len() == 2 => {
            let said = parts.pop();
            (parts.pop().unwrap_or_default(), said.unwrap_or_default())
        }
        schema => (schema, json!({"a": null, "b": [{"key": "a", "value": 1}], "c": "{"})),
    };
    if let Ok(contract) = Contract::foreign(schema.clone()) {
        lowered(contract.schema(), &said);
    }
    lowered(&schema, &said);
}

fn lowered(schema: &Value, said: &Value) {
    for dialect in Dialect::ALL {
        let lowered = lower(schema, dialect);
        let is_object =
            lowered.schema["type"].as_str().is_some_and(|it| it.eq_ignore_ascii_case("object"));
        assert!(is_object, "no schema of an object: {}", lowered.schema);
        assert!(lowered.schema.to_string().len() < SCHEMA_BYTES, "a schema grows too large");
        if let Err(error) = lowered.inverse.apply(said.clone()) {
            assert!(error.to_string().len() < MESSAGE_BYTES, "a long message");
        }
    }
}
