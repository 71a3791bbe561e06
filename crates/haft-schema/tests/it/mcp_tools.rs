//! The tools of real MCP servers, where a copy of their definitions is at hand.
//!
//! `HAFT_SHARED` names the folder that holds `cases/mcp-tools/*.json`; beside the workspace it is found by itself.

use std::path::{Path, PathBuf};

use haft_protocol::RawArguments;
use haft_schema::{Contract, Reading};
use serde_json::{Map, Value};

/// Returns (server, tool) for every definition.
pub(crate) fn tools() -> Vec<(String, Value)> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = std::env::var_os("HAFT_SHARED").map_or(beside, PathBuf::from);
    let folder = shared.join("cases/mcp-tools");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!("skipped: no definitions at {}", folder.display());
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|it| it == "json"));
    files.sort();
    let mut tools = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let server: Value = serde_json::from_str(&text).unwrap();
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let listed = server["tools"].as_array().expect("a server lists its tools");
        tools.extend(listed.iter().map(|tool| (name.clone(), tool.clone())));
    }
    tools
}

/// Makes the least that a schema may accept: required keys with a value of the right type.
pub(crate) fn least(schema: &Value, root: &Value) -> Value {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let target = root.pointer(reference.trim_start_matches('#')).unwrap();
        return least(target, root);
    }
    if let Some(value) = schema.get("const").or(schema.pointer("/enum/0")) {
        return value.clone();
    }
    for union in ["anyOf", "oneOf"] {
        if let Some(first) = schema.pointer(&format!("/{union}/0")) {
            return least(first, root);
        }
    }
    let items = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
    let kind = schema.get("type").map(|kind| kind.get(0).unwrap_or(kind));
    match kind.and_then(Value::as_str).unwrap_or("object") {
        "string" => {
            "x".repeat(schema.get("minLength").and_then(Value::as_u64).unwrap_or(1) as usize).into()
        }
        "integer" | "number" => {
            let above = schema.get("exclusiveMinimum").and_then(Value::as_i64).map(|it| it + 1);
            above.or(schema.get("minimum").and_then(Value::as_i64)).unwrap_or(1).into()
        }
        "boolean" => true.into(),
        "null" => Value::Null,
        "array" => (0..items).map(|_| least(&schema["items"], root)).collect(),
        _ => {
            let required = schema.get("required").and_then(Value::as_array).cloned();
            let keys = required.unwrap_or_default();
            let fields = keys
                .iter()
                .filter_map(Value::as_str)
                .map(|key| (key.to_owned(), least(&schema["properties"][key], root)));
            Value::Object(fields.collect())
        }
    }
}

#[test]
fn every_definition_is_admitted() {
    let tools = tools();
    let mut outputs = 0;
    for (server, tool) in &tools {
        let contract = Contract::foreign(tool["inputSchema"].clone());
        assert!(contract.is_ok(), "{server} {}: {contract:?}", tool["name"]);
        if let Some(output) = tool.get("outputSchema") {
            let contract = Contract::foreign(output.clone());
            assert!(contract.is_ok(), "{server} {}: {contract:?}", tool["name"]);
            outputs += 1;
        }
    }
    println!("{} tools, {outputs} with an output schema", tools.len());
}

#[test]
fn the_least_arguments_pass_unrepaired_and_stay_the_same_when_checked_again() {
    for (server, tool) in tools() {
        let contract = Contract::foreign(tool["inputSchema"].clone()).unwrap();
        let arguments = least(contract.schema(), contract.schema());
        let decoded = contract.decode(arguments.clone().into(), Reading::default()).unwrap();
        assert_eq!(decoded.repairs, [], "{server} {}", tool["name"]);
        let once = match contract.normalise(decoded.arguments) {
            Ok(normalised) => normalised.arguments,
            Err(problems) => panic!("{server} {}: {arguments}\n{problems}", tool["name"]),
        };
        let again = contract.normalise(once.clone()).unwrap();
        assert_eq!((again.arguments, again.defaults), (once, vec![]), "{server} {}", tool["name"]);
    }
}

#[test]
fn arguments_sent_as_texts_are_repaired() {
    let mut repaired = 0;
    for (server, tool) in tools() {
        let contract = Contract::foreign(tool["inputSchema"].clone()).unwrap();
        let Value::Object(arguments) = least(contract.schema(), contract.schema()) else {
            continue;
        };
        let texts: Map<String, Value> = arguments
            .iter()
            .map(|(key, value)| match value {
                Value::String(_) => (key.clone(), value.clone()),
                other => (key.clone(), Value::String(other.to_string())),
            })
            .collect();
        if contract.normalise(texts.clone()).is_ok() {
            continue;
        }
        let raw = RawArguments::Json(Value::Object(texts));
        let decoded = contract.decode(raw, Reading::default()).unwrap();
        repaired += decoded.repairs.len();
        let found = contract.normalise(decoded.arguments).map(|it| it.arguments);
        assert!(found.is_ok(), "{server} {}: {found:?}", tool["name"]);
    }
    println!("{repaired} values were repaired");
}
