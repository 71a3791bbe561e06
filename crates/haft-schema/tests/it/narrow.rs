//! Contracts with arguments fixed.

use haft_schema::Contract;
use insta::assert_snapshot;
use schemars::JsonSchema;
use serde_json::{Value, json};

use crate::{normal, object, problems, shown};

#[derive(JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
#[expect(dead_code, reason = "only the schema is of interest")]
enum Git {
    /// Shows what changed.
    Diff { path: Option<String>, staged: bool },
    /// Shows history.
    Log {
        path: Option<String>,
        #[schemars(range(min = 1, max = 100))]
        count: u32,
    },
    /// Records changes.
    Commit { message: String },
}

fn git() -> Contract {
    Contract::of::<Git>().unwrap()
}

fn narrowed(contract: &Contract, fixed: Value) -> Contract {
    contract.narrow(&object(fixed)).unwrap()
}

#[test]
fn with_the_tag_fixed_the_schema_is_that_of_the_branch() {
    let log = narrowed(&git(), json!({"action": "log"}));
    assert_snapshot!(shown(&log), @r#"
    {
      "type": "object",
      "description": "Shows history.",
      "properties": {
        "path": {
          "type": "string"
        },
        "count": {
          "type": "integer",
          "minimum": 1,
          "maximum": 100
        }
      },
      "required": [
        "count"
      ],
      "additionalProperties": false
    }
    "#);
    assert_eq!(normal(&log, json!({"count": 3})), json!({"count": 3, "action": "log"}));
    assert_snapshot!(problems(&log, json!({"staged": true})), @r#"
    /staged: unknown key; known keys: "path", "count"
    /count: missing, expected an integer from 1 to 100
    "#);
}

#[test]
fn fixed_arguments_may_be_repeated_and_not_overridden() {
    let log = narrowed(&git(), json!({"action": "log", "path": "src"}));
    let once = normal(&log, json!({"count": 3}));
    assert_eq!(normal(&log, once.clone()), once);
    assert!(log.fixes("path") && !log.fixes("count"));
    assert_snapshot!(problems(&log, json!({"count": 3, "path": "/etc"})), @r#"/path: found "/etc", expected "src", which is fixed: leave it out"#);
}

#[test]
fn fixing_an_argument_keeps_only_the_actions_that_have_it() {
    let scoped = narrowed(&git(), json!({"path": "src"}));
    assert_eq!(scoped.tag().unwrap().values(), ["diff", "log"]);
    assert_eq!(scoped.schema()["properties"].get("path"), None);
    assert_eq!(
        normal(&scoped, json!({"action": "diff", "staged": true})),
        json!({"action": "diff", "staged": true, "path": "src"})
    );
    assert_snapshot!(problems(&scoped, json!({"action": "commit", "message": "x"})), @r#"/action: unknown action "commit"; one of "diff", "log""#);
}

#[test]
fn narrowing_twice_adds_up_and_never_widens() {
    let scoped = narrowed(&git(), json!({"path": "src"}));
    let log = narrowed(&scoped, json!({"action": "log"}));
    assert_eq!(
        normal(&log, json!({"count": 1})),
        json!({"count": 1, "path": "src", "action": "log"})
    );
    let error = scoped.narrow(&object(json!({"path": "other"}))).unwrap_err();
    assert_eq!(error.code(), "already_fixed");
    let error = scoped.narrow(&object(json!({"action": "commit"}))).unwrap_err();
    assert_snapshot!(error, @r#"the value fixed for `action` does not fit: found "commit", expected one of "diff", "log""#);
}

#[test]
fn values_that_do_not_fit_cannot_be_fixed() {
    let refused = |fixed: Value| git().narrow(&object(fixed)).unwrap_err().to_string();
    assert_snapshot!(refused(json!({"action": "log", "count": 0})), @"the value fixed for `count` does not fit: /count: found 0, expected an integer from 1 to 100");
    assert_snapshot!(refused(json!({"action": "push"})), @r#"the value fixed for `action` does not fit: found "push", expected one of "diff", "log", "commit""#);
    assert_snapshot!(refused(json!({"colour": "red"})), @r#"the contract has no argument `colour` to fix; it has "action", "path", "staged", "count", "message""#);
    assert_snapshot!(refused(json!({"path": "src", "message": "x"})), @r#"the contract has no argument `path` to fix; it has "action", "path", "staged", "count", "message""#);
    assert_snapshot!(refused(json!({"action": "diff", "count": 1})), @r#"the contract has no argument `count` to fix; it has "action", "path", "staged""#);
}

#[test]
fn contracts_differ_by_what_is_fixed() {
    let one = narrowed(&git(), json!({"action": "log", "path": "a"}));
    let other = narrowed(&git(), json!({"action": "log", "path": "b"}));
    assert_eq!(one.schema(), other.schema());
    assert_ne!(one.digest(), other.digest());
    assert_eq!(narrowed(&git(), json!({})).digest(), git().digest());
}

#[test]
fn foreign_contracts_are_narrowed_too() {
    let contract = Contract::foreign(json!({
        "type": "object",
        "properties": {"owner": {"type": "string"}, "repo": {"type": "string"}},
        "required": ["owner", "repo"],
    }))
    .unwrap();
    let narrow = narrowed(&contract, json!({"owner": "me"}));
    assert_eq!(narrow.required().collect::<Vec<_>>(), ["repo"]);
    assert_eq!(normal(&narrow, json!({"repo": "x"})), json!({"repo": "x", "owner": "me"}));
}

#[test]
fn a_fixed_whole_number_written_with_a_point_stays_the_same_when_checked_again() {
    let schema = json!({ "type": "object", "properties": { "b": { "type": "integer" } } });
    let fixed = json!({ "b": 1.0 }).as_object().unwrap().clone();
    let narrow = Contract::foreign(schema).unwrap().narrow(&fixed).unwrap();
    let once = narrow.normalise(serde_json::Map::new()).unwrap().arguments;
    assert_eq!(once["b"], json!(1));
    assert_eq!(narrow.normalise(once.clone()).unwrap().arguments, once);
    assert!(narrow.normalise(json!({ "b": 2 }).as_object().unwrap().clone()).is_err());
}
