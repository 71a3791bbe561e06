//! Finding one's way in source code.

use serde_json::{Value, json};

use crate::rig::{Rig, failure};

fn tree() -> Rig {
    let rig = Rig::new();
    rig.file("src/shapes.py", "class Shape:\n    sides = 0\n\n    def area(self) -> float:\n        return side(self) ** 2\n\n\ndef measure(shapes):\n    return sum(shape.area() for shape in shapes)\n");
    rig.file("src/lib.rs", "pub struct Circle {\n    radius: f64,\n}\n\nimpl Circle {\n    pub fn area(&self) -> f64 {\n        square(self.radius)\n    }\n}\n\nfn square(x: f64) -> f64 {\n    x * x\n}\n");
    rig.file("notes.md", "area is explained here\n");
    rig.file("main.go", "package main\n\nfunc main() {\n\tprintln(area(1))\n}\n");
    rig
}

fn nav(rig: &Rig, action: &str, args: &Value) -> String {
    rig.text("code_nav", action, args)
}

#[test]
fn a_file_is_outlined() {
    insta::assert_snapshot!(nav(&tree(), "outline", &json!({ "path": "src/lib.rs" })), @r"
    src/lib.rs
    1-3: pub struct Circle
      2: radius: f64
    5-9: impl Circle
      6-8: pub fn area(&self) -> f64
    11-13: fn square(x: f64) -> f64
    ");
}

#[test]
fn a_comment_behind_a_definition_is_no_part_of_it() {
    let rig = Rig::new();
    rig.file(
        "a.py",
        "class A:  # ours\n    def add(self, price):  # TODO check price\n        pass\n",
    );
    insta::assert_snapshot!(nav(&rig, "outline", &json!({ "path": "a.py" })), @"
    a.py
    1-3: class A
      2-3: def add(self, price)
    ");
}

#[test]
fn a_tree_is_outlined_in_the_order_of_its_paths() {
    let rig = tree();
    insta::assert_snapshot!(nav(&rig, "outline", &json!({ "kinds": ["class", "struct", "method", "function"] })), @r"
    main.go
    3-5: func main()

    src/lib.rs
    1-3: pub struct Circle
      6-8: pub fn area(&self) -> f64
    11-13: fn square(x: f64) -> f64

    src/shapes.py
    1-5: class Shape
      4-5: def area(self) -> float
    8-9: def measure(shapes)
    ");
    insta::assert_snapshot!(nav(&rig, "outline", &json!({ "language": "go" })), @r"
    main.go
    3-5: func main()
    ");
}

#[test]
fn definitions_are_found_in_every_language() {
    let rig = tree();
    insta::assert_snapshot!(nav(&rig, "definition", &json!({ "symbol": "area" })), @r"
    src/lib.rs
    6-8: pub fn area(&self) -> f64  [method Circle.area]

    src/shapes.py
    4-5: def area(self) -> float  [method Shape.area]
    ");
    insta::assert_snapshot!(nav(&rig, "definition", &json!({ "symbol": "Shape.area" })), @r"
    src/shapes.py
    4-5: def area(self) -> float  [method Shape.area]
    ");
    insta::assert_snapshot!(nav(&rig, "definition", &json!({ "symbol": "absent" })), @"no definitions in 3 source files");
}

#[test]
fn uses_are_found_with_where_they_stand() {
    insta::assert_snapshot!(nav(&tree(), "references", &json!({ "symbol": "area" })), @r"
    main.go
    4: println(area(1))  [call in main]

    src/shapes.py
    9: return sum(shape.area() for shape in shapes)  [call in measure]
    ");
}

#[test]
fn the_data_says_how_sure_it_is() {
    let data = tree().data("code_nav", "definition", &json!({ "symbol": "Circle.area" }));
    insta::assert_snapshot!(serde_json::to_string_pretty(&data).unwrap(), @r#"
    {
      "kind": "definitions",
      "resolution": "syntactic",
      "definitions": [
        {
          "path": "src/lib.rs",
          "name": "area",
          "kind": "method",
          "container": "Circle",
          "line": 6,
          "column": 5,
          "last_line": 8,
          "end_column": 6,
          "signature": "pub fn area(&self) -> f64"
        }
      ],
      "total": 1,
      "is_total_exact": true,
      "files_looked_at": 3,
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
    let data = tree().data("code_nav", "references", &json!({ "symbol": "square" }));
    assert_eq!(data["resolution"], "syntactic");
    let used = &data["references"][0];
    assert_eq!(
        (&used["line"], &used["column"], &used["end_column"]),
        (&json!(7), &json!(9), &json!(15))
    );
}

#[test]
fn a_limit_is_told_with_the_way_on() {
    let rig = Rig::new();
    rig.file("a.py", "x = 1\n".repeat(5)).file("b.py", "x = 1\n".repeat(5));
    insta::assert_snapshot!(nav(&rig, "definition", &json!({ "symbol": "x", "limit": 2 })), @r#"
    a.py
    1: x = 1  [variable x]
    2: x = 1  [variable x]
    [2 definitions shown, 8 left out: raise "limit", or narrow "path" or "include"]
    "#);
    insta::assert_snapshot!(nav(&rig, "outline", &json!({ "path": "b.py", "limit": 1 })), @r#"
    b.py
    1: x = 1
    [1 definition shown, 4 left out: raise "limit", or narrow "path", "include" or "kinds"]
    "#);
    let data = rig.data("code_nav", "outline", &json!({ "limit": 7 }));
    assert_eq!((&data["total"], data["definitions"].as_array().unwrap().len()), (&json!(10), 7));
}

#[test]
fn what_cannot_be_looked_at_is_said() {
    let rig = tree();
    rig.file("large.py", "x = 1\n".repeat(200_000));
    rig.file("latin.py", b"x = '\xe9'\n")
        .file("broken.py", "def f(:\n")
        .file("zero.py", "x = '\0'\n");
    rig.file(".gitignore", "ignored/\n").file("ignored/a.py", "x = 1\n");
    insta::assert_snapshot!(nav(&rig, "definition", &json!({ "symbol": "x" })), @r#"
    no definitions in 4 source files
    [notice: 2 source files skipped: not UTF-8 text]
    [notice: 1 source file skipped: larger than 1 MiB]
    [notice: 1 directory skipped by ignore rules; "include_ignored": true includes them]
    "#);
    insta::assert_snapshot!(nav(&rig, "outline", &json!({ "path": "broken.py" })), @r"
    broken.py
    1: def f(
    [notice: 1 source file with syntax errors: what stands near them may be missing or wrong]
    ");
}

#[test]
fn a_file_that_is_named_itself_and_cannot_be_looked_at_is_a_failure() {
    let rig = tree();
    rig.file("large.py", "x = 1\n".repeat(200_000)).file("latin.py", b"x = '\xe9'\n");
    let said = ["large.py", "latin.py", "notes.md", "absent.py"]
        .map(|path| failure(&rig.call("code_nav", "outline", &json!({ "path": path }))).to_string())
        .join("\n");
    insta::assert_snapshot!(said, @r#"
    `large.py` is larger than 1 MiB, the most that is parsed
    hint: search in it with `search`
    `latin.py` is not UTF-8 text
    the end of `notes.md` tells no language that is known here
    hint: set "language" to one of c, cpp, go, java, javascript, python, rust, tsx, typescript
    `absent.py` does not exist
    "#);
    rig.file("tool", "def f(): pass\n");
    insta::assert_snapshot!(nav(&rig, "outline", &json!({ "path": "tool", "language": "python" })), @r"
    tool
    1: def f()
    ");
}

#[test]
fn names_and_texts_cannot_pass_for_words_of_the_tool() {
    let rig = Rig::new();
    rig.file("[notice: x].py", "def \u{1b}f(): pass\ndef g(): pass  # \u{1b}[31m g\n");
    insta::assert_snapshot!(nav(&rig, "outline", &json!({})), @r"
    ./[notice: x].py
    1: def \x1bf()
    2: def g()
    [notice: 1 source file with syntax errors: what stands near them may be missing or wrong]
    ");
    insta::assert_snapshot!(nav(&rig, "references", &json!({ "symbol": "f" })), @r"
    no uses in 1 source file
    [notice: 1 source file with syntax errors: what stands near them may be missing or wrong]
    ");
}

#[test]
fn what_a_rule_hides_is_not_found() {
    let rig = Rig::with_rules(vec![haft_policy::Rule::deny().path("private/**".parse().unwrap())]);
    rig.file("private/a.py", "def f(): pass\n").file("b.py", "def f(): pass\n");
    insta::assert_snapshot!(nav(&rig, "definition", &json!({ "symbol": "f" })), @r"
    b.py
    1: def f()  [function f]
    [notice: 1 entry hidden by a rule]
    ");
}
