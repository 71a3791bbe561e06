//! What holds for every schema and every value.

use haft_protocol::RawArguments;
use haft_schema::suite::Schema;
use haft_schema::{Contract, Ending, Extra, Reading};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "kind", "x/y", "~", "A", "default", "$ref"])
        .prop_map(str::to_owned)
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3_i64..4).prop_map(Value::from),
        prop::sample::select(vec![0.5, 1.0, -2.0, 1e300]).prop_map(Value::from),
        prop::sample::select(vec![
            "",
            "a",
            "A",
            "b",
            "5",
            "-1",
            "1.0",
            "05",
            "true",
            "null",
            "[1]",
            "{\"a\":1}",
            "\"a\"",
            "{",
            "\\d",
            "é\n",
        ])
        .prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            object_of(inner).prop_map(Value::from),
        ]
    })
}

fn object_of(values: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::vec((name(), values), 0..5).prop_map(Map::from_iter)
}

fn arguments() -> impl Strategy<Value = Map<String, Value>> {
    object_of(value())
}

/// Schemas of the forms that repairs and defaults look at, right and wrong.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        prop::sample::select(vec![
            "null", "boolean", "integer", "number", "string", "array", "object"
        ])
        .prop_map(|name| json!({"type": name})),
        Just(json!({"type": ["string", "null"]})),
        Just(json!({"enum": ["a", "B", 1]})),
        Just(json!({"const": "a"})),
        Just(json!({"type": "string", "maxLength": 1})),
        Just(json!({"minLength": 1, "maxItems": 2, "required": ["a"]})),
        Just(json!({"type": "integer", "minimum": 0})),
        Just(json!({"minimum": -1, "maximum": 2})),
        Just(json!({"$ref": "#/$defs/d"})),
        any::<bool>().prop_map(Value::from),
    ];
    let leaf = (leaf, prop::option::of(scalar())).prop_map(|(mut schema, default)| {
        if let (Value::Object(schema), Some(default)) = (&mut schema, default) {
            schema.insert("default".to_owned(), default);
        }
        schema
    });
    leaf.prop_recursive(4, 24, 4, |inner| {
        let some = prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            object_schema(inner.clone()),
            inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            some.clone().prop_map(|list| json!({"anyOf": list})),
            some.clone().prop_map(|list| json!({"oneOf": list})),
            some.prop_map(|list| json!({"allOf": list})),
            inner.prop_map(|schema| json!({"not": schema})),
        ]
    })
}

fn object_schema(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    (object_of(inner), prop::collection::vec(name(), 0..2), prop::bool::weighted(0.3)).prop_map(
        |(properties, mut required, closed)| {
            required.sort();
            required.dedup();
            let mut schema =
                json!({"type": "object", "properties": properties, "required": required});
            if closed {
                schema["additionalProperties"] = json!(false);
            }
            schema
        },
    )
}

/// Contracts of random schemas; a definition gives references something to point to.
fn contract() -> impl Strategy<Value = Contract> {
    (object_schema(schema()), schema()).prop_filter_map("not admitted", |(mut root, definition)| {
        root["$defs"] = json!({"d": definition});
        Contract::foreign(root).ok()
    })
}

fn reading() -> impl Strategy<Value = Reading> {
    (any::<bool>(), 0_usize..3).prop_map(|(drop, ending)| Reading {
        extra: if drop { Extra::Drop } else { Extra::Reject },
        ending: [Ending::Unknown, Ending::Finished, Ending::Cut][ending],
    })
}

/// Text that is JSON, or was.
fn nearly_json() -> impl Strategy<Value = String> {
    let damage = prop::collection::vec((any::<prop::sample::Index>(), any::<Damage>()), 0..4);
    (arguments(), damage).prop_map(|(arguments, damage)| {
        let mut text: Vec<char> = Value::Object(arguments).to_string().chars().collect();
        for (place, damage) in damage {
            let place = if text.is_empty() { 0 } else { place.index(text.len()) };
            match damage {
                Damage::Cut => text.truncate(place),
                Damage::Insert(character) => text.insert(place, character),
                Damage::Remove if place < text.len() => {
                    text.remove(place);
                }
                Damage::Remove => {}
                Damage::Quotes => {
                    text.iter_mut().filter(|it| **it == '"').for_each(|it| *it = '\'');
                }
            }
        }
        text.into_iter().collect()
    })
}

#[derive(Debug, Clone)]
enum Damage {
    Cut,
    Insert(char),
    Remove,
    Quotes,
}

impl Arbitrary for Damage {
    type Parameters = ();
    type Strategy = BoxedStrategy<Self>;

    fn arbitrary_with((): ()) -> Self::Strategy {
        prop_oneof![
            Just(Self::Cut),
            prop::sample::select(vec![
                '{', '}', '[', ']', '"', '\'', '\\', ',', ':', '\n', 'd', 'T', '5', '\u{0}', '𝄞'
            ])
            .prop_map(Self::Insert),
            Just(Self::Remove),
            Just(Self::Quotes),
        ]
        .boxed()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, max_global_rejects: 4096, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn decoding_never_changes_what_the_contract_accepts(
        contract in contract(), arguments in arguments(), reading in reading()
    ) {
        // Whole numbers with a point become integers only in normalising, so acceptance is asked of `check`.
        let value = Value::Object(arguments.clone());
        prop_assume!(contract.check(&value).is_ok());
        let decoded = contract.decode(RawArguments::Json(value.clone()), reading).unwrap();
        prop_assert_eq!(&decoded.arguments, &arguments);
        prop_assert!(decoded.repairs.is_empty());
        let decoded = contract.decode(RawArguments::Text(value.to_string()), reading).unwrap();
        prop_assert_eq!(&decoded.arguments, &arguments);
        prop_assert!(decoded.repairs.is_empty());
    }

    #[test]
    fn normalising_accepts_what_checking_accepts_and_is_stable(
        contract in contract(), arguments in arguments()
    ) {
        let accepted = contract.check(&Value::Object(arguments.clone())).is_ok();
        match contract.normalise(arguments.clone()) {
            Ok(once) => {
                prop_assert!(contract.check(&Value::Object(once.arguments.clone())).is_ok());
                let again = contract.normalise(once.arguments.clone()).unwrap();
                prop_assert_eq!(again.arguments, once.arguments);
            }
            Err(problems) => {
                prop_assert!(!accepted);
                prop_assert!(!problems.shown.is_empty());
                for line in problems.model_text().lines() {
                    prop_assert!(line.chars().count() < 2_000, "{}", line);
                }
            }
        }
    }

    #[test]
    fn whatever_is_decoded_keeps_its_bounds_and_its_repairs_have_words(
        contract in contract(), text in nearly_json(), reading in reading()
    ) {
        match contract.decode(RawArguments::Text(text), reading) {
            Ok(decoded) => for repair in decoded.repairs {
                prop_assert!(!repair.to_string().contains('\n'));
            },
            Err(error) => prop_assert!(error.model_text().chars().count() < 500),
        }
    }

    #[test]
    fn a_cut_text_is_run_only_when_it_is_whole(arguments in arguments(), place in any::<prop::sample::Index>()) {
        let text = Value::Object(arguments).to_string();
        let end = (0..=place.index(text.len())).rev().find(|it| text.is_char_boundary(*it)).unwrap();
        prop_assume!(end > 0);
        let contract = Contract::foreign(json!({})).unwrap();
        for ending in [Ending::Cut, Ending::Unknown] {
            let reading = Reading { ending, ..Reading::default() };
            prop_assert!(contract.decode(text[..end].into(), reading).is_err());
        }
    }

    #[test]
    fn any_text_is_decoded_or_refused(text in ".{0,80}", reading in reading()) {
        let contract = Contract::foreign(json!({})).unwrap();
        let _ = contract.decode(RawArguments::Text(text), reading);
    }

    #[test]
    fn any_value_is_admitted_as_a_schema_or_refused(schema in value()) {
        if let Ok(contract) = Contract::foreign(schema) {
            prop_assert_eq!(&contract.schema()["type"], &json!("object"));
        }
    }

    #[test]
    fn an_admitted_schema_is_admitted_unchanged_again(contract in contract()) {
        let again = Contract::foreign((**contract.schema()).clone()).unwrap();
        prop_assert_eq!(again.digest(), contract.digest());
    }

    #[test]
    fn plain_words_and_the_validator_agree(schema in schema(), value in value()) {
        if let Ok(schema) = Schema::admit(schema) {
            prop_assert!(schema.is_plainly_right(&value));
        }
    }

    #[test]
    fn a_plain_schema_compiles(schema in schema()) {
        prop_assert!(!Schema::is_plain(&schema) || Schema::admit(schema).is_ok());
    }

    #[test]
    fn narrowing_never_accepts_more(
        contract in contract(), fixed in object_of(scalar()), arguments in arguments()
    ) {
        if let Ok(narrow) = contract.narrow(&fixed)
            && let Ok(normalised) = narrow.normalise(arguments)
        {
            prop_assert!(contract.check(&Value::Object(normalised.arguments.clone())).is_ok());
            for (name, value) in &fixed {
                // A whole number may have lost its point.
                let found = &normalised.arguments[name];
                prop_assert!(found == value || found.as_f64() == value.as_f64(), "{} {}", found, value);
            }
            let again = narrow.normalise(normalised.arguments.clone());
            prop_assert_eq!(again.map(|it| it.arguments), Ok(normalised.arguments));
        }
    }
}
