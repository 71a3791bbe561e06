//! Defaults, checking, and the words for what is wrong.

use haft_protocol::{ErrorKind, Failure};
use haft_schema::{Contract, Rule};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::{nested, normal, object, problems};

fn contract(schema: Value) -> Contract {
    Contract::foreign(schema).unwrap()
}

fn search() -> Contract {
    contract(json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 2000, "default": 100},
            "mode": {"enum": ["fast", "full"]},
            "tags": {"type": "array", "items": {"type": "string", "maxLength": 5}, "maxItems": 3},
            "where": {
                "type": "object",
                "properties": {"from": {"type": "integer", "default": 0}, "to": {"type": "integer"}},
                "required": ["to"],
                "additionalProperties": false,
            },
        },
        "required": ["path"],
        "additionalProperties": false,
    }))
}

#[test]
fn each_kind_of_problem_says_what_is_there_and_what_should_be() {
    let search = search();
    let text = |arguments| problems(&search, arguments).model_text();
    assert_snapshot!(text(json!({"path": "a", "limit": -1})), @"/limit: found -1, expected an integer from 1 to 2000");
    assert_snapshot!(text(json!({"pth": "a"})), @r#"
    /pth: unknown key; did you mean "path"? known keys: "path", "limit", "mode", "tags", "where"
    /path: missing, expected a string
    "#);
    assert_snapshot!(text(json!({"path": "a", "zzz": 1})), @r#"/zzz: unknown key; known keys: "path", "limit", "mode", "tags", "where""#);
    assert_snapshot!(text(json!({"path": 7})), @"/path: found 7, expected a string");
    assert_snapshot!(text(json!({"path": null})), @"/path: found null, expected a string");
    assert_snapshot!(text(json!({"path": "a", "mode": "slow"})), @r#"/mode: found "slow", expected "fast" or "full""#);
    assert_snapshot!(text(json!({"path": "a", "tags": "x"})), @r#"/tags: found "x", expected an array of at most 3 items, each a string of at most 5 characters"#);
    assert_snapshot!(text(json!({"path": "a", "tags": ["x", "much too long"]})), @r#"/tags/1: found "much too long", expected a string of at most 5 characters"#);
    assert_snapshot!(text(json!({"path": "a", "tags": ["a", "b", "c", "d"]})), @"/tags: found an array of 4 items, expected an array of at most 3 items, each a string of at most 5 characters");
    assert_snapshot!(text(json!({"path": "a", "where": {"form": 1}})), @r#"
    /where/form: unknown key; did you mean "from"? known keys: "from", "to"
    /where/to: missing, expected an integer
    "#);
    assert_snapshot!(text(json!({"path": "a", "where": []})), @r#"/where: found an array without items, expected an object with "to" and any of "from""#);
    assert_snapshot!(text(json!({"path": "a", "limit": 1.5})), @"/limit: found 1.5, expected an integer from 1 to 2000");
}

#[test]
fn long_values_are_cut() {
    assert_snapshot!(problems(&search(), json!({"path": "a", "limit": "x".repeat(5_000)})), @r#"/limit: found "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"… (5000 characters), expected an integer from 1 to 2000"#);
}

#[test]
fn many_problems_are_counted_beyond_the_first_eight() {
    let wrong: Value = (0..20)
        .map(|index| (format!("key{index}"), json!(1)))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let problems =
        problems(&contract(json!({"properties": {}, "additionalProperties": false})), wrong);
    assert_eq!((problems.shown.len(), problems.left_out), (8, 12));
    assert!(problems.to_string().ends_with("and 12 more problems"));
}

#[test]
fn constraints_beyond_types_have_words_as_well() {
    let contract = contract(json!({
        "properties": {
            "id": {"type": "string", "pattern": "^[a-z]+$"},
            "unique": {"type": "array", "uniqueItems": true},
            "either": {"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 10}]},
            "not": {"not": {"type": "string"}},
            "never": false,
            "map": {"type": "object", "propertyNames": {"maxLength": 3}},
            "some": {"type": "array", "contains": {"const": 1}},
            "union": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
        },
        "dependentRequired": {"id": ["unique"]},
    }));
    let text = |arguments| problems(&contract, arguments).model_text();
    assert_snapshot!(text(json!({"id": "A1", "unique": []})), @r#"/id: found "A1", expected a string matching `^[a-z]+$`"#);
    assert_snapshot!(text(json!({"id": "a"})), @"/unique: missing, expected an array, no two equal");
    assert_snapshot!(text(json!({"unique": [1, 1]})), @"/unique: found an array of 2 items, expected no two equal items");
    assert_snapshot!(text(json!({"either": 12})), @"/either: found 12, expected a value that fits only one of an integer or a number of at least 10");
    assert_snapshot!(text(json!({"either": "x"})), @r#"/either: found "x", expected an integer or a number of at least 10"#);
    assert_snapshot!(text(json!({"not": "x"})), @r#"/not: found "x", expected anything but a string"#);
    assert_snapshot!(text(json!({"never": 1})), @"/never: found 1, expected nothing here");
    assert_snapshot!(text(json!({"map": {"long name": 1}})), @"/map: found an object of 1 key, expected a value that satisfies `propertyNames`");
    assert_snapshot!(text(json!({"some": [2]})), @"/some: found an array of 1 item, expected an array that has 1 in it");
    assert_snapshot!(text(json!({"union": 1})), @"/union: found 1, expected a string or an array, each a string");
    assert_snapshot!(text(json!({"union": ["a", 1]})), @"/union/1: found 1, expected a string");
}

#[test]
fn problems_behind_references_are_explained_from_the_definition() {
    let contract = contract(json!({
        "properties": {"a": {"$ref": "#/$defs/~1odd name"}, "b": {"$ref": "#anchored"}},
        "$defs": {
            "/odd name": {"type": "integer", "maximum": 3},
            "x": {"$anchor": "anchored", "type": "object", "properties": {"c": {"type": "boolean"}}},
        },
    }));
    assert_snapshot!(problems(&contract, json!({"a": 4, "b": {"c": 1}})), @"
    /b/c: found 1, expected true or false
    /a: found 4, expected an integer of at most 3
    ");
}

#[test]
fn problems_become_failures() {
    let failure = Failure::from(problems(&search(), json!({})));
    assert_eq!(failure.kind, ErrorKind::InvalidArguments);
    assert_eq!(failure.model_text, "/path: missing, expected a string");
}

#[test]
fn problems_survive_storage() {
    let problems = problems(&search(), json!({"pth": 1}));
    let stored = serde_json::to_string(&problems).unwrap();
    assert_eq!(serde_json::from_str::<haft_schema::Problems>(&stored).unwrap(), problems);
    assert_eq!(problems.shown[0].rule, Rule::UnknownKey);
}

#[test]
fn defaults_reach_nested_objects_and_items_that_are_there() {
    let contract = contract(json!({
        "properties": {
            "where": {"properties": {"from": {"default": 0}, "deep": {"properties": {"x": {"default": "y"}}}}},
            "list": {"items": {"$ref": "#/$defs/entry"}},
            "pick": {"oneOf": [
                {"properties": {"kind": {"const": "a"}, "n": {"default": 1}}, "required": ["kind"]},
                {"properties": {"kind": {"const": "b"}, "n": {"default": 2}}, "required": ["kind"]},
            ]},
        },
        "allOf": [{"properties": {"all": {"default": true}}}],
        "$defs": {"entry": {"properties": {"k": {"default": null}}}},
    }));
    assert_eq!(normal(&contract, json!({})), json!({"all": true}));
    let given = json!({"where": {"deep": {}}, "list": [{}, {"k": 1}], "pick": {"kind": "b"}});
    let normalised = contract.normalise(object(given)).unwrap();
    assert_eq!(
        Value::Object(normalised.arguments),
        json!({
            "where": {"deep": {"x": "y"}, "from": 0},
            "list": [{"k": null}, {"k": 1}],
            "pick": {"kind": "b", "n": 2},
            "all": true,
        })
    );
    assert_eq!(
        normalised.defaults,
        ["/where/deep/x", "/where/from", "/list/0/k", "/pick/n", "/all"]
    );
}

#[test]
fn defaults_that_do_not_fit_are_left_out() {
    let contract = contract(json!({
        "properties": {
            "a": {"type": "string", "default": null},
            "b": {"type": "integer", "minimum": 5, "default": 1},
        },
    }));
    assert_eq!(normal(&contract, json!({})), json!({}));
}

#[test]
fn defaults_that_contradict_what_was_given_are_left_out() {
    let contract = contract(json!({
        "properties": {"a": {"default": 1}, "b": true},
        "not": {"required": ["a", "b"]},
    }));
    assert_eq!(normal(&contract, json!({})), json!({"a": 1}));
    assert_eq!(normal(&contract, json!({"b": 1})), json!({"b": 1}));
    assert_snapshot!(problems(&contract, json!({"a": 1, "b": 1})), @r#"the value: found an object of 2 keys, expected anything but an object with "a", "b""#);
}

#[test]
fn a_large_default_is_not_multiplied_without_end() {
    let contract = contract(json!({
        "properties": {"list": {"items": {"properties": {"x": {"default": "x".repeat(100_000)}}}}},
    }));
    let many: Vec<Value> = (0..10_000).map(|_| json!({})).collect();
    let normalised = contract.normalise(object(json!({"list": many}))).unwrap();
    assert!(normalised.defaults.len() <= 10);
}

#[test]
fn whole_numbers_lose_their_point_where_integers_are_asked_for() {
    let contract =
        contract(json!({"properties": {"i": {"type": "integer"}, "n": {"type": "number"}}}));
    let normalised = normal(&contract, json!({"i": 5.0, "n": 5.0}));
    assert_eq!(normalised.to_string(), r#"{"i":5,"n":5.0}"#);
}

#[test]
fn unknown_formats_are_ignored() {
    let contract =
        contract(json!({"properties": {"p": {"type": "string", "format": "workspace-path"}}}));
    normal(&contract, json!({"p": "anything at all"}));
}

#[test]
fn values_nested_too_deep_are_refused_without_overflow() {
    let deep = nested("a", 100_000, json!(1));
    let problems = contract(json!({})).normalise(object(deep)).unwrap_err();
    assert_snapshot!(problems, @"the value: nested more than 128 levels deep; send a flatter value");
}

#[test]
fn values_that_take_too_long_to_check_are_refused() {
    let branch = json!({"required": ["z"], "properties": {"x": {"$ref": "#"}}});
    let contract = contract(json!({"anyOf": [branch, branch]}));
    let deep = (0..60).fold(json!({}), |inner, _| json!({"x": inner}));
    assert_snapshot!(problems(&contract, deep), @"the value: nested too deep or too often to check against this schema; send a smaller or flatter value");
}

#[test]
fn a_default_has_its_numbers_in_the_form_of_given_ones() {
    let contract = contract(json!({
        "type": "object",
        "properties": {
            "a": {"enum": ["a", 1], "default": 1.0},
            "b": {"type": "array", "items": {"type": "integer"}, "default": [2.0, -3.0]},
            "c": {"type": "object", "properties": {"n": {"type": "integer"}}, "default": {"n": 3.0}},
        },
    }));
    let once = normal(&contract, json!({}));
    assert_eq!(once, json!({"a": 1, "b": [2, -3], "c": {"n": 3}}));
    assert_eq!(normal(&contract, once.clone()), once);
}

#[test]
fn what_need_not_have_been_given_can_be_told_apart() {
    let contract = search();
    let given =
        |arguments: Value| Value::Object(contract.without_defaults(&object(arguments))).to_string();
    assert_snapshot!(given(json!({"path": "a", "limit": 100, "mode": "fast"})), @r#"{"path":"a","mode":"fast"}"#);
    assert_snapshot!(given(json!({"path": "a", "limit": 99})), @r#"{"path":"a","limit":99}"#);
    let refused = json!({"limit": 100, "pth": "a"});
    assert_eq!(given(refused.clone()), refused.to_string(), "what does not fit is shown whole");
}
