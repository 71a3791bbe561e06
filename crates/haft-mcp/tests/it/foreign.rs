//! Tools with schemas and names that other servers gave them, on their way through ours.
//!
//! Our own list holds what is hard about them. `HAFT_SHARED` names a folder with the lists of real servers in
//! `cases/mcp-tools/*.json`; beside the workspace it is found by itself.

#![expect(clippy::disallowed_methods, reason = "a test reads its own material")]
#![expect(clippy::print_stdout, reason = "what is skipped is said")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use haft_protocol::QualifiedName;
use haft_schema::Contract;
use haft_testkit::Era;
use haft_tool::{FunctionTool, OnConflict, Output};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::rig::House;

const OURS: &str = include_str!("foreign/tools.json");

/// Returns the lists of servers, each with its name.
fn lists() -> Vec<(String, Value)> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = std::env::var_os("HAFT_SHARED").map_or(beside, PathBuf::from);
    let mut lists = vec![("ours".to_owned(), serde_json::from_str(OURS).unwrap())];
    let folder = shared.join("cases/mcp-tools");
    match std::fs::read_dir(&folder) {
        Err(_) => println!("skipped: no lists of real servers at {}", folder.display()),
        Ok(entries) => {
            for entry in entries {
                let file = entry.unwrap().path();
                let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
                let text = std::fs::read_to_string(&file).unwrap();
                lists.push((name, serde_json::from_str(&text).unwrap()));
            }
        }
    }
    lists.sort_by(|one, other| one.0.cmp(&other.0));
    lists
}

/// Serves everything and returns what a client is told of each tool, by its qualified name.
async fn served(lists: &[(String, Value)]) -> (House, BTreeMap<String, Value>) {
    let house = House::of([]);
    for (server, list) in lists {
        for tool in list["tools"].as_array().unwrap() {
            let name = tool["name"].as_str().unwrap();
            // A qualified name has no dots.
            let name = format!("{server}:tools/{}", name.replace('.', "_"));
            let name: QualifiedName =
                name.parse().unwrap_or_else(|error| panic!("{name}: {error}"));
            let description = tool["description"].as_str().unwrap_or("Says nothing of itself.");
            let made = FunctionTool::new(name.clone(), description, tool["inputSchema"].clone());
            let made = made.unwrap_or_else(|error| panic!("{name}: {error:?}"));
            let output = tool.get("outputSchema").map(|output| {
                Contract::foreign(output.clone())
                    .unwrap_or_else(|error| panic!("{name}: {error:?}"))
            });
            let made = made.facts(|facts| facts.output(output));
            let body =
                |_, _| async { Output::text("done").with_structured(&json!({ "rows": [] })) };
            let made = made.body(body).unwrap();
            house.registry.register_tool(made, OnConflict::Reject).unwrap();
        }
    }
    let mut client = house.client(Era::Stateless).await;
    let (mut tools, mut cursor) = (BTreeMap::new(), json!({}));
    loop {
        let page = client.request("tools/list", cursor).await;
        for tool in page["tools"].as_array().unwrap() {
            let wire = tool["name"].as_str().unwrap();
            let snapshot = house.registry.snapshot();
            let registered = snapshot.find(wire).unwrap_or_else(|| panic!("{wire} leads nowhere"));
            assert_eq!(registered.wire.as_str(), wire);
            let before = tools.insert(registered.descriptor.name().to_string(), tool.clone());
            assert_eq!(before, None, "{wire} is listed twice");
        }
        match page.get("nextCursor") {
            None => break,
            Some(next) => cursor = json!({ "cursor": next }),
        }
    }
    (house, tools)
}

#[tokio::test]
async fn every_foreign_tool_is_served_under_a_name_of_its_own_with_its_schema() {
    let lists = lists();
    let (house, tools) = served(&lists).await;
    let mut count = 0;
    for (server, list) in &lists {
        for tool in list["tools"].as_array().unwrap() {
            let name =
                format!("{server}:tools/{}", tool["name"].as_str().unwrap().replace('.', "_"));
            let served = &tools[&name];
            let wire = served["name"].as_str().unwrap();
            let fits =
                wire.len() <= 64 && wire.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
            assert!(fits, "{name}: {wire}");
            for (key, kind) in [("inputSchema", "input"), ("outputSchema", "output")] {
                let given = tool.get(key).map(|it| Contract::foreign(it.clone()).unwrap());
                let given = given.as_ref().map(|it| &**it.schema());
                assert_eq!(served.get(key), given, "{name}: {kind}");
            }
            count += 1;
        }
    }
    assert_eq!(tools.len(), count);
    println!("{count} tools of {} lists", lists.len());
    drop(house);
}

#[tokio::test]
async fn names_that_differ_by_a_mark_or_a_case_stay_apart() {
    let lists = [("ours".to_owned(), serde_json::from_str(OURS).unwrap())];
    let (_, tools) = served(&lists).await;
    let names =
        tools.iter().map(|(name, tool)| format!("{} {name}", tool["name"].as_str().unwrap()));
    assert_snapshot!(names.collect::<Vec<_>>().join("\n"), @"
    ours__tools__API_query_rows ours:tools/API-query-rows
    ours__tools__Nothing ours:tools/Nothing
    ours__tools__a_name_that_is_so_long_that_it_just_fits_i_cf6df808 ours:tools/a_name_that_is_so_long_that_it_just_fits_in_what_is_allowed_here
    ours__tools__deeply_nested ours:tools/deeply_nested
    ours__tools__nothing ours:tools/nothing
    ours__tools__nothing_closed ours:tools/nothing-closed
    ours__tools__plan_trip ours:tools/plan-trip
    ours__tools__send_invite ours:tools/send_invite
    ours__tools__set_env ours:tools/set_env
    ");
}

#[tokio::test]
async fn arguments_are_checked_by_the_foreign_schema() {
    let lists = [("ours".to_owned(), serde_json::from_str(OURS).unwrap())];
    let (house, _) = served(&lists).await;
    let mut client = house.client(Era::Stateless).await;
    let mut said = Vec::new();
    for (tool, arguments) in [
        (
            "ours:tools/plan-trip",
            json!({ "start": { "label": "here", "near": { "label": "there" } } }),
        ),
        ("ours:tools/plan-trip", json!({ "start": { "label": "here", "near": { "label": "" } } })),
        (
            "ours:tools/API-query-rows",
            json!({ "filter": { "kind": "all", "of": [{ "kind": "is", "field": "a" }] } }),
        ),
        (
            "ours:tools/API-query-rows",
            json!({ "filter": { "kind": "all", "of": [{ "kind": "was" }] } }),
        ),
        (
            "ours:tools/send_invite",
            json!({ "to": "ada@example.org", "at": "2026-11-30T12:00:00Z" }),
        ),
        ("ours:tools/set_env", json!({ "env": { "PATH": "/bin" }, "mode": "merge" })),
        ("ours:tools/set_env", json!({ "env": { "path": "/bin" } })),
        ("ours:tools/nothing-closed", json!({})),
        ("ours:tools/deeply_nested", json!({ "by": "size" })),
    ] {
        let result = client.call(tool, arguments).await;
        said.push(format!("{tool}: {}", result["content"][0]["text"].as_str().unwrap()));
    }
    assert_snapshot!(said.join("\n"), @r#"
    ours:tools/plan-trip: done
    ours:tools/plan-trip: failed (invalid_arguments): /start/near/label: found "", expected a string of at least 1 character
    ours:tools/API-query-rows: done
    ours:tools/API-query-rows: failed (invalid_arguments): /filter/of/0/kind: found "was", expected "is", "all" or "not"
    ours:tools/send_invite: done
    ours:tools/set_env: done
    ours:tools/set_env: failed (invalid_arguments): /env: found an object of 1 key, expected a value that satisfies `propertyNames`
    ours:tools/nothing-closed: done
    ours:tools/deeply_nested: failed (invalid_arguments): /a: missing, expected a value
    "#);
}
