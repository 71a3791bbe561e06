//! What has to be true of every JSON document that is offered as the schema of a tool.
//!
//! The fuzz target runs this on inputs it invents, an ordinary test on those that were kept.

use haft_schema::{Contract, Reading};
use serde_json::{Map, Value};

/// How long a message may be, whatever it is about.
const MESSAGE_BYTES: usize = 16 * 1024;

/// Offers a document as a schema, and uses it where it is admitted.
pub(crate) fn check(input: &[u8]) {
    let Ok(schema) = serde_json::from_slice::<Value>(input) else { return };
    let contract = match Contract::foreign(schema) {
        Ok(contract) => contract,
        Err(error) => return assert!(error.to_string().len() < MESSAGE_BYTES),
    };
    let again = Contract::foreign((**contract.schema()).clone()).expect("admitted, then refused");
    assert_eq!(again.digest(), contract.digest(), "a schema changes when it is admitted again");

    let texts = ["", "{}", "{\"a\":\"1\"}", "{\"a\":null,\"b\":[\"[]\"]}"];
    for text in texts {
        if let Ok(decoded) = contract.decode(text.into(), Reading::default()) {
            normalise(&contract, decoded.arguments);
        }
    }
    normalise(&contract, Map::new());
}

fn normalise(contract: &Contract, arguments: Map<String, Value>) {
    match contract.normalise(arguments) {
        Ok(normal) => {
            let value = Value::Object(normal.arguments);
            assert!(contract.check(&value).is_ok(), "normal, and refused: {value}");
        }
        Err(problems) => assert!(problems.model_text().len() < MESSAGE_BYTES),
    }
}
