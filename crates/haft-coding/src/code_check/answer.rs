//! Putting what a checker says into words and into data.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::path::Path;

use haft_protocol::{Bound, Count, NoticeKind, limits};
use haft_text::{head, visible_line};
use haft_tool::{Output, Shown};
use haft_workspace::{PathError, Resolved, View};
use schemars::JsonSchema;
use serde::Serialize;

use super::start::Checked;
use super::{Checker, Diagnostic, Severity};
use crate::first::Place;
use crate::words::{counted, fitted, row};

/// What a checker has to say.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CodeCheckOutput {
    /// What came of it.
    pub status: CheckStatus,
    /// The checker.
    pub checker: Checker,
    /// The first diagnostics by path, line and column.
    pub diagnostics: Vec<Diagnostic>,
    /// How many diagnostics there are at or beneath the path.
    pub total: u64,
    /// How many of them are errors.
    pub errors: u64,
    /// How many of them are warnings.
    pub warnings: u64,
    /// How many of them the checker can put right itself.
    pub fixable: u64,
    /// How many diagnostics there are about other files of the workspace.
    pub elsewhere: u64,
    /// Why it could not be asked or did not do all of its work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// What would help.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
}

/// What came of asking a checker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckStatus {
    /// It found nothing.
    Ok,
    /// It found something.
    Diagnostics,
    /// It is not installed, or cannot be started here.
    Unavailable,
    /// It did not do its work.
    Error,
}

/// What was found, by where it is.
#[derive(Debug, Default)]
struct Sorted {
    here: Vec<Diagnostic>,
    elsewhere: u64,
    elsewhere_errors: u64,
    outside: u64,
}

/// Puts what a checker says into words and into data.
pub(super) fn shown(
    view: &View,
    place: &Resolved,
    checker: Checker,
    checked: Checked,
    limit: NonZeroU32,
) -> Shown<CodeCheckOutput> {
    let name = checker.as_str();
    let nothing = |status, why: String, hints| CodeCheckOutput {
        status,
        checker,
        diagnostics: Vec::new(),
        total: 0,
        errors: 0,
        warnings: 0,
        fixable: 0,
        elsewhere: 0,
        problem: Some(why),
        hints,
    };
    match checked {
        Checked::Done { diagnostics, base, problem, level } => {
            let sorted = sorted(view, place, diagnostics, base.as_deref());
            found(checker, sorted, problem, limit, &level.to_string())
        }
        Checked::Unavailable { why, hints } => {
            let text = format!("{name} is not available: {why}");
            let value = nothing(CheckStatus::Unavailable, why, hints);
            Shown { output: with_hints(text, &value.hints), value }
        }
        Checked::Broken { why, hints } => {
            let text = format!("{name} did not do its work: {why}");
            let value = nothing(CheckStatus::Error, why, hints);
            Shown { output: with_hints(text, &value.hints), value }
        }
    }
}

fn with_hints(mut text: String, hints: &[String]) -> Output {
    for hint in hints {
        text.push_str("\nhint: ");
        text.push_str(hint);
    }
    Output::text(text)
}

/// Finds the files that diagnostics are about, and lets go of those that the call may not see.
fn sorted(
    view: &View,
    place: &Resolved,
    diagnostics: Vec<Diagnostic>,
    base: Option<&str>,
) -> Sorted {
    let mut paths: HashMap<String, Result<String, PathError>> = HashMap::new();
    let mut sorted = Sorted::default();
    for mut diagnostic in diagnostics {
        if !diagnostic.path.is_empty() {
            let path = paths.entry(diagnostic.path.clone()).or_insert_with_key(|path| {
                let full = match base {
                    Some(base) if !path.starts_with('/') => format!("{base}/{path}"),
                    _ => path.clone(),
                };
                view.printed(&full).map(|place| place.logical().to_string())
            });
            match path {
                Ok(path) if !is_beneath(path, place.logical().as_str()) => {
                    sorted.elsewhere += 1;
                    sorted.elsewhere_errors += u64::from(diagnostic.severity == Severity::Error);
                    continue;
                }
                Ok(path) => diagnostic.path.clone_from(path),
                // That something was hidden by a rule is said by the call itself.
                Err(PathError::HiddenByRule { .. }) => continue,
                Err(_) => {
                    sorted.outside += 1;
                    continue;
                }
            }
        }
        sorted.here.push(diagnostic);
    }
    sorted.here.sort_by(|one, two| key(one).cmp(&key(two)));
    sorted
}

fn key(it: &Diagnostic) -> impl Ord + '_ {
    let place = (Place::of(Path::new(&it.path)), it.line, it.column, it.last_line, it.end_column);
    (place, it.severity, &it.code, &it.message)
}

fn is_beneath(path: &str, above: &str) -> bool {
    match above {
        "." => !path.starts_with('/'),
        above => {
            path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        }
    }
}

fn found(
    checker: Checker,
    sorted: Sorted,
    problem: Option<String>,
    limit: NonZeroU32,
    level: &str,
) -> Shown<CodeCheckOutput> {
    let Sorted { here: mut diagnostics, elsewhere, elsewhere_errors, outside } = sorted;
    let total = diagnostics.len() as u64;
    let of = |severity| diagnostics.iter().filter(|it| it.severity == severity).count() as u64;
    let (errors, warnings) = (of(Severity::Error), of(Severity::Warning));
    let fixable = diagnostics.iter().filter(|it| it.is_fixable).count() as u64;
    let status = match (&problem, total) {
        (Some(_), _) => CheckStatus::Error,
        (None, 0) => CheckStatus::Ok,
        (None, _) => CheckStatus::Diagnostics,
    };
    let most = usize::try_from(limit.get()).unwrap_or(usize::MAX);
    diagnostics.truncate(most);
    diagnostics.iter_mut().for_each(cut);
    let lines: Vec<String> = diagnostics.iter().map(line).collect();
    let (text, kept) = fitted(&lines, limits::SEARCH_BYTES);
    diagnostics.truncate(kept);
    let sum = sum(total, errors, warnings, fixable);
    let mut text = format!("{}: {sum} (sandbox: {level})\n{text}", checker.as_str());
    if let Some(problem) = &problem {
        text = format!("{}\nThis may not be all: {problem}", text.trim_end());
    }
    let mut output = Output::text(text.trim_end());
    let rest = total - kept as u64;
    if rest > 0 {
        let can_raise = kept >= most && limit.get() < limits::CODE_CHECK_DIAGNOSTICS_MAX;
        let raise = if can_raise { "raise \"limit\", or " } else { "" };
        output.bounds.push(Bound {
            unit: "diagnostics".to_owned(),
            kept: kept as u64,
            left_out: Count::Exact(rest),
            way_on: format!("{raise}set \"path\" to one of the files or directories"),
        });
    }
    if elsewhere > 0 {
        let many = counted(elsewhere, "diagnostic", "diagnostics");
        let is = if elsewhere == 1 { "is" } else { "are" };
        let errors = counted(elsewhere_errors, "error", "errors");
        let text = format!(
            "{many} ({errors}) {is} about other files; \"path\": \".\" shows what is in the workspace"
        );
        output = output.with_notice(NoticeKind::Skipped, text);
    }
    if outside > 0 {
        let many = counted(outside, "diagnostic", "diagnostics");
        let text =
            format!("{many} left out, about what is not in the workspace or cannot be seen there");
        output = output.with_notice(NoticeKind::Skipped, text);
    }
    let value = CodeCheckOutput {
        status,
        checker,
        diagnostics,
        total,
        errors,
        warnings,
        fixable,
        elsewhere,
        problem,
        hints: Vec::new(),
    };
    Shown { value, output }
}

fn sum(total: u64, errors: u64, warnings: u64, fixable: u64) -> String {
    if total == 0 {
        return "nothing found".to_owned();
    }
    let remarks = total - errors - warnings;
    let parts = [
        (errors, counted(errors, "error", "errors")),
        (warnings, counted(warnings, "warning", "warnings")),
        (remarks, counted(remarks, "remark", "remarks")),
        (fixable, format!("{fixable} fixable")),
    ];
    let parts = parts.into_iter().filter(|(number, _)| *number > 0).map(|(_, text)| text);
    parts.collect::<Vec<_>>().join(", ")
}

/// Keeps the beginning of each text, for whoever wrote the code decides how long they are.
fn cut(it: &mut Diagnostic) {
    for text in it.code.iter_mut().chain([&mut it.message]).chain(&mut it.help) {
        text.truncate(head(text, limits::SEARCH_LINE_BYTES).len());
    }
}

/// Writes a diagnostic as a line, with what the checker proposes beneath it.
fn line(it: &Diagnostic) -> String {
    let mut text =
        if it.path.is_empty() { "(no place)".to_owned() } else { row(&it.path).into_owned() };
    for number in [it.line, it.column].into_iter().flatten() {
        text.push_str(&format!(":{number}"));
    }
    text.push(' ');
    text.push_str(match it.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "info",
    });
    for part in it.code.iter().chain([&it.message]) {
        text.push(' ');
        text.push_str(&visible_line(part));
    }
    if it.is_fixable {
        text.push_str(" (fixable)");
    }
    // Which lint is on by default, and where the manual is, helps nobody here.
    let is_of_use =
        |help: &&String| !help.starts_with("`#[") && !help.starts_with("for further information");
    for help in it.help.iter().filter(is_of_use).take(2) {
        text.push_str("\n    ");
        text.push_str(&visible_line(help.trim()));
    }
    text
}
