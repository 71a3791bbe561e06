//! What becomes of real schemas in each dialect.

use std::fmt::Write as _;

use haft_schema::Contract;
use haft_schema::dialect::{Dialect, Weight, choose_strict, lower, lower_together};
use serde_json::{Value, json};

use crate::mcp_tools::{least, tools};

/// Says what a dialect does not take of a schema, by the words of its provider.
fn faults(schema: &Value, dialect: Dialect, place: &str, faults: &mut Vec<String>) {
    let Some(object) = schema.as_object() else {
        return faults.push(format!("{place}: {schema} is no object"));
    };
    let mut say = |text: &str| faults.push(format!("{place}: {text}"));
    let is_strict = matches!(dialect, Dialect::OpenAiStrict | Dialect::AnthropicStrict);
    let has = |keyword: &str| object.contains_key(keyword);
    for keyword in [
        "oneOf",
        "allOf",
        "not",
        "if",
        "patternProperties",
        "prefixItems",
        "uniqueItems",
        "contains",
        "propertyNames",
        "default",
        "title",
        "$schema",
        "examples",
    ] {
        if has(keyword) {
            say(keyword);
        }
    }
    if !has("type") && !has("anyOf") && !has("$ref") {
        say("no type");
    }
    if has("properties") && has("anyOf") {
        say("anyOf beside properties");
    }
    let type_names = object.get("type").and_then(Value::as_array);
    if type_names.is_some() && !is_strict {
        say("several types");
    }
    if dialect == Dialect::Gemini
        && object.get("type").and_then(Value::as_str).is_some_and(|it| it != it.to_uppercase())
    {
        say("a type in small letters");
    }
    if dialect != Dialect::OpenAiStrict && has("$ref") {
        say("$ref");
    }
    let properties = object.get("properties").and_then(Value::as_object);
    if properties.is_some() {
        if dialect == Dialect::Gemini && has("additionalProperties") {
            say("additionalProperties");
        }
        if is_strict && object.get("additionalProperties") != Some(&json!(false)) {
            say("open");
        }
        let required = object.get("required").and_then(Value::as_array).map_or(0, Vec::len);
        if dialect == Dialect::OpenAiStrict
            && Some(required) != properties.map(serde_json::Map::len)
        {
            say("properties that may be left out");
        }
    }
    if has("items") || object.get("type").is_some_and(|it| it == "array" || it == "ARRAY") {
        self::faults(&schema["items"], dialect, &format!("{place}/items"), faults);
    }
    for (name, property) in properties.into_iter().flatten() {
        self::faults(property, dialect, &format!("{place}/{name}"), faults);
    }
    for branch in object.get("anyOf").and_then(Value::as_array).into_iter().flatten() {
        self::faults(branch, dialect, &format!("{place}/anyOf"), faults);
    }
}

const NARROW: [Dialect; 5] = [
    Dialect::OpenAiStrict,
    Dialect::AnthropicStrict,
    Dialect::Gemini,
    Dialect::LlamaCpp,
    Dialect::Common,
];

#[test]
fn every_foreign_tool_comes_out_as_each_narrow_dialect_takes_it() {
    let tools = tools();
    let mut report = String::new();
    for dialect in NARROW {
        let (mut lossless, mut changed) = (0, 0);
        for (server, tool) in &tools {
            let contract = Contract::foreign(tool["inputSchema"].clone()).unwrap();
            let lowered = lower(contract.schema(), dialect);
            let mut found = Vec::new();
            faults(&lowered.schema, dialect, "", &mut found);
            assert!(found.is_empty(), "{server} {}, {dialect:?}: {found:#?}", tool["name"]);
            lossless += usize::from(lowered.losses.is_empty());
            changed += usize::from(!lowered.inverse.is_identity());
        }
        let _ = writeln!(
            report,
            "{}: {lossless} lossless, {changed} with a way back",
            dialect.as_str()
        );
    }
    println!("{} tools\n{report}", tools.len());
}

#[test]
fn foreign_tools_need_no_way_back_from_wide_dialects_but_for_their_names() {
    for (server, tool) in tools() {
        let contract = Contract::foreign(tool["inputSchema"].clone()).unwrap();
        for dialect in Dialect::ALL.into_iter().filter(|it| !NARROW.contains(it)) {
            let lowered = lower(contract.schema(), dialect);
            if !lowered.inverse.is_identity() {
                assert_eq!(dialect, Dialect::Anthropic, "{server} {}", tool["name"]);
                continue;
            }
            let arguments = least(contract.schema(), contract.schema());
            let back = lowered.inverse.apply(arguments.clone()).unwrap();
            assert_eq!(back, arguments, "{server} {}", tool["name"]);
        }
    }
}

/// A schema with something of everything.
fn varied() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The file.", "pattern": "^[a-z]+$", "maxLength": 100},
            "limit": {"type": "integer", "minimum": 1, "maximum": 2000, "default": 500},
            "mode": {"enum": ["fast", 1, null]},
            "env": {"type": "object", "description": "Variables.", "additionalProperties": {"type": "string"}},
            "extra": {"description": "More."},
            "tree": {"$ref": "#/$defs/tree"},
            "at": {"oneOf": [
                {"type": "object", "properties": {"line": {"type": "integer"}}, "required": ["line"]},
                {"type": "string", "format": "date-time"},
            ]},
            "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": true, "maxItems": 3},
            "odd name": {"const": "x"},
        },
        "required": ["path", "mode"],
        "additionalProperties": false,
        "$defs": {"tree": {"type": "object", "properties": {
            "name": {"type": "string"},
            "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
        }, "required": ["name"], "additionalProperties": false}},
    })
}

#[test]
fn a_varied_schema_in_each_dialect() {
    for dialect in Dialect::ALL {
        let lowered = lower(&varied(), dialect);
        let mut text = serde_json::to_string_pretty(&lowered.schema).unwrap();
        text.push('\n');
        for loss in &lowered.losses {
            let _ = write!(text, "\n{}: {} {:?}", loss.pointer, loss.what, loss.kind);
        }
        insta::assert_snapshot!(dialect.as_str(), text);
    }
}

#[test]
fn what_a_model_says_comes_back_or_is_refused_with_its_place() {
    let inverse = lower(&varied(), Dialect::Common).inverse;
    let said = json!({
        "path": "a", "mode": "1", "env": [{"key": "A", "value": "b"}], "extra": "[1]", "odd_name": "x",
        "tree": {"name": "r", "children": ["{\"name\": \"c\"}"]}, "at": {"line": 3},
    });
    let back = json!({
        "path": "a", "mode": 1, "env": {"A": "b"}, "extra": [1], "odd name": "x",
        "tree": {"name": "r", "children": [{"name": "c"}]}, "at": {"line": 3},
    });
    assert_eq!(inverse.apply(said), Ok(back));
    let refused = |said: Value| inverse.apply(said).unwrap_err().to_string();
    assert_eq!(
        refused(json!({"env": [{"key": "A", "value": "b"}, {"key": "A", "value": "c"}]})),
        r#"/env/1/key: found the key "A" again, expected each key once"#
    );
    assert_eq!(
        refused(json!({"env": ["A=b"]})),
        r#"/env/0: found "A=b", expected a pair such as {"key": "a", "value": …}"#
    );
    assert_eq!(
        refused(json!({"tree": {"children": ["{"]}})),
        "/tree/children/0: found text that is no JSON (EOF while parsing an object at line 1 column 1), \
         expected JSON as a text"
    );
}

#[test]
fn alternatives_at_the_root_become_one_object() {
    let schema = json!({"type": "object", "oneOf": [
        {"properties": {"kind": {"const": "read"}, "path": {"type": "string"}}, "required": ["kind", "path"]},
        {"properties": {"kind": {"const": "list"}, "depth": {"type": "integer"}}, "required": ["kind"]},
    ]});
    let lowered = lower(&schema, Dialect::LlamaCpp).schema;
    assert_eq!(lowered["properties"]["kind"]["enum"], json!(["read", "list"]));
    assert_eq!(lowered["required"], json!(["kind"]));
    assert_eq!(lowered["description"], "one of these sets of properties: kind, path | kind");
}

#[test]
fn as_many_tools_are_strict_as_a_provider_allows_the_first_ones_first() {
    let optional = |optional| Weight { optional, ..Weight::default() };
    let weights = [optional(20), optional(10), optional(4), optional(1)];
    assert_eq!(choose_strict(Dialect::AnthropicStrict, &weights), [true, false, true, false]);
    let many = vec![Weight::default(); 22];
    let strict = choose_strict(Dialect::AnthropicStrict, &many);
    assert_eq!(strict.iter().filter(|it| **it).count(), 20);
    assert_eq!(choose_strict(Dialect::OpenAiStrict, &weights), [true; 4]);
    assert_eq!(choose_strict(Dialect::Loose, &weights), [false; 4]);
}

#[test]
fn what_a_provider_has_no_strict_room_for_is_told_loosely() {
    let small = json!({"type": "object", "properties": {"a": {"type": "string", "default": "x"}}});
    let wide: serde_json::Map<_, _> =
        (0..30).map(|at| (format!("p{at}"), json!({"type": "string", "default": "x"}))).collect();
    let wide = json!({"type": "object", "properties": wide});
    let told = lower_together([&small, &wide, &small], Dialect::AnthropicStrict);
    let strict: Vec<bool> = told.iter().map(|it| it.is_strict).collect();
    assert_eq!(strict, [true, false, true]);
    assert_eq!(told[0].schema["additionalProperties"], false);
    assert_eq!(told[1].schema["properties"]["p0"]["default"], "x");
    assert!(lower_together([&small], Dialect::Common).iter().all(|it| !it.is_strict));
    for dialect in Dialect::ALL {
        assert_eq!(dialect.strict().map_or(dialect, Dialect::loose), dialect.loose());
    }
}
