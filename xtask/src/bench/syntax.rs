//! Searching source code by its structure, beside ast-grep.
//!
//! Both sides look at the same files of a real tree. Before anything is measured, what they find
//! is compared: a faster search that finds something else is not faster.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::measure::Program;
use super::scenarios::Place;
use crate::repository;

/// Patterns whose matches are compared; the first one is measured.
const PATTERNS: &[&str] = &[
    "isinstance($X, str)",
    "if not $X: return $Y",
    "for $A in $B.items(): $$$C",
    "return $F(*$A, **$B)",
    "$A = $A",
];

/// A match: path, first line from 1, and as much of its text as haft shows.
type Match = (String, u64, String);

/// Bytes of a match that haft shows.
const SHOWN: usize = 2_000;

pub(super) fn needs(place: &Place) -> Vec<PathBuf> {
    vec![place.haft.clone(), place.ast_grep.clone(), place.django.clone()]
}

pub(super) fn search(place: &Place) -> Result<[Program; 2]> {
    for pattern in PATTERNS {
        let (ours, total) = found_by_haft(place, pattern)?;
        let theirs = found_by_ast_grep(place, pattern)?;
        let differing: Vec<_> = ours.difference(&theirs).take(3).collect();
        ensure!(differing.is_empty(), "only haft finds `{pattern}` in {differing:?}");
        ensure!(
            total == theirs.len(),
            "haft finds {total} times `{pattern}`, ast-grep {}",
            theirs.len()
        );
        eprintln!("  `{pattern}`: both find the same {total}");
    }
    let pattern = PATTERNS.first().context("there is a pattern")?;
    let haft = place.haft_call("ast_search", &arguments(pattern), &place.django);
    Ok([haft.expects("\"matches\""), ast_grep(place, pattern)])
}

pub(super) fn outline(place: &Place) -> Result<[Program; 2]> {
    let bytes = python_bytes(&place.django)?;
    let arguments = json!({ "action": "outline", "language": "python", "limit": 2000 }).to_string();
    let haft = place.haft_call("code_nav", &arguments, &place.django);
    let functions = ast_grep(place, "def $F($$$P): $$$B");
    let haft = haft.expects("\"definitions\"");
    Ok([haft.goes_through(bytes), functions.goes_through(bytes)])
}

/// Counts the bytes of the Python files beneath a folder.
fn python_bytes(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            bytes += python_bytes(&path)?;
        } else if path.extension().is_some_and(|it| it == "py") {
            bytes += entry.metadata()?.len();
        }
    }
    Ok(bytes)
}

fn arguments(pattern: &str) -> String {
    json!({ "pattern": pattern, "language": "python", "limit": 2000 }).to_string()
}

fn ast_grep(place: &Place, pattern: &str) -> Program {
    Program::new("ast-grep", place.ast_grep.clone())
        .arguments(["run", "--lang", "python", "--json=stream", "--pattern", pattern, "."])
        .working_folder(place.django.clone())
        .expects("\"range\"")
}

/// Returns the matches that haft shows, and how many it counts.
fn found_by_haft(place: &Place, pattern: &str) -> Result<(BTreeSet<Match>, usize)> {
    let mut command = Command::new(&place.haft);
    command.args(["call", "ast_search", &arguments(pattern), "--json", "--root"]);
    command.arg(&place.django);
    command.env("HAFT_STATE_DIR", place.folder.join("state"));
    command.env("HAFT_CONFIG_DIR", place.folder.join("config"));
    let printed: Value = serde_json::from_slice(&output(&mut command)?)?;
    let data = find(&printed, "matches").context("haft printed no matches")?;
    let matches = data.get("matches").and_then(Value::as_array).context("matches are a list")?;
    let total = number(data, "total").context("haft printed no total")?;
    let key = |it: &Value| Some((text(it, "path")?, number(it, "line")?, text(it, "text")?));
    let matches = matches.iter().map(key).collect::<Option<_>>();
    Ok((matches.context("a match of haft's has no place")?, usize::try_from(total)?))
}

fn found_by_ast_grep(place: &Place, pattern: &str) -> Result<BTreeSet<Match>> {
    let mut command = Command::new(&place.ast_grep);
    command.args(["run", "--lang", "python", "--json=stream", "--pattern", pattern, "."]);
    command.current_dir(&place.django);
    let printed = output(&mut command)?;
    let lines = printed.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines
        .map(|line| {
            let found: Value = serde_json::from_slice(line)?;
            let start = found.pointer("/range/start").context("a match has a range")?;
            let path = text(&found, "file").context("a match has a file")?;
            let path = path.trim_start_matches("./").to_owned();
            let line = number(start, "line").context("a match has a line")?;
            let mut shown = text(&found, "text").context("a match has a text")?;
            shown.truncate(shown.floor_char_boundary(SHOWN));
            Ok((path, line + 1, shown))
        })
        .collect()
}

/// Returns the first object within a value that has a key.
fn find<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    match value {
        Value::Object(map) if map.get(key).is_some_and(Value::is_array) => Some(value),
        Value::Object(map) => map.values().find_map(|it| find(it, key)),
        Value::Array(list) => list.iter().find_map(|it| find(it, key)),
        _ => None,
    }
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}

fn number(value: &Value, key: &str) -> Option<u64> {
    value.get(key).and_then(Value::as_u64)
}

fn output(command: &mut Command) -> Result<Vec<u8>> {
    let spelled = repository::spelled(command);
    let output = command.output().with_context(|| format!("cannot start {spelled}"))?;
    ensure!(output.status.success(), "{spelled} failed with {}", output.status);
    Ok(output.stdout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_are_found_wherever_they_are_printed() {
        let printed = json!({ "ok": true, "outcome": { "data": { "matches": [], "total": 0 } } });
        assert_eq!(find(&printed, "matches").and_then(|it| number(it, "total")), Some(0));
        assert_eq!(find(&printed, "definitions"), None);
    }
}
