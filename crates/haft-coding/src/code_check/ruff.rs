//! What ruff writes: one list in JSON.

use serde::Deserialize;

use super::{Diagnostic, Severity, UnreadableOutput};

/// One thing that ruff has to say, as far as it is of use.
#[derive(Debug, Deserialize)]
struct Said {
    filename: String,
    code: Option<String>,
    message: String,
    location: Option<Place>,
    end_location: Option<Place>,
    fix: Option<Fix>,
    severity: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Place {
    row: u64,
    column: u64,
}

#[derive(Debug, Deserialize)]
struct Fix {
    message: Option<String>,
    applicability: Option<String>,
}

pub(super) fn read(output: &[u8]) -> Result<Vec<Diagnostic>, UnreadableOutput> {
    let said: Vec<Said> =
        serde_json::from_slice(output).map_err(|error| UnreadableOutput::new("ruff", 1, &error))?;
    Ok(said.into_iter().map(diagnostic).collect())
}

fn diagnostic(said: Said) -> Diagnostic {
    let Said { filename, code, message, location, end_location, fix, severity } = said;
    let severity = match severity.as_deref() {
        Some("error" | "fatal") => Severity::Error,
        Some("info" | "help") => Severity::Info,
        // What versions without the field find are warnings, but for what cannot be read at all.
        None if code.as_deref().is_none_or(|code| code == "E902" || code == "E999") => {
            Severity::Error
        }
        Some(_) | None => Severity::Warning,
    };
    let is_safe = |fix: &Fix| fix.applicability.as_deref() == Some("safe");
    Diagnostic {
        path: filename,
        line: location.as_ref().map(|it| it.row),
        column: location.as_ref().map(|it| it.column),
        last_line: end_location.as_ref().map(|it| it.row),
        end_column: end_location.as_ref().map(|it| it.column),
        severity,
        code,
        message,
        is_fixable: fix.as_ref().is_some_and(is_safe),
        help: fix.and_then(|fix| fix.message).into_iter().collect(),
    }
}
