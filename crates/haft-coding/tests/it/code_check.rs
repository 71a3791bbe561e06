//! What checkers write, read from outputs that real ones wrote.

use haft_coding::{Checker, Diagnostic, Severity};
use haft_syntax::Language;

fn written(found: &[Diagnostic]) -> String {
    let number = |it: Option<u64>| it.map_or("-".to_owned(), |it| it.to_string());
    let row = |it: &Diagnostic| {
        let (from, to) = (number(it.line), number(it.last_line));
        let (column, end) = (number(it.column), number(it.end_column));
        let code = it.code.as_deref().unwrap_or("-");
        let fix = if it.is_fixable { " (fixable)" } else { "" };
        let help = it.help.iter().fold(String::new(), |text, help| text + "\n  " + help.trim());
        let (path, severity) = (&it.path, it.severity);
        format!("{path} {from}:{column}-{to}:{end} {severity:?} {code}{fix}: {}{help}", it.message)
    };
    found.iter().map(row).collect::<Vec<_>>().join("\n")
}

#[test]
fn what_ruff_says_is_read() {
    let found = Checker::Ruff.read(include_bytes!("code_check/ruff.json")).unwrap();
    insta::assert_snapshot!(written(&found), @r"
    /src/a.py 1:1-2:17 Error I001 (fixable): Import block is un-sorted or un-formatted
      Organize imports
    /src/a.py 1:8-1:10 Error F401 (fixable): `os` imported but unused
      Remove unused import: `os`
    /src/a.py 2:8-2:11 Error F401 (fixable): `sys` imported but unused
      Remove unused import
    /src/a.py 2:13-2:17 Error F401 (fixable): `json` imported but unused
      Remove unused import
    /src/a.py 6:16-6:30 Error F821: Undefined name `undefined_name`
    /src/a.py 7:5-7:6 Error F841: Local variable `l` is assigned to but never used
      Remove assignment to unused variable `l`
    /src/b.py 1:7-1:8 Error invalid-syntax: Expected a parameter or the end of the parameter list
    /src/b.py 1:8-2:1 Error invalid-syntax: Expected `)`, found newline
    ");
}

#[test]
fn what_cargo_check_says_is_read() {
    let found = Checker::CargoCheck.read(include_bytes!("code_check/cargo.jsonl")).unwrap();
    insta::assert_snapshot!(written(&found), @r"
    src/lib.rs 3:10-3:11 Error E0277: cannot multiply `f64` by `&str`: no implementation for `f64 * &str`
      the trait `Mul<&str>` is not implemented for `f64`
      the following other types implement trait `Mul<Rhs>`
    src/lib.rs 9:5-9:10 Error E0382 (fixable): borrow of moved value: `names`: value borrowed here after move
      consider cloning the value if the performance cost is acceptable
    ");
}

#[test]
fn what_clippy_says_is_read() {
    let found = Checker::CargoClippy.read(include_bytes!("code_check/clippy.jsonl")).unwrap();
    insta::assert_snapshot!(written(&found), @r"
    src/lib.rs 2:9-2:15 Warning unused_variables (fixable): unused variable: `unused`
      `#[warn(unused_variables)]` (part of `#[warn(unused)]`) on by default
      if this is intentional, prefix it with an underscore
    src/lib.rs 3:5-3:69 Warning clippy::needless_return (fixable): unneeded `return` statement
      for further information visit https://rust-lang.github.io/rust-clippy/rust-1.95.0/index.html#needless_return
      `#[warn(clippy::needless_return)]` on by default
      remove `return`
    src/lib.rs 1:20-1:29 Warning clippy::ptr_arg: writing `&Vec` instead of `&[_]` involves a new object where a slice will do
      for further information visit https://rust-lang.github.io/rust-clippy/rust-1.95.0/index.html#ptr_arg
      `#[warn(clippy::ptr_arg)]` on by default
      change this to
    src/lib.rs 3:12-3:69 Warning clippy::clone_on_copy (fixable): using `clone` on type `f64` which implements the `Copy` trait
      for further information visit https://rust-lang.github.io/rust-clippy/rust-1.95.0/index.html#clone_on_copy
      `#[warn(clippy::clone_on_copy)]` on by default
      try removing the `clone` call
    ");
}

#[test]
fn having_nothing_to_say_is_no_error() {
    assert_eq!(Checker::Ruff.read(b"[]\n").unwrap(), []);
    assert_eq!(Checker::CargoCheck.read(b"").unwrap(), []);
    let finished = b"{\"reason\":\"build-finished\",\"success\":true}\n";
    assert_eq!(Checker::CargoCheck.read(finished).unwrap(), []);
}

#[test]
fn what_is_said_twice_is_read_once() {
    let output = include_bytes!("code_check/clippy.jsonl");
    let once = Checker::CargoClippy.read(output).unwrap();
    assert_eq!(Checker::CargoClippy.read(&output.repeat(2)).unwrap(), once);
}

#[test]
fn lines_of_build_scripts_and_messages_of_other_kinds_are_passed_over() {
    let output = b"hello from a build script\n{\"reason\":\"something-new\",\"x\":1}\n";
    assert_eq!(Checker::CargoCheck.read(output).unwrap(), []);
}

#[test]
fn output_of_another_form_is_an_error_that_says_where() {
    let said = [
        Checker::Ruff.read(b"").unwrap_err().to_string(),
        Checker::Ruff.read(b"[\n{\"filename\": 1}]").unwrap_err().to_string(),
        Checker::CargoCheck
            .read(b"\n\n{\"reason\":\"compiler-message\"}\n")
            .unwrap_err()
            .to_string(),
        Checker::CargoCheck.read(b"{\"reason\":").unwrap_err().to_string(),
    ]
    .join("\n");
    insta::assert_snapshot!(said, @r"
    what `ruff` wrote is not in its form, at line 1: EOF while parsing a value
    what `ruff` wrote is not in its form, at line 2: invalid type: integer `1`, expected a string
    what `cargo` wrote is not in its form, at line 3: missing field `message`
    what `cargo` wrote is not in its form, at line 1: EOF while parsing a value
    ");
}

#[test]
fn hostile_output_is_no_danger() {
    for output in ["[".repeat(100_000), format!("[{}]", "{\"fix\":".repeat(50_000)), "\0".repeat(9)]
    {
        for checker in Checker::ALL {
            let _ = checker.read(output.as_bytes());
        }
    }
}

#[test]
fn the_table_says_what_each_checker_is_for_and_what_it_does() {
    assert_eq!(Checker::of(Language::Python).collect::<Vec<_>>(), [Checker::Ruff]);
    let rust = [Checker::CargoClippy, Checker::CargoCheck];
    assert_eq!(Checker::of(Language::Rust).collect::<Vec<_>>(), rust);
    assert_eq!(Checker::of(Language::Go).count(), 0);
    assert!(!Checker::Ruff.runs_project_code() && Checker::CargoCheck.runs_project_code());
    for checker in Checker::ALL {
        assert_eq!(serde_json::to_value(checker).unwrap(), checker.as_str());
        assert!(checker.how_to_get().starts_with("install "));
    }
    assert!(Severity::Error < Severity::Info);
}
