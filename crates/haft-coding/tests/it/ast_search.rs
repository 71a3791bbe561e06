//! Searching source code by its structure.

use serde_json::{Value, json};

use crate::rig::{Rig, failure};

fn tree() -> Rig {
    let rig = Rig::new();
    rig.file(
        "src/a.rs",
        "fn a() {\n    let x = f(1).unwrap();\n    g(\n        x,\n    )\n    .unwrap();\n}\n",
    );
    rig.file("src/b.rs", "fn b() {\n    h.expect(\"\");\n    // h.unwrap()\n}\n");
    rig.file("c.py", "print('unwrap()')\nprint(a, b)\n");
    rig
}

fn search(rig: &Rig, args: &Value) -> String {
    rig.outcome(rig.start_call("ast_search", args.clone())).model_text()
}

#[test]
fn matches_are_shown_with_what_metavariables_stand_for() {
    insta::assert_snapshot!(search(&tree(), &json!({ "pattern": "$X.unwrap()", "language": "rust" })), @r"
    src/a.rs
    2:    let x = f(1).unwrap();
        $X = f(1)
    3:    g(
    4:        x,
    5:    )
    6:    .unwrap();
        $X = g( …
    ");
    insta::assert_snapshot!(search(&tree(), &json!({ "pattern": "print($$$ARGS)", "language": "python" })), @r"
    c.py
    1:print('unwrap()')
        $ARGS = 'unwrap()'
    2:print(a, b)
        $ARGS = a, b
    ");
}

#[test]
fn nothing_found_says_where_was_looked() {
    insta::assert_snapshot!(search(&tree(), &json!({ "pattern": "$X.clone()", "language": "rust" })), @"no matches in 2 files of Rust");
    insta::assert_snapshot!(search(&tree(), &json!({ "pattern": "f()", "language": "java" })), @"no matches in 0 files of Java");
}

#[test]
fn a_small_metavariable_is_none() {
    let args = json!({ "pattern": "$x.unwrap()", "language": "rust" });
    insta::assert_snapshot!(search(&tree(), &args), @"
    no matches in 2 files of Rust
    [notice: `$x` stands for itself: a metavariable is written in capitals, `$X`]
    ");
    let rig = Rig::new();
    rig.file("a.rs", "pub fn a() {}\nfn b() {}\n");
    let args = json!({ "pattern": "fn $NAME() { $$$ }", "language": "rust" });
    insta::assert_snapshot!(search(&rig, &args), @"
    a.rs
    2:fn b() {}
        $NAME = b
    ");
}

#[test]
fn the_data_has_what_is_shown() {
    let rig = tree();
    let call = json!({ "pattern": "$X.unwrap()", "language": "rust", "path": "src", "limit": 1 });
    let outcome = rig.outcome(rig.start_call("ast_search", call));
    let data = outcome.structured.unwrap();
    insta::assert_snapshot!(serde_json::to_string_pretty(&data).unwrap(), @r#"
    {
      "matches": [
        {
          "path": "src/a.rs",
          "line": 2,
          "column": 13,
          "last_line": 2,
          "end_column": 26,
          "text": "f(1).unwrap()",
          "is_cut": false,
          "variables": {
            "X": "f(1)"
          }
        }
      ],
      "total": 2,
      "is_total_exact": true,
      "files_searched": 2,
      "skipped": {
        "not_text": 0,
        "too_large": 0,
        "too_slow": 0,
        "too_deep": 0,
        "language_off": 0,
        "unreadable": 0,
        "broken": 0,
        "ignored_files": 0,
        "ignored_directories": 0,
        "protected": 0,
        "hidden_by_rule": 0
      }
    }
    "#);
}

#[test]
fn a_limit_is_told_with_the_way_on() {
    let rig = Rig::new();
    rig.file("a.py", "f(1)\n".repeat(4)).file("b.py", "f(2)\n");
    insta::assert_snapshot!(search(&rig, &json!({ "pattern": "f($A)", "language": "python", "limit": 2 })), @r#"
    a.py
    1:f(1)
        $A = 1
    2:f(1)
        $A = 1
    [2 matches shown, 3 left out: raise "limit", or narrow "path", "include" or "pattern"]
    "#);
}

#[test]
fn a_long_match_is_cut() {
    let rig = Rig::new();
    let body = "    x = 1\n".repeat(40);
    rig.file("a.py", format!("def f():\n{body}\ny = g('{}')\n", "z".repeat(3000)));
    insta::assert_snapshot!(search(&rig, &json!({ "pattern": "def $F(): $$$B", "language": "python" })), @r"
    a.py
    1:def f():
    2:    x = 1
    3:    x = 1
    4:    x = 1
    5:    x = 1
    6:    x = 1
    7:    x = 1
    8:    x = 1
    9:    x = 1
    10:    x = 1
    11:    x = 1
    12:    x = 1
    13:    x = 1
    14:    x = 1
    15:    x = 1
    16:    x = 1
    17:    x = 1
    18:    x = 1
    19:    x = 1
    20:    x = 1
    21:… 21 more lines of this match
        $B = x = 1 …
        $F = f
    ");
    let text = search(&rig, &json!({ "pattern": "g($A)", "language": "python" }));
    assert!(text.len() < 1200, "{text}");
}

#[test]
fn a_pattern_that_cannot_be_read_is_a_mistake_that_says_where() {
    let rig = tree();
    let said = [("foo(((", "python"), ("$$$", "rust"), ("a; b", "go"), ("", "c")]
        .map(|(pattern, language)| {
            let call = json!({ "pattern": pattern, "language": language });
            failure(&rig.outcome(rig.start_call("ast_search", call))).to_string()
        })
        .join("\n");
    insta::assert_snapshot!(said, @r#"
    `foo(((` is no Python pattern: at line 1, column 6, `(` is not closed
    hint: write code that could stand in a file, with metavariables such as `$NAME` or `$$$ARGS`
    hint: for plain text, use `search`
    `$$$` cannot be searched for: `$$$NAME` alone stands for any number of things: write what it stands in, such as `f($$$NAME)`
    `a; b` cannot be searched for: it is more than one expression, statement or definition of Go: write one, or search for each
    /pattern: found "", expected a string of 1 to 4096 characters
    "#);
    let text = search(&rig, &json!({ "pattern": "x", "language": "cobol" }));
    assert!(text.contains("invalid_arguments"), "{text}");
}

#[test]
fn what_was_passed_over_is_said() {
    let rig = tree();
    rig.file("src/large.rs", "fn x() {}\n".repeat(110_000))
        .file("src/deep.rs", format!("fn f() {{ {}1{} }}", "(".repeat(600), ")".repeat(600)));
    insta::assert_snapshot!(search(&rig, &json!({ "pattern": "($A, $A)", "language": "rust" })), @r"
    no matches in 2 files of Rust
    [notice: 1 source file skipped: larger than 1 MiB]
    [notice: 1 source file skipped: nested more than 500 levels deep]
    ");
}

#[test]
fn a_named_file_is_read_in_the_language_of_the_pattern() {
    let rig = tree();
    rig.file("script", "print(1)\n");
    insta::assert_snapshot!(search(&rig, &json!({ "pattern": "print($A)", "language": "python", "path": "script" })), @r"
    script
    1:print(1)
        $A = 1
    ");
}
