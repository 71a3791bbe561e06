//! Putting matches into words and into data.

use std::collections::BTreeMap;
use std::fmt::Write;

use haft_protocol::{Bound, Count, Notice, NoticeKind, limits};
use haft_syntax::PatternMatch;
use haft_text::{head, visible, visible_line};
use haft_tool::{Output, Shown};
use schemars::JsonSchema;
use serde::Serialize;

use super::AstSearchArgs;
use crate::hit::{excerpt, without_end};
use crate::scope;
use crate::sources::{Gathered, SkippedSources};
use crate::words::{counted, row};

/// Bytes shown of what a metavariable stands for.
const VALUE_BYTES: usize = 200;

/// Lines of one match that are shown.
const LINES: usize = 20;

/// What looks like a pattern.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AstSearchOutput {
    /// The matches that come first, by path and line.
    pub matches: Vec<AstMatch>,
    /// How many matches there are.
    pub total: u64,
    /// Whether there are no more than that.
    pub is_total_exact: bool,
    /// How many files were searched.
    pub files_searched: u64,
    /// What was passed over.
    pub skipped: SkippedSources,
}

/// One piece of code that looks like the pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AstMatch {
    /// The path of the file.
    pub path: String,
    /// The first line, from 1.
    pub line: u64,
    /// The first byte in that line, from 1.
    pub column: u64,
    /// The last line.
    pub last_line: u64,
    /// The first byte in the last line that no longer belongs to it, from 1.
    pub end_column: u64,
    /// The code.
    pub text: String,
    /// Whether the text, or what a metavariable stands for, is only a part of it.
    pub is_cut: bool,
    /// What each metavariable stands for.
    pub variables: BTreeMap<String, String>,
    /// The lines it stands on, as far as they are shown.
    #[serde(skip)]
    lines: Vec<String>,
}

impl AstMatch {
    /// Returns how many bytes it takes to show the match.
    pub(super) fn bytes(&self) -> usize {
        const BESIDE: usize = 12;
        let lines = self.lines.iter().map(|line| line.len() + BESIDE);
        let variables = self.variables.iter().map(|(name, text)| name.len() + text.len() + BESIDE);
        lines.chain(variables).sum()
    }
}

/// Takes what is shown of a match out of the text it was found in.
pub(super) fn of(found: PatternMatch, text: &str) -> AstMatch {
    let PatternMatch { span, variables } = found;
    let code = text.get(span.bytes.clone()).unwrap_or_default();
    let shown = head(code, limits::AST_MATCH_BYTES);
    let mut is_cut = shown.len() < code.len();
    let variables = variables
        .into_iter()
        .map(|variable| {
            let whole = variable.text(text);
            let shown = head(whole, limits::SEARCH_LINE_BYTES);
            is_cut |= shown.len() < whole.len();
            (variable.name.clone(), shown.to_owned())
        })
        .collect();
    let begin = (span.bytes.start + 1).saturating_sub(span.column);
    let rest = text.get(begin..).unwrap_or_default().as_bytes();
    let lines = rest
        .split(|byte| *byte == b'\n')
        .take((span.last_line + 1 - span.line).min(LINES))
        .enumerate()
        .map(|(number, line)| {
            let line = without_end(line);
            let at = if number == 0 { span.column - 1 } else { 0 };
            let end = if span.line == span.last_line { span.end_column - 1 } else { line.len() };
            let matched = if number == 0 { at..end.clamp(at, line.len().max(at)) } else { 0..0 };
            excerpt(line, matched).0
        })
        .collect();
    AstMatch {
        path: String::new(),
        line: span.line as u64,
        column: span.column as u64,
        last_line: span.last_line as u64,
        end_column: span.end_column as u64,
        text: shown.to_owned(),
        is_cut,
        variables,
        lines,
    }
}

/// Puts matches into words and into data.
pub(super) fn shown(args: &AstSearchArgs, gathered: Gathered<AstMatch>) -> Shown<AstSearchOutput> {
    let Gathered { files, total, looked_at, skipped, report } = gathered;
    let most = usize::try_from(args.limit.get()).unwrap_or(usize::MAX);
    let mut text = String::new();
    let mut kept: Vec<AstMatch> = Vec::new();
    'files: for file in files {
        let gap = if text.is_empty() { "" } else { "\n" };
        let mut header = Some(format!("{gap}{}\n", row(file.path.as_str())));
        for mut hit in file.hits {
            let begin = text.len();
            text.extend(header.take());
            write_match(&mut text, &hit);
            let is_full = text.len() > limits::SEARCH_BYTES && !kept.is_empty();
            if kept.len() >= most || is_full {
                text.truncate(begin);
                break 'files;
            }
            hit.path = file.path.to_string();
            kept.push(hit);
        }
    }
    if kept.is_empty() {
        let language = args.language.title();
        let one = format!("file of {language}");
        let many = format!("files of {language}");
        text = format!("no matches in {}", counted(looked_at, &one, &many));
    }
    let (total, is_total_exact) = scope::known(total);
    let mut bounds: Vec<Bound> =
        left_out(args, kept.len(), total, is_total_exact).into_iter().collect();
    bounds.extend(scope::unfinished(&report, "matches", kept.len()));
    let mut notices = skipped.notices(&report);
    if kept.is_empty()
        && let Some(name) = small_variable(&args.pattern)
    {
        let text = format!(
            "`${name}` stands for itself: a metavariable is written in capitals, `${}`",
            name.to_uppercase()
        );
        notices.push(Notice::new(NoticeKind::Remark, text));
    }
    let output = Output { bounds, notices, ..Output::text(text.trim_end_matches('\n')) };
    let value = AstSearchOutput {
        matches: kept,
        total,
        is_total_exact,
        files_searched: looked_at,
        skipped,
    };
    Shown { value, output }
}

/// Finds a name after `$` that is not in capitals, as those of metavariables are.
fn small_variable(pattern: &str) -> Option<&str> {
    pattern.split('$').skip(1).find_map(|rest| {
        let end = rest.find(|char: char| !char.is_ascii_alphanumeric() && char != '_');
        let name = rest.get(..end.unwrap_or(rest.len()))?;
        name.starts_with(|char: char| char.is_ascii_lowercase()).then_some(name)
    })
}

fn write_match(text: &mut String, found: &AstMatch) {
    // Writing to a string cannot fail.
    for (number, line) in (found.line..).zip(&found.lines) {
        let _ = writeln!(text, "{number}:{}", visible(line));
    }
    let more = (found.last_line + 1 - found.line).saturating_sub(found.lines.len() as u64);
    if more > 0 {
        let next = found.line + found.lines.len() as u64;
        let _ =
            writeln!(text, "{next}:… {} of this match", counted(more, "more line", "more lines"));
    }
    for (name, value) in &found.variables {
        // What goes over several lines is shown above.
        let shown = match value.trim_end().split_once('\n') {
            Some((first, _)) => format!("{} …", visible_line(head(first.trim_end(), VALUE_BYTES))),
            None if value.len() > VALUE_BYTES => {
                format!("{}…", visible_line(head(value, VALUE_BYTES)))
            }
            None => visible_line(value).into_owned(),
        };
        let _ = writeln!(text, "    ${name} = {shown}");
    }
}

fn left_out(args: &AstSearchArgs, kept: usize, total: u64, is_exact: bool) -> Option<Bound> {
    let kept = kept as u64;
    let rest = total.saturating_sub(kept);
    let can_raise =
        kept >= u64::from(args.limit.get()) && args.limit.get() < limits::SEARCH_RESULTS_MAX;
    let raise = if can_raise { "raise \"limit\", or " } else { "" };
    (rest > 0).then(|| Bound {
        unit: "matches".to_owned(),
        kept,
        left_out: if is_exact { Count::Exact(rest) } else { Count::AtLeast(rest) },
        way_on: format!("{raise}narrow \"path\", \"include\" or \"pattern\""),
    })
}
