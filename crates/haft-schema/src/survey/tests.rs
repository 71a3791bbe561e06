use haft_protocol::limits::ARGUMENTS_DEPTH;
use serde_json::{Map, Value, json};

use super::*;

fn chain(length: usize, link: impl Fn(Value) -> Value) -> Value {
    let mut definitions = Map::new();
    for index in 0..length {
        let next = json!({"$ref": format!("#/$defs/{}", index + 1)});
        definitions.insert(index.to_string(), link(next));
    }
    definitions.insert(length.to_string(), json!({"type": "string"}));
    json!({"$ref": "#/$defs/0", "$defs": definitions})
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(json!({}), |inner, _| json!({"x": inner}))
}

#[test]
fn references_that_double_at_each_step_are_refused() {
    let schema = chain(30, |next| json!({"allOf": [next.clone(), next]}));
    let error = Survey::of(&schema).unwrap_err();
    assert_eq!(error.code(), "schema_too_intricate");
}

#[test]
fn long_chains_of_references_are_refused() {
    assert!(Survey::of(&chain(100, |next| json!({"properties": {"x": next}}))).is_ok());
    let error = Survey::of(&chain(2_000, |next| json!({"properties": {"x": next}}))).unwrap_err();
    assert_eq!(error.code(), "schema_too_intricate");
}

#[test]
fn loops_that_never_descend_are_refused() {
    for schema in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
    ] {
        assert_eq!(Survey::of(&schema).unwrap_err().code(), "reference_loop", "{schema}");
    }
}

#[test]
fn recursion_through_parts_is_fine_and_its_cost_follows_the_value() {
    let tree = json!({"properties": {"x": {"$ref": "#"}}});
    let survey = Survey::of(&tree).unwrap();
    assert_eq!(survey.cost(&nested(100), 101), Cost::Modest);
}

#[test]
fn recursion_that_doubles_is_refused_for_deep_values_only() {
    let branch = json!({"required": ["z"], "properties": {"x": {"$ref": "#"}}});
    let survey = Survey::of(&json!({"anyOf": [branch, branch]})).unwrap();
    assert_eq!(survey.cost(&nested(5), 6), Cost::Modest);
    assert_eq!(survey.cost(&nested(15), 16), Cost::High);
    assert_eq!(survey.cost(&nested(60), 61), Cost::Excessive);
    assert_eq!(survey.cost(&nested(ARGUMENTS_DEPTH), 129), Cost::Excessive);
}

#[test]
fn many_parts_are_no_excess_by_themselves() {
    let survey =
        Survey::of(&json!({"type": "object", "properties": {"x": {"items": {"type": "integer"}}}}))
            .unwrap();
    let value = json!({"x": vec![1; 300_000]});
    assert_eq!(survey.cost(&value, 300_002), Cost::High);
}

#[test]
fn references_through_anchors_and_escapes_are_found() {
    let schema = json!({
        "properties": {"a": {"$ref": "#n%61me"}, "b": {"$ref": "#/$defs/x~1y%25"}},
        "$defs": {"one": {"$anchor": "name"}, "x/y%": true},
    });
    assert!(Survey::of(&schema).is_ok());
}

#[test]
fn references_to_elsewhere_and_nowhere_are_named() {
    for reference in ["http://x.test/y", "file:///etc/passwd", "other.json", "other.json#/a"] {
        let error = Survey::of(&json!({"items": {"$ref": reference}})).unwrap_err();
        assert_eq!(error.code(), "external_reference");
        assert_eq!(error.pointer(), Some("/items/$ref"));
    }
    for reference in ["#/nope", "#nope", "#/type"] {
        let error = Survey::of(&json!({"type": "object", "$ref": reference})).unwrap_err();
        assert_eq!(error.code(), "dangling_reference");
    }
}

#[test]
fn schemas_behind_references_to_unusual_places_count() {
    let schema = json!({"$ref": "#/components/a", "components": {"a": {"$ref": "http://x.test"}}});
    assert_eq!(Survey::of(&schema).unwrap_err().code(), "external_reference");
}

#[test]
fn too_many_schemas_levels_and_patterns_are_refused() {
    let wide: Map<_, _> = (0..6_000).map(|index| (index.to_string(), json!(true))).collect();
    let deep = (0..40).fold(json!({}), |inner, _| json!({"items": inner}));
    let patterns: Map<_, _> = (0..300).map(|index| (format!("p{index}"), json!(true))).collect();
    for (schema, code) in [
        (json!({"properties": wide}), "schema_too_many"),
        (deep, "schema_too_deep"),
        (json!({"patternProperties": patterns}), "schema_too_many"),
    ] {
        assert_eq!(Survey::of(&schema).unwrap_err().code(), code);
    }
}
