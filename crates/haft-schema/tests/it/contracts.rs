//! Contracts that are kept.

use std::num::NonZeroUsize;
use std::sync::Arc;

use haft_schema::Contracts;
use schemars::JsonSchema;
use serde_json::{Value, json};

use crate::nested;

#[derive(JsonSchema)]
struct Nothing {}

fn contracts(capacity: usize) -> Contracts {
    Contracts::new(NonZeroUsize::new(capacity).unwrap())
}

fn schema(name: &str) -> Value {
    json!({"type": "object", "properties": {name: true}})
}

#[test]
fn asking_again_gives_the_same_contract() {
    let contracts = contracts(4);
    let first = contracts.foreign(schema("a")).unwrap();
    let again = contracts.foreign(schema("a")).unwrap();
    assert!(Arc::ptr_eq(first.schema(), again.schema()));
    let first = contracts.of::<Nothing>().unwrap();
    assert!(Arc::ptr_eq(first.schema(), contracts.of::<Nothing>().unwrap().schema()));
}

#[test]
fn the_longest_unused_goes_first() {
    let contracts = contracts(2);
    let kept = contracts.foreign(schema("a")).unwrap();
    let gone = contracts.foreign(schema("b")).unwrap();
    contracts.foreign(schema("a")).unwrap();
    contracts.foreign(schema("c")).unwrap();
    assert!(Arc::ptr_eq(kept.schema(), contracts.foreign(schema("a")).unwrap().schema()));
    assert!(!Arc::ptr_eq(gone.schema(), contracts.foreign(schema("b")).unwrap().schema()));
}

#[test]
fn schemas_of_any_depth_are_refused_without_overflow() {
    let deep = nested("items", 100_000, json!(true));
    assert_eq!(contracts(1).foreign(deep).unwrap_err().code(), "schema_too_deep");
}
