//! No side door: every place that hands calls to dispatch is registered here.
//!
//! Whoever adds an entrance adds a row, and runs the kit that every entrance has to pass.

use super::{SourceFile, Tree, Violation};

/// Token sequences that make a dispatch, or the context without which it takes no call.
const MAKING: &[&str] = &["Dispatch::new", "CallContext::new"];

/// Methods that take calls. Without arguments they are something else: a getter, a start.
const TAKING: &[&str] = &["dispatch", "batch", "start", "start_batch", "resume", "delegated"];

/// Token sequences that run a tool's body without dispatch.
const SIDE_DOORS: &[&str] = &["Tool::call(", "Tool::call)", "Tool>::call("];

/// Files that may hand calls to dispatch, each with the entrance it is.
const ENTRANCES: &[(&str, &str)] = &[
    ("crates/haft/src/assembly.rs", "a program that uses the library"),
    ("crates/haft-agent/src/calls.rs", "a model's request"),
    ("crates/haft-agent/src/subagent/tool.rs", "a model that another model started"),
    ("crates/haft-cli/src/command/call.rs", "the command line"),
    ("crates/haft-mcp/src/call.rs", "a client of the MCP server"),
    ("crates/haft-mcp/src/conformance.rs", "the fixture that the MCP suite is run against"),
];

/// The crate that holds dispatch, and the kit that its tests are built from.
const HOME: &[&str] = &["crates/haft-tool/", "crates/haft-testkit/"];

/// Finds callers of dispatch that nobody registered.
pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    let outside = |file: &&SourceFile| {
        file.path.starts_with("crates/") && !HOME.iter().any(|home| file.path.starts_with(home))
    };
    for file in tree.sources().iter().filter(outside) {
        let path = file.path.as_str();
        if !ENTRANCES.iter().any(|(known, _)| *known == path) {
            for (pattern, line) in dispatches(file) {
                let text = format!("`{pattern}` in a file that is no registered entrance");
                violations.push(Violation::new(path, line, "entrances", text));
            }
        }
        for (pattern, line) in lines_outside_tests(SIDE_DOORS, file) {
            let text = format!("`{pattern}` runs a body past dispatch");
            violations.push(Violation::new(path, line, "entrances", text));
        }
    }
    for (path, _) in ENTRANCES {
        if tree.source(path).is_none_or(|file| dispatches(file).is_empty()) {
            let text = "listed as an entrance, and hands nothing to dispatch";
            violations.push(Violation::new(path, 1, "entrances", text));
        }
    }
    violations
}

/// Returns where a file makes a dispatch or hands it a call.
fn dispatches(file: &SourceFile) -> Vec<(String, usize)> {
    let mut found: Vec<_> = lines_outside_tests(MAKING, file)
        .map(|(pattern, line)| (pattern.to_owned(), line))
        .collect();
    for method in TAKING {
        let call = format!(".{method}(");
        let without_arguments = file.lines_with(&format!("{call})"));
        let lines = file.lines_with(&call).into_iter().filter(|line| !file.is_test(*line));
        let lines = lines.filter(|line| !without_arguments.contains(line));
        found.extend(lines.map(|line| (call.clone(), line)));
    }
    found
}

fn lines_outside_tests<'a>(
    patterns: &'static [&'static str],
    file: &'a SourceFile,
) -> impl Iterator<Item = (&'static str, usize)> + 'a {
    patterns
        .iter()
        .flat_map(|pattern| file.lines_with(pattern).into_iter().map(move |line| (*pattern, line)))
        .filter(|(_, line)| !file.is_test(*line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        let violations = check(&Tree::of(&[(path, text)]));
        violations.iter().filter(|violation| violation.path == path).count()
    }

    #[test]
    fn an_unregistered_caller_is_caught() {
        let text = "async fn f() { runtime.dispatch(&context, call).await; }";
        assert_eq!(found("crates/haft-flow/src/node.rs", text), 1);
        assert_eq!(found("crates/haft-flow/src/node.rs", "fn f() { it.batch(&c, calls); }"), 1);
        assert_eq!(found("crates/haft-flow/src/node.rs", "fn f() { CallContext::new(c); }"), 1);
        assert_eq!(found("crates/haft-tool/src/nested.rs", text), 0);
        assert_eq!(found("crates/haft-flow/tests/it/node.rs", text), 0);
    }

    #[test]
    fn a_getter_is_no_call() {
        let text = "fn f() { haft.dispatch().ports(); found.start(); }";
        assert_eq!(found("crates/haft-flow/src/node.rs", text), 0);
    }

    #[test]
    fn a_body_run_past_dispatch_is_caught() {
        let text = "fn f() { Tool::call(&tool, call); <Read as Tool>::call(&tool, call); }";
        assert_eq!(found("crates/haft-flow/src/node.rs", text), 2);
    }
}
