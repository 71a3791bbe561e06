//! What contracts promise.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test that meets the unexpected should stop, and the suites are files that the tests read themselves"
)]

mod contracts;
mod corpus;
mod decode;
mod derive;
mod dialects;
mod foreign;
mod mcp_tools;
mod narrow;
mod normalise;
mod official_suite;
mod properties;
mod tagged;

use haft_schema::{Contract, Problems};
use serde_json::{Map, Value};

/// Returns the fields of an object.
fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("not an object: {other}"),
    }
}

/// Puts a value beneath many levels of one key; the `json!` macro would recurse.
fn nested(key: &str, levels: usize, innermost: Value) -> Value {
    (0..levels).fold(innermost, |inner, _| Map::from_iter([(key.to_owned(), inner)]).into())
}

/// Normalises arguments that fit.
#[track_caller]
fn normal(contract: &Contract, arguments: Value) -> Value {
    match contract.normalise(object(arguments)) {
        Ok(normalised) => Value::Object(normalised.arguments),
        Err(problems) => panic!("{problems}"),
    }
}

/// Normalises arguments that do not fit.
#[track_caller]
fn problems(contract: &Contract, arguments: Value) -> Problems {
    match contract.normalise(object(arguments)) {
        Ok(normalised) => panic!("accepted as {:?}", normalised.arguments),
        Err(problems) => problems,
    }
}

/// Shows the advertised schema.
fn shown(contract: &Contract) -> String {
    serde_json::to_string_pretty(&**contract.schema()).expect("a schema is JSON")
}
