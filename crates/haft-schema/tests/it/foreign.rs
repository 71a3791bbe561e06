//! Schemas that come from elsewhere.

use haft_schema::{Contract, Reading, SchemaError};
use insta::assert_snapshot;
use serde_json::{Map, Value, json};

use crate::{nested, normal, problems, shown};

fn refused(schema: Value) -> SchemaError {
    Contract::foreign(schema).unwrap_err()
}

fn said(schema: Value) -> String {
    let error = refused(schema);
    let hint = error.hint().unwrap_or("-");
    format!("{}: {error}\n{hint}", error.code())
}

#[test]
fn sparse_schemas_accept_any_object() {
    for sparse in
        [json!({}), json!(true), json!({"type": "object"}), json!({"type": ["object", "null"]})]
    {
        let contract = Contract::foreign(sparse).unwrap();
        assert_eq!(**contract.schema(), json!({"type": "object"}));
        assert_eq!(contract.required().count(), 0);
        assert!(contract.is_open());
        normal(&contract, json!({"anything": [1]}));
    }
}

#[test]
fn roots_that_accept_no_object_are_refused() {
    assert_snapshot!(said(json!(false)), @r#"
    refuses_objects: the root schema accepts no value at all, and arguments are always an object
    make the root `{"type": "object", "properties": …}`
    "#);
    assert_snapshot!(said(json!({"type": "string"})), @r#"
    refuses_objects: the root schema accepts a string, and arguments are always an object
    make the root `{"type": "object", "properties": …}`
    "#);
    assert_snapshot!(said(json!({"anyOf": [{"type": "array"}, {"type": "null"}]})), @r#"
    refuses_objects: the root schema accepts an array or null, and arguments are always an object
    make the root `{"type": "object", "properties": …}`
    "#);
    assert_snapshot!(said(json!([1])), @r#"
    not_a_schema: a schema is a JSON object, found an array of 1 item
    make the root `{"type": "object", "properties": …}`
    "#);
    assert_snapshot!(said(json!("object")), @r#"
    not_a_schema: a schema is a JSON object, found "object"
    make the root `{"type": "object", "properties": …}`
    "#);
}

#[test]
fn both_dialects_are_read_and_others_are_named() {
    for named in [
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft-07/schema",
        "https://json-schema.org/draft/2020-12/schema",
        "https://json-schema.org/draft/2020-12/schema#",
    ] {
        let contract = Contract::foreign(json!({"$schema": named, "type": "object"})).unwrap();
        assert_eq!(contract.schema().get("$schema"), None);
    }
    assert_snapshot!(said(json!({"$schema": "http://json-schema.org/draft-04/schema#"})), @"
    unsupported_dialect: `http://json-schema.org/draft-04/schema#` is no dialect of JSON Schema that is supported
    use draft 2020-12 or draft-07, or leave `$schema` out for 2020-12
    ");
    assert_snapshot!(said(json!({"$schema": 7})), @"
    unsupported_dialect: `7` is no dialect of JSON Schema that is supported
    use draft 2020-12 or draft-07, or leave `$schema` out for 2020-12
    ");
}

#[test]
fn draft_07_means_what_it_meant() {
    let contract = Contract::foreign(json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "pair": {"type": "array", "items": [{"type": "string"}, {"type": "integer"}], "additionalItems": false},
            "name": {"$ref": "#/definitions/name", "maxLength": 1},
        },
        "dependencies": {"pair": ["name"]},
        "definitions": {"name": {"type": "string"}},
    }))
    .unwrap();
    assert_snapshot!(shown(&contract), @r##"
    {
      "type": "object",
      "properties": {
        "pair": {
          "type": "array",
          "prefixItems": [
            {
              "type": "string"
            },
            {
              "type": "integer"
            }
          ],
          "items": false
        },
        "name": {
          "$ref": "#/definitions/name"
        }
      },
      "definitions": {
        "name": {
          "type": "string"
        }
      },
      "dependentRequired": {
        "pair": [
          "name"
        ]
      }
    }
    "##);
    normal(&contract, json!({"pair": ["a", 1], "name": "longer than one"}));
    assert_snapshot!(problems(&contract, json!({"pair": ["a", "b", "c"]})), @r#"
    /name: missing, expected a string
    /pair/1: found "b", expected an integer
    /pair/2: found "c", expected nothing here
    "#);
}

#[test]
fn references_out_of_the_document_are_refused_by_name() {
    assert_snapshot!(said(json!({"properties": {"a": {"$ref": "https://x.test/a.json"}}})), @"
    external_reference: `https://x.test/a.json` at `/properties/a/$ref` points outside the schema
    copy the definition into `$defs` and refer to it as `#/$defs/…`
    ");
    assert_snapshot!(said(json!({"properties": {"a": {"$ref": "file:///etc/passwd"}}})), @"
    external_reference: `file:///etc/passwd` at `/properties/a/$ref` points outside the schema
    copy the definition into `$defs` and refer to it as `#/$defs/…`
    ");
    assert_snapshot!(said(json!({"properties": {"a": {"$ref": "other.json#/a"}}})), @"
    external_reference: `other.json#/a` at `/properties/a/$ref` points outside the schema
    copy the definition into `$defs` and refer to it as `#/$defs/…`
    ");
    assert_snapshot!(said(json!({"$dynamicRef": "https://x.test/a"})), @"
    external_reference: `https://x.test/a` at `/$dynamicRef` points outside the schema
    copy the definition into `$defs` and refer to it as `#/$defs/…`
    ");
    assert_snapshot!(said(json!({"properties": {"a": {"$ref": "#/$defs/missing"}}})), @"
    dangling_reference: `#/$defs/missing` at `/properties/a/$ref` points to nothing in the schema
    -
    ");
    assert_snapshot!(said(json!({"properties": {"a": {"$id": "https://x.test/", "$ref": "#/a"}}})), @"
    nested_identifier: the sub-schema at `/properties/a` has an identifier of its own, `https://x.test/`
    remove `$id` and refer by JSON Pointer
    ");
}

#[test]
fn patterns_without_a_linear_time_form_are_refused_by_name() {
    assert_snapshot!(said(json!({"properties": {"a": {"pattern": "^(?!x).*$"}}})), @"
    unsupported_pattern: the pattern `^(?!x).*$` at `/properties/a/pattern` uses look-around, which has no linear-time form
    write the pattern without look-around and back-references, or use `format`
    ");
    assert_snapshot!(said(json!({"properties": {"a": {"pattern": r"(a)\1"}}})), @r"
    unsupported_pattern: the pattern `(a)\1` at `/properties/a/pattern` uses a back-reference, which has no linear-time form
    write the pattern without look-around and back-references, or use `format`
    ");
    assert_snapshot!(said(json!({"patternProperties": {"(?<=x)y": true}})), @"
    unsupported_pattern: the pattern `(?<=x)y` at `/patternProperties/(?<=x)y` uses look-around, which has no linear-time form
    write the pattern without look-around and back-references, or use `format`
    ");
    assert_snapshot!(said(json!({"properties": {"a": {"pattern": "["}}})), @"
    unsupported_pattern: the pattern `[` at `/properties/a/pattern` is no regular expression of a reasonable size
    write the pattern without look-around and back-references, or use `format`
    ");
    assert_snapshot!(said(json!({"properties": {"a": {"pattern": r"^(\w{1,500}x){1,500}$"}}})), @r"
    unsupported_pattern: the pattern `^(\w{1,500}x){1,500}$` at `/properties/a/pattern` is no regular expression of a reasonable size
    write the pattern without look-around and back-references, or use `format`
    ");
}

#[test]
fn keywords_with_wrong_values_are_named() {
    assert_snapshot!(said(json!({"properties": {"a": {"type": "strin"}}})), @r#"
    invalid_schema: `/properties/a/type` in the schema: "strin" is not one of "array", "boolean" or 5 other candidates
    if the schema is written in draft-07, say so with `$schema`
    "#);
    assert_snapshot!(said(json!({"properties": {"a": {"minimum": "1"}}})), @r#"
    invalid_schema: `/properties/a/minimum` in the schema: "1" is not of type "number"
    if the schema is written in draft-07, say so with `$schema`
    "#);
    assert_snapshot!(said(json!({"required": "a"})), @r#"
    invalid_schema: `/required` in the schema: "a" is not of type "array"
    if the schema is written in draft-07, say so with `$schema`
    "#);
    assert_snapshot!(said(json!({"properties": {"a": {"items": [{}]}}})), @r#"
    invalid_schema: `/properties/a/items` in the schema: [{}] is not of types "boolean", "object"
    if the schema is written in draft-07, say so with `$schema`
    "#);
    assert_snapshot!(said(json!({"properties": {"a": 1}})), @r#"
    invalid_schema: `/properties/a` in the schema: 1 is not of types "boolean", "object"
    if the schema is written in draft-07, say so with `$schema`
    "#);
}

#[test]
fn size_depth_number_and_cost_are_bounded() {
    let wide: Map<_, _> = (0..6_000).map(|it| (it.to_string(), json!({}))).collect();
    let double = |it: usize| json!({"allOf": [{"$ref": format!("#/$defs/{it}")}, {"$ref": format!("#/$defs/{it}")}]});
    let mut doubling: Map<_, _> = (0..40).map(|it| (it.to_string(), double(it + 1))).collect();
    doubling.insert("40".to_owned(), json!({}));
    for (schema, code) in [
        (nested("items", 40, json!({})), "schema_too_deep"),
        (nested("items", 100_000, json!({})), "schema_too_deep"),
        (nested("default", 100_000, json!({})), "schema_too_deep"),
        (json!({"properties": wide}), "schema_too_many"),
        (json!({"description": "x".repeat(1 << 20)}), "schema_too_large"),
        (json!({"description": "\u{1}".repeat(100_000)}), "schema_too_large"),
        (
            json!({"properties": {"a": {"$ref": "#/$defs/0"}}, "$defs": doubling}),
            "schema_too_intricate",
        ),
        (json!({"allOf": [{"$ref": "#"}]}), "reference_loop"),
    ] {
        assert_eq!(refused(schema).code(), code);
    }
}

#[test]
fn recursive_schemas_are_kept_as_they_are() {
    let contract = Contract::foreign(json!({
        "properties": {"tree": {"$ref": "#/$defs/tree"}},
        "$defs": {"tree": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
            "required": ["name"],
        }},
    }))
    .unwrap();
    normal(&contract, json!({"tree": {"name": "a", "children": [{"name": "b", "children": []}]}}));
    assert_snapshot!(problems(&contract, json!({"tree": {"name": "a", "children": [{"name": 1}]}})), @"/tree/children/0/name: found 1, expected a string");
}

#[test]
fn the_digest_follows_the_meaning_and_not_the_spelling() {
    let one = Contract::foreign(json!({"type": "object", "properties": {"a": true}})).unwrap();
    let same = Contract::foreign(json!({
        "properties": {"a": true},
        "$schema": "https://json-schema.org/draft/2020-12/schema",
    }))
    .unwrap();
    let other =
        Contract::foreign(json!({"type": "object", "properties": {"a": {"description": "A."}}}))
            .unwrap();
    assert_eq!(one.digest(), same.digest());
    assert_ne!(one.digest(), other.digest());
}

/// Makes a chain of definitions, and the value that walks it to its end.
fn chain(length: usize, link: impl Fn(Value) -> Value) -> Value {
    let mut definitions = Map::new();
    for index in 0..length {
        let next = json!({"$ref": format!("#/$defs/{}", index + 1)});
        definitions.insert(index.to_string(), link(next));
    }
    definitions.insert(length.to_string(), json!({"type": "number"}));
    json!({"properties": {"x": {"$ref": "#/$defs/0"}}, "$defs": definitions})
}

#[test]
fn the_longest_chains_admitted_fit_the_stack_of_a_worker() {
    let links: [fn(Value) -> Value; 7] = [
        |next| next,
        |next| json!({"allOf": [next]}),
        |next| json!({"anyOf": [next, false]}),
        |next| json!({"oneOf": [next, false]}),
        |next| json!({"if": next, "then": next}),
        |next| json!({"properties": {"x": next}, "additionalProperties": false}),
        |next| json!({"items": next}),
    ];
    for link in links {
        let admit = |length: &usize| Contract::foreign(chain(*length, link));
        let lengths: Vec<usize> = (1..400).collect();
        let longest = lengths.partition_point(|length| admit(length).is_ok());
        let contract = admit(&longest).unwrap();
        for key in ["x", "y"] {
            for value in [nested("x", 126, json!("leaf")), json!("leaf")] {
                let arguments = Map::from_iter([(key.to_owned(), value)]);
                let _ = contract.normalise(arguments.clone());
                let _ = contract.decode(Value::Object(arguments).into(), Reading::default());
            }
        }
    }
}

#[test]
fn recursion_in_the_schema_is_bounded_by_the_value() {
    let tree = json!({"oneOf": [
        {"type": "string"},
        {"type": "object", "additionalProperties": {"$ref": "#/$defs/tree"}},
        {"type": "array", "items": {"$ref": "#/$defs/tree"}},
    ]});
    let contract = Contract::foreign(
        json!({"properties": {"x": {"$ref": "#/$defs/tree"}}, "$defs": {"tree": tree}}),
    )
    .unwrap();
    normal(&contract, nested("x", 126, json!("leaf")));
    assert_snapshot!(problems(&contract, nested("x", 4, json!(1))), @"/x/x/x/x: found 1, expected a string, an object or an array, each a value of the right form");
    problems(&contract, nested("x", 126, json!(1)));
}

#[test]
fn messages_stay_short_whatever_the_schema_is_like() {
    let names: Vec<String> = (0..200).map(|it| format!("{it}{}", "x".repeat(500))).collect();
    let properties: Map<_, _> =
        names.iter().map(|name| (name.clone(), json!({"enum": names}))).collect();
    let object = json!({"type": "object", "properties": properties, "required": names});
    for schema in [
        json!({"properties": {"a": {"anyOf": [{"type": "integer"}, object]}}}),
        json!({"properties": {"a": {"enum": names}}}),
        json!({"properties": {"b": true}, "required": names, "additionalProperties": false}),
    ] {
        if let Ok(contract) = Contract::foreign(schema) {
            assert!(problems(&contract, json!({"a": "x"})).model_text().len() < 16_000);
        }
    }
    let long = json!({"properties": {"k".repeat(100_000): {"$ref": "x".repeat(100_000)}}});
    assert!(refused(long).to_string().len() < 1_000);
}

#[test]
fn o_059_schemas_that_trip_model_interfaces_are_admitted_and_mean_what_they_say() {
    for (schema, fits, does_not) in [
        (json!({"type": "object"}), json!({"a": 1}), None),
        (
            json!({"properties": {"a": {"type": "array"}}}),
            json!({"a": [1, "b"]}),
            Some(json!({"a": 1})),
        ),
        (json!({"required": ["unknown"]}), json!({"unknown": 1}), Some(json!({}))),
        (
            json!({"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}),
            json!({"a": null}),
            Some(json!({"a": 1})),
        ),
        (
            json!({"properties": {"a": {"type": ["string", "null"]}}}),
            json!({"a": null}),
            Some(json!({"a": 1})),
        ),
        (
            json!({"properties": {"a": {"enum": ["x", null]}}}),
            json!({"a": null}),
            Some(json!({"a": "y"})),
        ),
        (json!({"properties": {"a": {"enum": []}}}), json!({}), Some(json!({"a": 1}))),
        (
            json!({"properties": {"a": {"type": "string", "format": "uri"}}}),
            json!({"a": "no uri"}),
            None,
        ),
        (json!({"additionalProperties": {}}), json!({"a": 1}), None),
        (json!({"properties": {"a": true, "b": false}}), json!({"a": 1}), Some(json!({"b": 1}))),
        (
            json!({"properties": {"a": {"$ref": "#/$defs/s", "maxLength": 1}}, "$defs": {"s": {"type": "string"}}}),
            json!({"a": "x"}),
            Some(json!({"a": "xx"})),
        ),
        (
            json!({"properties": {"a": {"$ref": "#"}}, "additionalProperties": false}),
            json!({"a": {"a": {}}}),
            Some(json!({"a": {"b": 1}})),
        ),
        (json!({"title": "T", "x-note": {"type": 7}, "examples": [{"type": 7}]}), json!({}), None),
    ] {
        let contract = Contract::foreign(schema).unwrap();
        normal(&contract, fits);
        if let Some(refused) = does_not {
            problems(&contract, refused);
        }
    }
}
