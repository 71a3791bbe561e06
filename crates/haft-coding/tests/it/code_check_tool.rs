//! Checkers as a model sees them. Cargo is the one that builds this; ruff is a program that says what ruff says, and the
//! real one where `cargo xtask testbeds` put it.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use haft_coding::BashSettings;
use haft_policy::{Rule, RuleAccess};
use haft_process::SandboxLevel;
use serde_json::{Value, json};

use crate::bash::Shell;

/// Programs are looked for in these directories only.
fn shell(path: &str) -> Shell {
    under(path, Vec::new())
}

fn under(path: &str, rules: Vec<Rule>) -> Shell {
    let environment = vec![(OsString::from("PATH"), OsString::from(path))];
    let sandbox = SandboxLevel::Group;
    Shell::under(BashSettings { sandbox, environment, ..BashSettings::default() }, rules)
}

fn file(shell: &Shell, path: &str, content: &str) -> PathBuf {
    let path = shell.ws(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, content).unwrap();
    path
}

fn says(shell: &Shell, arguments: Value) -> String {
    shell.call_tool("code_check", arguments).model_text()
}

fn data(shell: &Shell, arguments: Value) -> Value {
    let outcome = shell.call_tool("code_check", arguments);
    assert!(outcome.is_ok(), "{}", outcome.model_text());
    outcome.structured.unwrap()
}

/// A folder with a program `ruff` that runs a script of `sh`.
fn ruff(script: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("ruff");
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", folder.path().display());
    (folder, path)
}

fn said(path: &str, line: u64, severity: &str, code: &str) -> Value {
    json!({
        "filename": path, "code": code, "message": format!("what {code} says"), "fix": null,
        "location": { "row": line, "column": 1 }, "end_location": { "row": line, "column": 2 },
        "severity": severity,
    })
}

/// A program that says this of a workspace, whose directory is written `WS`.
fn ruff_that_says(said: &[Value], status: u8) -> (tempfile::TempDir, String) {
    let said = Value::from(said.to_vec()).to_string();
    ruff(&format!("sed \"s|WS|$PWD|g\" <<'END'\n{said}\nEND\nexit {status}"))
}

#[expect(clippy::print_stderr, reason = "whoever runs the tests has to see what was not tested")]
fn skip(why: &str) {
    eprintln!("skipped: {why}");
}

/// The directory of the cargo that builds this, where it is still there.
fn cargo() -> Option<String> {
    let cargo = Path::new(env!("CARGO"));
    if !cargo.is_file() {
        skip(&format!("there is no {}", cargo.display()));
        return None;
    }
    Some(format!("{}:/usr/bin:/bin", cargo.parent()?.display()))
}

const MANIFEST: &str = "[package]\nname = \"one\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";

#[test]
fn what_is_found_is_sorted_and_shown_by_place() {
    let found = [
        said("WS/src/b.py", 2, "error", "F821"),
        said("WS/src/b.py", 1, "warning", "F401"),
        said("WS/a.py", 9, "error", "E1"),
    ];
    let (_folder, path) = ruff_that_says(&found, 1);
    let shell = shell(&path);
    file(&shell, "a.py", "");
    file(&shell, "src/b.py", "");
    insta::assert_snapshot!(says(&shell, json!({})), @r"
    ruff: 2 errors, 1 warning (sandbox: group)
    a.py:9:1 error E1 what E1 says
    src/b.py:1:1 warning F401 what F401 says
    src/b.py:2:1 error F821 what F821 says
    ");
    insta::assert_snapshot!(says(&shell, json!({ "path": "src" })), @r#"
    ruff: 1 error, 1 warning (sandbox: group)
    src/b.py:1:1 warning F401 what F401 says
    src/b.py:2:1 error F821 what F821 says
    [notice: 1 diagnostic (1 error) is about other files; "path": "." shows what is in the workspace]
    "#);
    insta::assert_snapshot!(says(&shell, json!({ "limit": 1 })), @r#"
    ruff: 2 errors, 1 warning (sandbox: group)
    a.py:9:1 error E1 what E1 says
    [1 diagnostic shown, 2 left out: raise "limit", or set "path" to one of the files or directories]
    "#);
    let all = data(&shell, json!({ "checker": "ruff" }));
    assert_eq!(
        (&all["status"], &all["total"], &all["errors"]),
        (&json!("diagnostics"), &json!(3), &json!(2))
    );
    assert_eq!(all["diagnostics"][0]["path"], "a.py");
}

#[test]
fn what_is_outside_or_hidden_is_not_shown() {
    let found = [
        said("WS/a.py", 1, "error", "E1"),
        said("/etc/passwd", 1, "error", "E2"),
        said("WS/../tmp", 1, "error", "E3"),
        said("WS/.env", 1, "error", "E4"),
        said("WS/gone.py", 1, "error", "E5"),
    ];
    let (_folder, path) = ruff_that_says(&found, 1);
    let shell = shell(&path);
    file(&shell, "a.py", "");
    file(&shell, ".env", "TOKEN=1");
    insta::assert_snapshot!(says(&shell, json!({})), @r"
    ruff: 1 error (sandbox: group)
    a.py:1:1 error E1 what E1 says
    [notice: 4 diagnostics left out, about what is not in the workspace or cannot be seen there]
    [notice: 1 entry hidden: protected]
    ");
}

#[test]
fn a_rule_about_some_files_holds_against_the_whole_check() {
    let (_folder, path) = ruff_that_says(&[said("WS/private/a.py", 1, "error", "E1")], 1);
    let rule = Rule::deny().path("private/**".parse().unwrap()).access(RuleAccess::Read);
    let shell = under(&path, vec![rule]);
    file(&shell, "private/a.py", "");
    let text = says(&shell, json!({ "checker": "ruff" }));
    assert!(text.starts_with("denied by policy: ") && !text.contains("E1"), "{text}");
}

#[test]
fn a_path_is_never_an_option_and_never_a_file_of_options() {
    let (_folder, path) = ruff("for it; do last=$it; done\necho \"$last\" >&2\nexit 2");
    let shell = shell(&path);
    for name in ["-h.py", "@a.py"] {
        file(&shell, name, "");
        let text = says(&shell, json!({ "path": name }));
        let complaint = format!("ruff did not do its work: `ruff` ended with status 2:\n./{name}");
        assert_eq!(text, complaint);
    }
}

#[test]
fn a_checker_that_is_not_installed_is_no_failure() {
    let shell = shell("/nonexistent");
    file(&shell, "a.py", "");
    file(&shell, "rust/Cargo.toml", MANIFEST);
    insta::assert_snapshot!(says(&shell, json!({ "path": "a.py" })), @r"
    ruff is not available: the program `ruff` was not found in PATH
    hint: install ruff, for example with `uv tool install ruff` or `pip install ruff`
    ");
    insta::assert_snapshot!(says(&shell, json!({ "path": "rust" })), @r"
    cargo_check is not available: the program `cargo` was not found in PATH
    hint: install Rust, for example with `rustup`
    ");
    assert_eq!(data(&shell, json!({ "path": "a.py" }))["status"], "unavailable");
}

#[test]
fn where_no_checker_is_known_the_choices_are_named() {
    let shell = shell("/nonexistent");
    file(&shell, "a.txt", "");
    insta::assert_snapshot!(says(&shell, json!({})), @r#"
    failed (unsupported): no checker is known for `.`: it holds no Python files, and no `Cargo.toml` is at or above it
    hint: set "checker" to one of "ruff", "cargo_check", "cargo_clippy", or "path" to what is to be checked
    "#);
    insta::assert_snapshot!(says(&shell, json!({ "checker": "cargo_clippy" })), @r#"
    failed (not_found): there is no `Cargo.toml` at or above `.`, which `cargo_clippy` needs
    hint: set "path" to the directory of a Rust package or something in it
    "#);
}

#[test]
fn output_of_another_form_is_said_and_no_panic() {
    let (_folder, path) = ruff("echo hello");
    let shell = shell(&path);
    file(&shell, "a.py", "");
    insta::assert_snapshot!(says(&shell, json!({})), @r"
    ruff did not do its work: what `ruff` wrote is not in its form, at line 1: expected value
    ");
}

#[test]
fn cargo_checks_the_nearest_package() {
    let Some(path) = cargo() else { return };
    let shell = shell(&path);
    file(&shell, "Cargo.toml", "[workspace]\nmembers = [\"one\"]\nresolver = \"2\"\n");
    file(&shell, "one/Cargo.toml", MANIFEST);
    file(&shell, "one/src/lib.rs", "mod other;\npub fn a() -> u8 {\n    \"text\"\n}\n");
    file(&shell, "one/src/other.rs", "use std::fs;\n");
    insta::assert_snapshot!(says(&shell, json!({ "path": "one/src/lib.rs" })), @r#"
    cargo_check: 1 error (sandbox: group)
    one/src/lib.rs:3:5 error E0308 mismatched types: expected `u8`, found `&str`
    [notice: 1 diagnostic (0 errors) is about other files; "path": "." shows what is in the workspace]
    "#);
    insta::assert_snapshot!(says(&shell, json!({})), @r"
    cargo_check: 1 error, 1 warning, 1 fixable (sandbox: group)
    one/src/lib.rs:3:5 error E0308 mismatched types: expected `u8`, found `&str`
    one/src/other.rs:1:5 warning unused_imports unused import: `std::fs` (fixable)
        remove the whole `use` item
    ");
    file(&shell, "one/src/lib.rs", "pub fn a() {}\n");
    insta::assert_snapshot!(says(&shell, json!({ "checker": "cargo_check" })), @r"
    cargo_check: nothing found (sandbox: group)
    ");
}

#[test]
fn a_project_that_cargo_cannot_look_at_is_an_error() {
    let Some(path) = cargo() else { return };
    let shell = shell(&path);
    file(&shell, "Cargo.toml", &format!("{MANIFEST}[dependencies]\nnothing-like-it = \"1\"\n"));
    file(&shell, "src/lib.rs", "");
    let value = data(&shell, json!({}));
    assert_eq!(value["status"], "error");
    let problem = value["problem"].as_str().unwrap();
    assert!(problem.starts_with("`cargo check` ended with status 101:\n"), "{problem}");
    assert!(problem.contains("nothing-like-it"), "{problem}");
}

#[test]
fn cargo_clippy_says_more_than_cargo_check() {
    let Some(path) = cargo() else { return };
    let programs = path.split(':').next().unwrap();
    if !Path::new(programs).join("cargo-clippy").is_file() {
        return skip(&format!("there is no cargo-clippy in {programs}"));
    }
    let shell = shell(&path);
    file(&shell, "Cargo.toml", MANIFEST);
    file(&shell, "src/lib.rs", "pub fn a(x: bool) -> bool {\n    return x == true;\n}\n");
    insta::assert_snapshot!(says(&shell, json!({})), @"cargo_check: nothing found (sandbox: group)");
    let told = says(&shell, json!({ "checker": "cargo_clippy" }));
    assert!(told.contains("src/lib.rs:2:5 warning clippy::needless_return"), "{told}");
}

#[test]
fn cargo_checks_in_the_strongest_sandbox_where_it_may_read_its_own() {
    let Some(path) = cargo() else { return };
    let toolchain = Path::new(env!("CARGO")).parent().and_then(Path::parent).unwrap();
    let settings = BashSettings {
        sandbox: SandboxLevel::FilesNet,
        environment: vec![("PATH".into(), path.into())],
        read: vec![toolchain.to_owned()],
        ..BashSettings::default()
    };
    let shell = Shell::under(settings, Vec::new());
    file(&shell, "Cargo.toml", MANIFEST);
    file(&shell, "src/lib.rs", "pub fn a() -> u8 {\n    \"text\"\n}\n");
    let value = data(&shell, json!({}));
    assert_eq!(value["diagnostics"][0]["code"], "E0308", "{value}");
}

/// The ruff that `cargo xtask testbeds` puts beneath the root of the repository, else that of the machine.
fn real_ruff() -> Option<String> {
    let part = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.testbeds/ruff");
    let path = format!("{}:{}", part.display(), std::env::var("PATH").unwrap_or_default());
    if std::env::split_paths(&path).any(|it| it.join("ruff").is_file()) {
        return Some(path);
    }
    skip(&format!("there is no ruff in {} and none in PATH", part.display()));
    None
}

#[test]
fn the_real_ruff_is_understood() {
    let Some(path) = real_ruff() else { return };
    let shell = shell(&path);
    file(&shell, "a.py", "import os\nprint(x)\n");
    file(&shell, "sub/bad.py", "def f(:\n");
    let value = data(&shell, json!({ "path": "a.py" }));
    assert_eq!(value["status"], "diagnostics", "{value}");
    let rows = value["diagnostics"].as_array().unwrap();
    let row = |it: &Value| format!("{}:{}:{} {}", it["path"], it["line"], it["column"], it["code"]);
    let rows: Vec<String> = rows.iter().map(row).collect();
    // Which rules are on without any setting is ruff's own affair; these have been from the first.
    let unused = rows.iter().position(|it| it == "\"a.py\":1:8 \"F401\"").unwrap();
    assert!(rows.contains(&"\"a.py\":2:7 \"F821\"".to_owned()), "{rows:?}");
    assert_eq!(value["diagnostics"][unused]["is_fixable"], true);
    let value = data(&shell, json!({ "path": "sub" }));
    assert!(value["errors"].as_u64().unwrap() > 0, "{value}");
    assert_eq!(value["diagnostics"][0]["path"], "sub/bad.py");
    assert!(value["diagnostics"][0]["message"].is_string());
}

#[test]
fn the_real_ruff_finds_nothing_where_nothing_is_and_fixes_nothing() {
    let Some(path) = real_ruff() else { return };
    let shell = shell(&path);
    let bad = file(&shell, "bad.py", "import os\n");
    file(&shell, "good.py", "print(1)\n");
    file(
        &shell,
        "pyproject.toml",
        "[tool.ruff]\nfix = true\noutput-format = \"full\"\ncache-dir = \"cache\"\n",
    );
    assert_eq!(data(&shell, json!({ "path": "good.py" }))["status"], "ok");
    let all = data(&shell, json!({}));
    let rows = all["diagnostics"].as_array().unwrap();
    assert!(!rows.is_empty() && rows.iter().all(|it| it["path"] == "bad.py"), "{all}");
    assert_eq!(fs::read_to_string(bad).unwrap(), "import os\n");
    assert!(!shell.ws("cache").exists() && !shell.ws(".ruff_cache").exists());
}
