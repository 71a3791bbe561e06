use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::inverse::{Inverse, Object, Undo};
use super::{Dialect, LossKind, Lowered, TABLE, lower};
use crate::suite::Schema;

const NARROW: [Dialect; 5] = [
    Dialect::OpenAiStrict,
    Dialect::AnthropicStrict,
    Dialect::Gemini,
    Dialect::LlamaCpp,
    Dialect::Common,
];

/// Puts a value into the shapes of a dialect, in each of the ways a model might.
fn encode(inverse: &Inverse, value: &Value) -> Vec<Value> {
    let (undo, definitions) = inverse.parts();
    encoded(undo, definitions, value)
}

/// Ways to encode one value that are tried.
const WAYS: usize = 24;

fn encoded(undo: &Undo, definitions: &[Undo], value: &Value) -> Vec<Value> {
    let each = |undo: &Undo, values: &[Value]| {
        let ways = values.iter().map(|value| encoded(undo, definitions, value));
        every(ways.collect())
    };
    match (undo, value) {
        (Undo::Object(object), Value::Object(map)) => encoded_object(object, definitions, map),
        (Undo::Pairs(undo), Value::Object(map)) => pairs(undo, definitions, map),
        (Undo::Items(undo), Value::Array(items)) => {
            each(undo, items).into_iter().map(Value::Array).collect()
        }
        (Undo::OneOf(branches), value) => {
            let ways = branches.iter().flat_map(|(_, undo)| encoded(undo, definitions, value));
            ways.take(WAYS).collect()
        }
        // A text where anything may be need not be quoted, and null may stand for what is left out.
        (Undo::Text { is_anything: true }, value) => {
            vec![Value::from(value.to_string()), value.clone()]
        }
        (Undo::Text { is_anything: false }, value) => vec![Value::from(value.to_string())],
        (Undo::Named(names), value) => {
            let named = names.iter().find(|(_, named)| is_same(named, value));
            vec![named.map_or(value.clone(), |(name, _)| Value::from(name.as_str()))]
        }
        (Undo::Definition(index), value) => encoded(&definitions[*index], definitions, value),
        (_, value) => vec![value.clone()],
    }
}

fn is_same(one: &Value, other: &Value) -> bool {
    one == other || one.as_f64().is_some_and(|it| Some(it) == other.as_f64())
}

fn encoded_object(object: &Object, definitions: &[Undo], map: &Map<String, Value>) -> Vec<Value> {
    let mut keys: Vec<String> = Vec::new();
    let mut ways = Vec::new();
    let mut left = map.clone();
    for (wire, field) in &object.fields {
        let name = field.name.as_ref().unwrap_or(wire);
        let value = left.shift_remove(name);
        match value {
            Some(value) => ways.push(encoded(&field.undo, definitions, &value)),
            None if field.drops_null => ways.push(vec![Value::Null]),
            None => continue,
        }
        keys.push(wire.clone());
    }
    if let Some((name, undo)) = &object.gathered {
        // What has a name of its own is seen only from the schema: here a few names have.
        let (known, others): (Map<_, _>, Map<_, _>) =
            left.into_iter().partition(|(key, _)| ["a", "b", "kind"].contains(&key.as_str()));
        for (key, value) in known {
            keys.push(key);
            ways.push(vec![value]);
        }
        keys.push(name.clone());
        ways.push(pairs(undo, definitions, &others));
    } else {
        let undo = object.others.as_ref().unwrap_or(&Undo::Same);
        for (key, value) in left {
            keys.push(key);
            ways.push(encoded(undo, definitions, &value));
        }
    }
    let objects = every(ways).into_iter();
    objects.map(|values| keys.iter().cloned().zip(values).collect::<Map<_, _>>().into()).collect()
}

fn pairs(undo: &Undo, definitions: &[Undo], map: &Map<String, Value>) -> Vec<Value> {
    let ways = map.values().map(|value| encoded(undo, definitions, value)).collect();
    let pair = |(key, value): (&String, Value)| json!({"key": key, "value": value});
    every(ways).into_iter().map(|values| map.keys().zip(values).map(pair).collect()).collect()
}

/// Lists every choice of one from each, up to a number.
fn every(ways: Vec<Vec<Value>>) -> Vec<Vec<Value>> {
    let mut all: Vec<Vec<Value>> = vec![Vec::new()];
    for way in ways {
        let longer = all.iter().flat_map(|begun| {
            way.iter().map(move |value| begun.iter().cloned().chain([value.clone()]).collect())
        });
        all = longer.take(WAYS).collect();
    }
    all
}

/// Closes objects and completes them as far as a model would: the properties that a lowered schema wants and a value lacks
/// are null, those that it does not know are left out.
fn completed(schema: &Value, root: &Value, value: Value) -> Value {
    if let Some(reference) = schema["$ref"].as_str() {
        return completed(root.pointer(reference.trim_start_matches('#')).unwrap(), root, value);
    }
    if let Some(branches) = schema["anyOf"].as_array() {
        let fits = |branch: &&Value| accepts(branch, root, &completed(branch, root, value.clone()));
        return match branches.iter().find(fits) {
            Some(branch) => completed(branch, root, value),
            None => value,
        };
    }
    match value {
        Value::Object(mut map) if schema["properties"].is_object() => {
            let properties = schema["properties"].as_object().unwrap();
            if !schema["additionalProperties"].is_object()
                && schema["additionalProperties"] != json!(true)
            {
                map.retain(|key, _| properties.contains_key(key));
            }
            for name in schema["required"].as_array().into_iter().flatten() {
                let name = name.as_str().unwrap();
                map.entry(name.to_owned()).or_insert(Value::Null);
            }
            let completed = map.into_iter().map(|(key, value)| match properties.get(&key) {
                Some(schema) => (key, completed(schema, root, value)),
                None => (key, value),
            });
            Value::Object(completed.collect())
        }
        Value::Array(items) => {
            items.into_iter().map(|it| completed(&schema["items"], root, it)).collect()
        }
        value => value,
    }
}

/// Tells whether a lowered schema accepts a value; Gemini's is read as the JSON Schema that it stands for.
fn accepts(schema: &Value, root: &Value, value: &Value) -> bool {
    let mut whole = schema.clone();
    if let (Some(object), Some(definitions)) = (whole.as_object_mut(), root.get("$defs")) {
        object.insert("$defs".to_owned(), definitions.clone());
    }
    Schema::admit(plain(whole)).unwrap().accepts(value)
}

/// Brings Gemini's form into JSON Schema.
fn plain(schema: Value) -> Value {
    match schema {
        Value::Object(map) => {
            let mut whole: Map<String, Value> =
                map.into_iter().map(|(key, value)| (key, plain(value))).collect();
            let name = whole.get("type").and_then(Value::as_str).map(str::to_lowercase);
            if let Some(name) = name {
                whole.insert("type".to_owned(), name.into());
            }
            if whole.shift_remove("nullable").is_some() {
                return json!({"anyOf": [whole, {"type": "null"}]});
            }
            Value::Object(whole)
        }
        Value::Array(items) => items.into_iter().map(plain).collect(),
        other => other,
    }
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "kind", "x/y", "0"]).prop_map(str::to_owned)
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2_i64..4).prop_map(Value::from),
        Just(json!(0.5)),
        prop::sample::select(vec!["", "a", "b", "5", "null", "{}"]).prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            object_of(inner).prop_map(Value::from),
        ]
    })
}

fn object_of(values: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::vec((name(), values), 0..4).prop_map(Map::from_iter)
}

/// A schema and a value that fits it, so that no case is wasted.
fn fitting() -> impl Strategy<Value = (Value, Value)> {
    let text = prop::sample::select(vec!["", "a", "5", "null", "{}"]);
    let leaf = prop_oneof![
        text.clone().prop_map(|it| (json!({"type": "string", "maxLength": 9}), json!(it))),
        (-2_i64..9).prop_map(|it| (json!({"type": "integer", "minimum": -2}), json!(it))),
        any::<bool>().prop_map(|it| (json!({"type": "boolean"}), json!(it))),
        Just((json!({"type": ["string", "null"]}), Value::Null)),
        text.prop_map(|it| (json!({"type": ["string", "integer", "null"]}), json!(it))),
        Just((json!({"enum": ["a", 1, null]}), json!(1))),
        Just((json!({"enum": ["a", 1, null]}), json!(null))),
        Just((json!({"const": "a"}), json!("a"))),
        Just((json!({"const": true}), json!(true))),
        value().prop_map(|it| (json!({}), it)),
        value().prop_map(|it| (json!(true), it)),
        Just((json!({"$ref": "#/$defs/tree"}), json!({"next": {"next": {"a": 1}}}))),
        Just((json!({"$ref": "#/$defs/plain", "description": "here"}), json!("a"))),
        Just((json!({"type": "array", "prefixItems": [{"type": "string"}]}), json!(["a", 1]))),
    ];
    leaf.prop_recursive(4, 16, 3, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..3);
        prop_oneof![
            list.clone().prop_map(array),
            (
                prop::collection::vec((name(), inner.clone(), any::<bool>(), any::<bool>()), 0..4),
                any::<bool>()
            )
                .prop_map(|(properties, closed)| object(properties, closed)),
            prop::collection::vec((name(), inner.clone()), 0..2).prop_map(map),
            (
                prop::collection::vec(inner.clone(), 1..3),
                any::<prop::sample::Index>(),
                any::<bool>()
            )
                .prop_map(|(branches, which, one)| union(&branches, which, one)),
            inner.prop_map(|(schema, value)| (
                json!({"allOf": [schema, {"description": "d"}]}),
                value
            )),
        ]
    })
}

fn array(items: Vec<(Value, Value)>) -> (Value, Value) {
    match items.split_first() {
        None => (json!({"type": "array", "items": {"type": "string"}}), json!([])),
        Some(((schema, first), _)) => (json!({"type": "array", "items": schema}), json!([first])),
    }
}

fn object(properties: Vec<(String, (Value, Value), bool, bool)>, closed: bool) -> (Value, Value) {
    let mut schema = json!({"type": "object", "properties": {}, "required": []});
    let mut value = json!({});
    for (name, (property, inside), required, present) in properties {
        if schema["properties"].get(&name).is_some() {
            continue;
        }
        schema["properties"][&name] = property;
        if required {
            schema["required"].as_array_mut().unwrap().push(json!(name));
        }
        if required || present {
            value[&name] = inside;
        }
    }
    if closed {
        schema["additionalProperties"] = json!(false);
    }
    (schema, value)
}

fn map(entries: Vec<(String, (Value, Value))>) -> (Value, Value) {
    let schema =
        entries.first().map_or(json!({"type": "integer"}), |(_, (schema, _))| schema.clone());
    let value: Map<String, Value> =
        entries.into_iter().take(1).map(|(name, (_, value))| (name, value)).collect();
    (json!({"type": "object", "additionalProperties": schema}), value.into())
}

fn union(branches: &[(Value, Value)], which: prop::sample::Index, one: bool) -> (Value, Value) {
    let schemas: Vec<&Value> = branches.iter().map(|(schema, _)| schema).collect();
    let value = branches[which.index(branches.len())].1.clone();
    // Of alternatives that overlap, exactly one may be asked for only where they do not.
    let types: Vec<&Value> = schemas.iter().map(|it| &it["type"]).collect();
    let apart = types.iter().all(|it| it.is_string()) && types.first() != types.last();
    let keyword = if one && (apart || types.len() == 1) { "oneOf" } else { "anyOf" };
    (json!({keyword: schemas}), value)
}

/// A root with definitions, and arguments that fit it.
fn arguments() -> impl Strategy<Value = (Value, Value)> {
    let properties = prop::collection::vec((name(), fitting(), any::<bool>(), any::<bool>()), 0..4);
    (properties, any::<bool>()).prop_filter_map("not admitted", |(properties, closed)| {
        let (mut schema, value) = object(properties, closed);
        schema["$defs"] = json!({
            "tree": {"type": "object", "properties": {"next": {"$ref": "#/$defs/tree"}, "a": {"type": "integer"}}},
            "plain": {"type": "string"},
        });
        let admitted = Schema::admit(schema.clone()).ok()?;
        admitted.accepts(&value).then_some((schema, value))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, max_global_rejects: 8192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_fits_a_schema_can_be_said_in_each_dialect_and_comes_back_fitting(
        (schema, value) in arguments()
    ) {
        let admitted = Schema::admit(schema.clone()).unwrap();
        for dialect in NARROW {
            let Lowered { schema: lowered, inverse, .. } = lower(&schema, dialect);
            let ways = encode(&inverse, &value);
            let said: Vec<Value> = ways
                .into_iter()
                .map(|way| completed(&plain(lowered.clone()), &plain(lowered.clone()), way))
                .filter(|way| accepts(&lowered, &lowered, way))
                .collect();
            prop_assert!(!said.is_empty(), "{dialect:?}: {value} cannot be said in {lowered}");
            // Some ways take a value for one of another alternative: no model means those.
            let back: Vec<Value> =
                said.iter().filter_map(|it| inverse.apply(it.clone()).ok()).collect();
            let fits = back.iter().any(|it| admitted.accepts(it));
            prop_assert!(fits, "{dialect:?}: {said:?} in {lowered} comes back as {back:?}");
        }
    }

    #[test]
    fn whatever_a_model_says_is_brought_back_or_refused_with_its_place(
        (schema, _) in arguments(), said in value()
    ) {
        for dialect in Dialect::ALL {
            if let Err(error) = lower(&schema, dialect).inverse.apply(said.clone()) {
                prop_assert!(error.pointer.starts_with('/'), "{}", error);
            }
        }
    }

    #[test]
    fn any_json_is_lowered_to_a_schema_of_an_object(schema in value()) {
        for dialect in Dialect::ALL {
            let lowered = lower(&schema, dialect).schema;
            prop_assert!(lowered["type"].as_str().unwrap().eq_ignore_ascii_case("object"));
        }
    }
}

#[test]
fn each_feature_has_one_row_with_a_date() {
    for (index, row) in TABLE.iter().enumerate() {
        assert!(TABLE.iter().skip(index + 1).all(|it| it.feature != row.feature), "{row:?}");
        assert!(row.last_verified.len() == 10 && !row.source.is_empty(), "{row:?}");
    }
}

#[test]
fn references_that_multiply_are_bounded() {
    let mut schema =
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": {}});
    for level in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        let text = "x".repeat(2_000);
        schema["$defs"][format!("d{level}")] = json!({
            "type": "object", "description": text, "properties": {"l": next, "r": next, "m": {"allOf": [next, next]}},
        });
    }
    for dialect in Dialect::ALL {
        let lowered = lower(&schema, dialect);
        assert!(lowered.schema.to_string().len() < 2 * haft_protocol::limits::SCHEMA_BYTES);
        assert!(lowered.losses.len() <= 1_000);
    }
}

#[test]
fn a_loss_says_where_and_what() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "maxLength": 3}}});
    let losses = lower(&schema, Dialect::Common).losses;
    let told: Vec<_> = losses.iter().map(|it| (it.pointer.as_str(), it.what, it.kind)).collect();
    assert_eq!(told, [("/properties/a", "maxLength", LossKind::Described)]);
}

/// llama.cpp drops the whole grammar of a request where one rule is repeated too often.
#[test]
fn a_number_that_is_too_large_for_a_grammar_is_said_in_words() {
    let text = json!({"type": "string", "minLength": 1, "maxLength": 100_000});
    let list = json!({"type": "array", "items": {"type": "string"}, "maxItems": 2_000});
    let schema = json!({"type": "object", "properties": {"text": text, "list": list}});
    let lowered = lower(&schema, Dialect::LlamaCpp);
    let [text, list] = ["text", "list"].map(|it| &lowered.schema["properties"][it]);
    assert_eq!((&text["minLength"], &text["maxLength"]), (&json!(1), &Value::Null));
    assert_eq!(text["description"], "at most 100000 characters");
    assert_eq!(
        (&list["maxItems"], &list["description"]),
        (&Value::Null, &json!("at most 2000 items"))
    );
    assert_eq!(lower(&schema, Dialect::GeminiJson).schema, schema);
}

#[test]
fn a_choice_that_may_be_null_still_tells_alternatives_apart() {
    let branch = json!({
        "type": "object",
        "properties": {"kind": {"enum": ["a", null]}, "on": {"const": true}},
        "required": ["kind", "on"],
    });
    let union = json!({"anyOf": [branch, {"type": "string"}]});
    let schema = json!({"type": "object", "properties": {"u": union}});
    let inverse = lower(&schema, Dialect::Gemini).inverse;
    let said = json!({"u": {"kind": null, "on": "true"}});
    assert_eq!(inverse.apply(said), Ok(json!({"u": {"kind": null, "on": true}})));
}
