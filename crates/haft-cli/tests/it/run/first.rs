//! The tool that a model has to call first, and tools with fixed arguments.

use serde_json::json;

use super::working::with;
use crate::rig::{Rig, Says, Scripted};

/// A tool that is the reader of one file.
const NOTES: &str = "\n[aliases.read_notes]\ntool = \"reader\"\n\
                     arguments = { action = \"read\", path = \"src/a.txt\" }\n\
                     description = \"Reads the notes.\"\n";

fn with_notes(script: impl IntoIterator<Item = Says>) -> (Rig, Scripted) {
    let (rig, server) = with(script);
    rig.config(&(server.config() + NOTES));
    (rig, server)
}

#[test]
fn the_first_request_of_each_message_demands_the_tool_and_later_ones_are_free() {
    let look =
        || Says::Calls("", vec![("reader", json!({ "action": "read", "path": "README.md" }))]);
    let (rig, server) =
        with([look(), look(), Says::Text(&["One."]), look(), Says::Text(&["Yes."])]);
    let ran = rig.haft(&["run", "--call-first", "reader", "what is left to do?"]);
    assert_eq!((ran.exit, &*ran.stdout), (0, "One.\n"), "{}", ran.all());
    let ran = rig.haft(&["run", "--continue", "--call-first", "reader", "are you sure?"]);
    assert_eq!((ran.exit, &*ran.stdout), (0, "Yes.\n"), "{}", ran.all());
    let demanded = json!({ "type": "function", "function": { "name": "reader" } });
    let choices: Vec<_> = server.asked().iter().map(|it| it["tool_choice"].clone()).collect();
    assert_eq!(choices, [demanded.clone(), json!(null), json!(null), demanded, json!(null)]);
    // One call is demanded, and not several.
    assert_eq!(server.asked()[0]["parallel_tool_calls"], false);
    assert_eq!(server.asked()[1]["parallel_tool_calls"], true);
}

#[test]
fn a_request_that_got_no_reply_demands_the_tool_again() {
    let (rig, server) = with([
        Says::Refuses(503, "busy"),
        Says::Calls("", vec![("reader", json!({ "action": "read", "path": "README.md" }))]),
        Says::Text(&["One."]),
    ]);
    let ran = rig.haft(&["run", "--call-first", "reader", "what is left to do?"]);
    assert_eq!(ran.exit, 0, "{}", ran.all());
    let asked = server.asked();
    assert_eq!(asked[0]["tool_choice"], asked[1]["tool_choice"]);
    assert!(asked[1]["tool_choice"].is_object() && asked[2]["tool_choice"].is_null());
}

#[test]
fn a_tool_that_cannot_be_demanded_is_refused_before_anything_is_sent() {
    let (rig, server) = with([]);
    let refused = |args: &[&str]| {
        let ran = rig.haft(&[&["run"][..], args, &["look"]].concat());
        assert_eq!(ran.exit, 2, "{}", ran.all());
        ran.stderr
    };
    insta::assert_snapshot!(refused(&["--call-first", "red"]), @r"
    error: --call-first: there is no tool `red`; nearest: reader
    hint: `haft tools` lists them
    ");
    insta::assert_snapshot!(refused(&["--tools", "search", "--call-first", "reader"]), @r"
    error: --call-first: `reader` is not among the tools of `--tools`
    ");
    let own = server.config().replace("[models.box]", "[models.box]\nprovider = \"ollama\"");
    rig.config(&own);
    let said = refused(&["--call-first", "reader"]);
    let said = said.split_once("\nerror: ").unwrap().1;
    insta::assert_snapshot!(said, @r"
    `box/scripted` cannot be made to call a tool first
    hint: leave `--call-first` out, and say in the task what to look at
    ");
    assert!(server.asked().is_empty());
}

#[test]
fn an_alias_of_the_configuration_is_a_tool_with_fixed_arguments() {
    let (rig, server) = with_notes([
        Says::Calls("", vec![("read_notes", json!({ "limit": 2 }))]),
        Says::Text(&["One, two."]),
    ]);
    let ran = rig.haft(&["run", "--tools", "read_notes", "what do they say?"]);
    assert_eq!((ran.exit, &*ran.stdout), (0, "One, two.\n"), "{}", ran.all());
    assert!(ran.stderr.contains("> read_notes limit=2"), "{}", ran.stderr);
    let asked = server.asked();
    let tool = &asked[0]["tools"][0]["function"];
    assert_eq!(
        (&tool["name"], &tool["description"]),
        (&json!("read_notes"), &json!("Reads the notes."))
    );
    let parameters = tool["parameters"]["properties"].as_object().unwrap();
    assert!(parameters.contains_key("limit") && !parameters.contains_key("path"), "{parameters:?}");
    assert!(asked[1]["messages"].to_string().contains("two"), "{}", asked[1]);

    // It is one wherever tools are, whatever shape the others have, and rules about the tool behind it hold.
    let called = rig.json(&["--toolset", "verbs", "call", "read_notes", "{}"]);
    assert_eq!(called["ok"], true, "{called}");
    let explained = rig.haft(&["config", "explain", "aliases"]).stdout;
    assert!(explained.contains("aliases.read_notes = { tool = \"reader\""), "{explained}");
    rig.project("[[rules]]\ndecision = \"deny\"\ntool = \"reader\"\n");
    assert_eq!(rig.haft(&["call", "read_notes", "{}"]).exit, 3);
}

#[test]
fn an_alias_that_cannot_be_shown_is_told_with_its_place() {
    let (rig, server) = with([]);
    let told = |alias: &str| {
        rig.config(&(server.config() + alias));
        let ran = rig.haft(&["tools"]);
        assert_eq!(ran.exit, 2, "{}", ran.all());
        ran.stderr.replace(rig.folder().to_str().unwrap(), "RIG")
    };
    insta::assert_snapshot!(told("[aliases.notes]\ntool = \"raeder\"\n"), @r"
    error: RIG/config/config.toml:8: the alias `local/notes` cannot be shown: there is no tool `raeder`; nearest: reader
    ");
    let slip = "[aliases.notes]\ntool = \"reader\"\narguments = { acton = \"read\" }\n";
    insta::assert_snapshot!(told(slip), @r#"
    error: RIG/config/config.toml:8: the alias `local/notes` cannot be shown: the schema of tool `local/notes` cannot be used: the contract has no argument `acton` to fix; it has "action", "path", "offset", "column", "limit", "recursive", "depth", "kinds", "include", "include_ignored"
    "#);
}
