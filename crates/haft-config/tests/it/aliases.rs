//! Tools with some arguments fixed.

use serde_json::json;

use crate::files::{Files, dropped};

const ALIASES: &str = r#"
[aliases.changes]
tool = "reader"
arguments = { action = "read", path = "CHANGELOG.md", limit = 50, deep = { a = [1.5, true] } }
description = "Reads the changelog."

[aliases."team/anything"]
tool = "search"
"#;

#[test]
fn a_tool_is_named_with_the_arguments_that_are_fixed() {
    let config = Files::user(ALIASES).load().unwrap();
    let names: Vec<_> = config.aliases.keys().map(ToString::to_string).collect();
    assert_eq!(names, ["local/changes", "team/anything"]);
    let [changes, anything] = &config.aliases.values().collect::<Vec<_>>()[..] else { panic!() };
    assert_eq!(changes.tool, "reader");
    let fixed = json!({
        "action": "read", "path": "CHANGELOG.md", "limit": 50, "deep": { "a": [1.5, true] },
    });
    assert_eq!(json!(changes.arguments), fixed);
    assert_eq!(changes.description.as_deref(), Some("Reads the changelog."));
    assert_eq!(changes.origin.line, Some(2));
    assert_eq!((anything.arguments.len(), &anything.description), (0, &None));
}

#[test]
fn a_project_that_nobody_trusts_has_no_say_in_what_tools_are_called() {
    let config = Files::project(ALIASES).load().unwrap();
    assert!(config.aliases.is_empty());
    insta::assert_snapshot!(dropped(&config), @r"
    .haft/config.toml:2: not followed until you trust this file with `haft trust`: show `reader` as `local/changes`
    .haft/config.toml:7: not followed until you trust this file with `haft trust`: show `search` as `team/anything`
    ");
}

#[test]
fn a_slip_is_told_with_what_would_be_right() {
    let wrong = [
        ("[aliases.x]\narguments = {}", "a table with `tool`"),
        ("[aliases.x]\ntool = \"\"", "not empty"),
        ("[aliases.x]\ntool = \"reader\"\nargument = {}", "did you mean `arguments`"),
        ("[aliases.x]\ntool = \"reader\"\narguments = 1", "a table"),
        ("[aliases.x]\ntool = \"reader\"\narguments = { a = 2026-11-30 }", "what JSON can say"),
        ("[aliases.x]\ntool = \"reader\"\narguments = { a = inf }", "what JSON can say"),
        ("[aliases.\"a b\"]\ntool = \"reader\"", "is not a name"),
        ("[aliases.\"builtin/reader\"]\ntool = \"reader\"", "is reserved"),
        ("aliases = 1", "a table"),
    ];
    for (text, expected) in wrong {
        let error = Files::user(text).load().unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
    let many = (0..101).map(|at| format!("[aliases.a{at}]\ntool = \"reader\"\n"));
    let error = Files::user(many.collect::<String>()).load().unwrap_err().to_string();
    assert!(error.contains("aliases"), "{error}");
}
