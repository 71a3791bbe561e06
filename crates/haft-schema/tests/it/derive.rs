//! Contracts from Rust types.

use std::collections::BTreeMap;

use haft_schema::Contract;
use insta::assert_snapshot;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{normal, problems, shown};

/// Searches files for a pattern,
/// line by line.
///
/// Modes:
/// - count only
/// - list everything
#[derive(JsonSchema, Serialize, Deserialize)]
struct Search {
    /// The pattern, in the syntax of
    /// the regex crate.
    pattern: String,
    /// Where to look.
    path: Option<String>,
    #[serde(default = "limit")]
    #[schemars(range(min = 1, max = 2000))]
    limit: u32,
    #[serde(default)]
    case_sensitive: bool,
    /// What to show.
    #[serde(default)]
    show: Show,
    around: Option<Around>,
}

fn limit() -> u32 {
    200
}

#[derive(JsonSchema, Serialize, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
enum Show {
    /// Each line
    /// that matches.
    #[default]
    Lines,
    /// Only how many.
    Count,
}

#[derive(JsonSchema, Serialize, Deserialize)]
struct Around {
    /// Lines before.
    before: u8,
    after: Option<u8>,
}

#[test]
fn a_struct_reads_as_its_author_wrote_it() {
    assert_snapshot!(shown(&Contract::of::<Search>().unwrap()), @r#"
    {
      "type": "object",
      "description": "Searches files for a pattern, line by line.\n\nModes:\n- count only\n- list everything",
      "properties": {
        "pattern": {
          "type": "string",
          "description": "The pattern, in the syntax of the regex crate."
        },
        "path": {
          "type": "string",
          "description": "Where to look."
        },
        "limit": {
          "type": "integer",
          "default": 200,
          "minimum": 1,
          "maximum": 2000
        },
        "case_sensitive": {
          "type": "boolean",
          "default": false
        },
        "show": {
          "type": "string",
          "description": "What to show.\n\n- `lines`: Each line that matches.\n- `count`: Only how many.",
          "enum": [
            "lines",
            "count"
          ],
          "default": "lines"
        },
        "around": {
          "type": "object",
          "properties": {
            "before": {
              "type": "integer",
              "description": "Lines before.",
              "minimum": 0,
              "maximum": 255
            },
            "after": {
              "type": "integer",
              "minimum": 0,
              "maximum": 255
            }
          },
          "required": [
            "before"
          ],
          "additionalProperties": false
        }
      },
      "required": [
        "pattern"
      ],
      "additionalProperties": false
    }
    "#);
}

#[test]
fn optional_fields_and_fields_with_defaults_are_not_required() {
    let contract = Contract::of::<Search>().unwrap();
    assert_eq!(contract.required().collect::<Vec<_>>(), ["pattern"]);
    assert_eq!(
        normal(&contract, json!({"pattern": "x"})),
        json!({"pattern": "x", "limit": 200, "case_sensitive": false, "show": "lines"})
    );
}

#[test]
fn what_is_accepted_is_what_the_type_reads() {
    let contract = Contract::of::<Search>().unwrap();
    let arguments = json!({"pattern": "x", "limit": 5.0, "around": {"before": 2}});
    let search: Search = serde_json::from_value(normal(&contract, arguments)).unwrap();
    assert_eq!(search.limit, 5);
    for refused in [
        json!({"pattern": "x", "around": {"before": 256}}),
        json!({"pattern": "x", "limit": 0}),
        json!({"pattern": "x", "path": null}),
        json!({"pattern": "x", "extra": 1}),
        json!({"pattern": "x", "around": {"before": 1, "extra": 1}}),
    ] {
        problems(&contract, refused);
    }
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only the schema is of interest")]
struct Everything {
    map: BTreeMap<String, i8>,
    anything: Value,
    nullable_items: Vec<Option<String>>,
    pair: (u16, String),
    either: Either,
    external: External,
    single: f32,
    big: u64,
}

#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only the schema is of interest")]
enum Either {
    One(String),
    Many(Vec<String>),
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "only the schema is of interest")]
enum External {
    Plain,
    Wrapped { depth: u8 },
}

#[test]
fn every_kind_of_field_has_a_form() {
    assert_snapshot!(shown(&Contract::of::<Everything>().unwrap()), @r#"
    {
      "type": "object",
      "properties": {
        "map": {
          "type": "object",
          "additionalProperties": {
            "type": "integer",
            "minimum": -128,
            "maximum": 127
          }
        },
        "anything": true,
        "nullable_items": {
          "type": "array",
          "items": {
            "type": [
              "string",
              "null"
            ]
          }
        },
        "pair": {
          "type": "array",
          "prefixItems": [
            {
              "type": "integer",
              "minimum": 0,
              "maximum": 65535
            },
            {
              "type": "string"
            }
          ],
          "minItems": 2,
          "maxItems": 2
        },
        "either": {
          "anyOf": [
            {
              "type": "string"
            },
            {
              "type": "array",
              "items": {
                "type": "string"
              }
            }
          ]
        },
        "external": {
          "oneOf": [
            {
              "type": "string",
              "enum": [
                "plain"
              ]
            },
            {
              "type": "object",
              "properties": {
                "wrapped": {
                  "type": "object",
                  "properties": {
                    "depth": {
                      "type": "integer",
                      "minimum": 0,
                      "maximum": 255
                    }
                  },
                  "required": [
                    "depth"
                  ],
                  "additionalProperties": false
                }
              },
              "required": [
                "wrapped"
              ],
              "additionalProperties": false
            }
          ]
        },
        "single": {
          "type": "number"
        },
        "big": {
          "type": "integer",
          "minimum": 0
        }
      },
      "required": [
        "map",
        "anything",
        "nullable_items",
        "pair",
        "either",
        "external",
        "single",
        "big"
      ],
      "additionalProperties": false
    }
    "#);
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only the schema is of interest")]
struct Open {
    known: u8,
    #[serde(flatten)]
    others: BTreeMap<String, Value>,
}

#[test]
fn types_that_collect_unknown_keys_are_open() {
    let contract = Contract::of::<Open>().unwrap();
    assert!(contract.is_open());
    normal(&contract, json!({"known": 1, "other": [1, 2]}));
    assert!(!Contract::of::<Search>().unwrap().is_open());
}

#[derive(JsonSchema)]
struct Nothing {}

#[test]
fn a_struct_without_fields_accepts_nothing_but_an_empty_object() {
    let contract = Contract::of::<Nothing>().unwrap();
    normal(&contract, json!({}));
    assert_snapshot!(problems(&contract, json!({"a": 1})), @"/a: unknown key; no keys are allowed here");
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only the schema is of interest")]
struct Tree {
    children: Vec<Tree>,
}

#[test]
fn types_that_contain_themselves_are_refused() {
    let error = Contract::of::<Tree>().unwrap_err();
    assert_eq!(error.code(), "recursive_type");
    assert_snapshot!(error, @"the type `it::derive::Tree` contains itself");
}

#[test]
fn types_that_are_no_objects_are_refused_as_arguments() {
    assert_snapshot!(Contract::of::<Vec<String>>().unwrap_err(), @"the root schema accepts an array, each a string, and arguments are always an object");
    assert_snapshot!(Contract::of::<Either>().unwrap_err(), @"the root schema accepts a string or an array, each a string, and arguments are always an object");
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only the schema is of interest")]
struct Looking {
    #[schemars(regex(pattern = r"(?=a)b"))]
    text: String,
}

#[test]
fn patterns_of_types_run_in_linear_time_too() {
    assert_snapshot!(Contract::of::<Looking>().unwrap_err(), @"the pattern `(?=a)b` at `/properties/text/pattern` uses look-around, which has no linear-time form");
}

#[derive(JsonSchema, Serialize)]
struct Found {
    lines: Vec<String>,
    next: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[test]
fn outputs_are_described_as_serialised() {
    let contract = Contract::of_output::<Found>().unwrap();
    assert_eq!(contract.required().collect::<Vec<_>>(), ["lines", "next"]);
    let output = Found { lines: vec![], next: None, note: None };
    contract.check(&serde_json::to_value(output).unwrap()).unwrap();
    assert_snapshot!(contract.check(&json!({"lines": "x", "next": 1})).unwrap_err(), @r#"/lines: found "x", expected an array, each a string"#);
    Contract::of_output::<Vec<String>>().unwrap().check(&json!(["a"])).unwrap();
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only the schema is of interest")]
struct Beside {
    name: String,
    #[serde(flatten)]
    external: LineOrRange,
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "only the schema is of interest")]
enum LineOrRange {
    Line { number: u32 },
    Range { from: u32, to: u32 },
}

#[test]
fn flattened_enums_share_one_closed_object() {
    let contract = Contract::of::<Beside>().unwrap();
    normal(&contract, json!({"name": "a", "line": {"number": 1}}));
    problems(&contract, json!({"name": "a", "line": {"number": 1}, "extra": 1}));
    problems(&contract, json!({"name": "a"}));
}

#[test]
fn a_contract_that_waits_is_the_one_it_would_be_at_once() {
    let later = Contract::of_later::<Search>();
    assert!(!later.is_made());
    assert_eq!(later, Contract::of::<Search>().unwrap());
    assert!(later.is_made());
    let later = Contract::of_output_later::<Search>();
    assert_eq!(later, Contract::of_output::<Search>().unwrap());
}

#[test]
fn a_type_without_a_contract_accepts_nothing_later() {
    let later = Contract::of_later::<Tree>();
    assert!(later.check(&json!({})).is_err());
    assert!(later.normalise(serde_json::Map::new()).is_err());
}
