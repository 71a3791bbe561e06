//! Contracts from internally tagged enums.

use haft_schema::Contract;
use insta::assert_snapshot;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{normal, problems, shown};

/// Looks at files.
#[derive(JsonSchema, Serialize, Deserialize, Debug, PartialEq)]
#[serde(tag = "action", rename_all = "snake_case")]
enum Look {
    /// Searches text
    /// in files.
    Grep {
        /// The pattern.
        pattern: String,
        /// The folder to search.
        path: Option<String>,
        /// Lines to show.
        #[serde(default = "few")]
        limit: u32,
        mode: Option<Mode>,
    },
    /// Finds files by name.
    Find(Find),
    /// Shows a folder.
    Tree {
        /// The folder to show.
        path: String,
        depth: u8,
        mode: String,
    },
    Stop,
}

#[derive(JsonSchema, Serialize, Deserialize, Debug, PartialEq)]
struct Find {
    /// The pattern of names.
    glob: String,
    /// The folder to search.
    path: String,
    /// Lines to show.
    #[serde(default = "many")]
    limit: u32,
}

#[derive(JsonSchema, Serialize, Deserialize, Debug, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Fast,
    Full,
}

fn few() -> u32 {
    10
}

fn many() -> u32 {
    100
}

fn look() -> Contract {
    Contract::of::<Look>().unwrap()
}

#[test]
fn the_advertised_schema_is_one_flat_object() {
    assert_snapshot!(shown(&look()), @r#"
    {
      "type": "object",
      "description": "Looks at files.",
      "properties": {
        "action": {
          "type": "string",
          "description": "- `grep`: Searches text in files.\n- `find`: Finds files by name.\n- `tree`: Shows a folder.\n- `stop`",
          "enum": [
            "grep",
            "find",
            "tree",
            "stop"
          ]
        },
        "pattern": {
          "type": "string",
          "description": "Only for `grep`, required there. The pattern."
        },
        "path": {
          "type": "string",
          "description": "Required for `find`, `tree`. For `grep`, `find`: The folder to search. For `tree`: The folder to show."
        },
        "limit": {
          "type": "integer",
          "minimum": 0,
          "maximum": 4294967295,
          "description": "Only for `grep`, `find`. Lines to show. Default: 10 for `grep`, 100 for `find`."
        },
        "mode": {
          "anyOf": [
            {
              "type": "string",
              "enum": [
                "fast",
                "full"
              ],
              "description": "For `grep`."
            },
            {
              "type": "string",
              "description": "For `tree`."
            }
          ],
          "description": "Required for `tree`."
        },
        "glob": {
          "type": "string",
          "description": "Only for `find`, required there. The pattern of names."
        },
        "depth": {
          "type": "integer",
          "minimum": 0,
          "maximum": 255,
          "description": "Only for `tree`, required there."
        }
      },
      "required": [
        "action"
      ],
      "additionalProperties": false
    }
    "#);
}

#[test]
fn only_what_every_action_demands_is_required() {
    assert_eq!(look().required().collect::<Vec<_>>(), ["action"]);
    let look = look();
    let tag = look.tag().unwrap();
    assert_eq!(tag.key(), "action");
    assert_eq!(tag.values(), ["grep", "find", "tree", "stop"]);
}

#[test]
fn each_action_gets_its_own_defaults() {
    let look = look();
    assert_eq!(
        normal(&look, json!({"action": "grep", "pattern": "x"})),
        json!({"action": "grep", "pattern": "x", "limit": 10})
    );
    let find = normal(&look, json!({"action": "find", "glob": "*", "path": "."}));
    assert_eq!(find["limit"], 100);
    let typed: Look = serde_json::from_value(find).unwrap();
    assert_eq!(typed, Look::Find(Find { glob: "*".into(), path: ".".into(), limit: 100 }));
    normal(&look, json!({"action": "stop"}));
}

#[test]
fn problems_speak_of_the_action_that_was_meant() {
    let look = look();
    assert_snapshot!(problems(&look, json!({"pattern": "x"})), @r#"/action: missing, expected one of "grep", "find", "tree", "stop""#);
    assert_snapshot!(problems(&look, json!({"action": "gerp", "pattern": "x"})), @r#"/action: unknown action "gerp"; did you mean "grep"? one of "grep", "find", "tree", "stop""#);
    assert_snapshot!(problems(&look, json!({"action": 7})), @r#"/action: unknown action 7; one of "grep", "find", "tree", "stop""#);
    assert_snapshot!(problems(&look, json!({"action": "grep", "glob": "*", "patern": "x"})), @r#"
    /patern: unknown key; did you mean "pattern"? known keys: "action", "pattern", "path", "limit", "mode"
    /glob: not used by action "grep"; used by "find"
    /pattern: missing, expected a string
    "#);
    assert_snapshot!(problems(&look, json!({"action": "tree", "path": ".", "depth": 300, "mode": "fast"})), @"/depth: found 300, expected an integer from 0 to 255");
}

#[test]
fn a_branch_is_the_exact_contract_of_its_action() {
    let find = look().branch("find").unwrap();
    assert_snapshot!(shown(&find), @r#"
    {
      "type": "object",
      "description": "Finds files by name.",
      "properties": {
        "action": {
          "type": "string",
          "const": "find"
        },
        "glob": {
          "type": "string",
          "description": "The pattern of names."
        },
        "path": {
          "type": "string",
          "description": "The folder to search."
        },
        "limit": {
          "type": "integer",
          "description": "Lines to show.",
          "default": 100,
          "minimum": 0,
          "maximum": 4294967295
        }
      },
      "required": [
        "action",
        "glob",
        "path"
      ],
      "additionalProperties": false
    }
    "#);
    assert!(look().branch("nope").is_none());
    assert!(find.tag().is_none());
}

#[test]
fn contracts_that_advertise_alike_and_check_differently_have_different_digests() {
    #[derive(JsonSchema)]
    #[serde(tag = "a")]
    #[expect(dead_code, reason = "only the schema is of interest")]
    enum One {
        X { p: u8 },
        Y { q: Option<u8> },
    }
    #[derive(JsonSchema)]
    #[serde(tag = "a")]
    #[expect(dead_code, reason = "only the schema is of interest")]
    enum Same {
        X { p: u8 },
        Y { q: Option<u8> },
    }
    assert_eq!(Contract::of::<One>().unwrap(), Contract::of::<Same>().unwrap());
    assert_ne!(Contract::of::<One>().unwrap(), look());
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only the schema is of interest")]
struct Common {
    /// The folder.
    root: String,
    #[serde(flatten)]
    what: Inner,
}

#[derive(JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[expect(dead_code, reason = "only the schema is of interest")]
enum Inner {
    /// One.
    A { x: u8 },
    /// Two.
    B { y: u8 },
}

#[test]
fn fields_beside_a_flattened_enum_belong_to_every_action() {
    let contract = Contract::of::<Common>().unwrap();
    assert_eq!(contract.required().collect::<Vec<_>>(), ["kind", "root"]);
    normal(&contract, json!({"root": ".", "kind": "a", "x": 1}));
    assert_snapshot!(problems(&contract, json!({"kind": "a", "y": 1})), @r#"
    /y: not used by kind "a"; used by "b"
    /root: missing, expected a string
    /x: missing, expected an integer from 0 to 255
    "#);
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only the schema is of interest")]
struct Nested {
    step: Inner,
}

#[test]
fn problems_inside_nested_tagged_enums_are_exact_too() {
    let contract = Contract::of::<Nested>().unwrap();
    assert_snapshot!(problems(&contract, json!({"step": {"kind": "a", "x": -1}})), @"/step/x: found -1, expected an integer from 0 to 255");
    assert_snapshot!(problems(&contract, json!({"step": {"kind": "c"}})), @r#"/step/kind: found "c", expected "a" or "b""#);
    assert_snapshot!(problems(&contract, json!({"step": {"x": 1}})), @r#"/step/kind: missing, expected "a" or "b""#);
    assert_snapshot!(problems(&contract, json!({"step": "a"})), @r#"/step: found "a", expected an object with "kind", "x" or an object with "kind", "y""#);
}

#[derive(JsonSchema)]
#[serde(tag = "kind")]
#[expect(dead_code, reason = "only the schema is of interest")]
enum Opaque {
    Either(Untagged),
}

#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only the schema is of interest")]
enum Untagged {
    A { a: u8 },
    B { b: u8 },
}

#[test]
fn variants_without_a_plain_list_of_keys_are_refused() {
    assert_snapshot!(Contract::of::<Opaque>().unwrap_err(), @"the variant `Either` of a tagged enum has no plain list of keys");
}
