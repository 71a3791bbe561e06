//! What cargo writes: JSON, one message on each line.

use serde::Deserialize;

use super::{Diagnostic, Severity, UnreadableOutput};

/// A line of cargo's.
#[derive(Debug, Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum Line {
    CompilerMessage {
        message: Said,
    },
    #[serde(other)]
    Other,
}

/// One thing that the compiler has to say, as far as it is of use.
#[derive(Debug, Deserialize)]
struct Said {
    message: String,
    level: String,
    code: Option<Rule>,
    #[serde(default)]
    spans: Vec<Span>,
    #[serde(default)]
    children: Vec<Child>,
}

#[derive(Debug, Deserialize)]
struct Rule {
    #[serde(rename = "code")]
    name: String,
}

#[derive(Debug, Deserialize)]
struct Span {
    file_name: String,
    line_start: u64,
    line_end: u64,
    column_start: u64,
    column_end: u64,
    #[serde(default)]
    is_primary: bool,
    label: Option<String>,
    suggestion_applicability: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Child {
    message: String,
    level: String,
    #[serde(default)]
    spans: Vec<Span>,
}

/// Lines of help that are kept of one message.
const HELP: usize = 5;

pub(super) fn read(output: &[u8]) -> Result<Vec<Diagnostic>, UnreadableOutput> {
    let mut found: Vec<Diagnostic> = Vec::new();
    for (number, line) in output.split(|byte| *byte == b'\n').enumerate() {
        // A build script may write lines of its own.
        if !line.starts_with(b"{") {
            continue;
        }
        let line: Line = serde_json::from_slice(line)
            .map_err(|error| UnreadableOutput::new("cargo", number + 1, &error))?;
        // The library and its tests are compiled each for themselves, and say the same.
        if let Line::CompilerMessage { message } = line
            && let Some(diagnostic) = diagnostic(message)
            && !found.contains(&diagnostic)
        {
            found.push(diagnostic);
        }
    }
    Ok(found)
}

fn diagnostic(said: Said) -> Option<Diagnostic> {
    let Said { mut message, level, code, spans, children } = said;
    let severity = match level.as_str() {
        "error" | "error: internal compiler error" => Severity::Error,
        "warning" => Severity::Warning,
        // Sums such as `aborting due to 2 previous errors` come without a place.
        "failure-note" => return None,
        _ => Severity::Info,
    };
    let place = spans.iter().find(|span| span.is_primary).or(spans.first());
    if place.is_none() && code.is_none() && is_sum(&message) {
        return None;
    }
    if let Some(label) = place.and_then(|place| place.label.as_deref()) {
        message = format!("{message}: {label}");
    }
    let is_fix =
        |span: &Span| span.suggestion_applicability.as_deref() == Some("MachineApplicable");
    let is_fixable = children.iter().any(|child| child.spans.iter().any(is_fix));
    let is_of_use = |child: &Child| matches!(child.level.as_str(), "help" | "note");
    let help = children.into_iter().filter(is_of_use).take(HELP).map(|child| child.message);
    Some(Diagnostic {
        path: place.map_or_else(String::new, |place| place.file_name.clone()),
        line: place.map(|place| place.line_start),
        column: place.map(|place| place.column_start),
        last_line: place.map(|place| place.line_end),
        end_column: place.map(|place| place.column_end),
        severity,
        code: code.map(|rule| rule.name),
        help: help.collect(),
        message,
        is_fixable,
    })
}

fn is_sum(message: &str) -> bool {
    message.starts_with("aborting due to") || message.ends_with("emitted")
}
