//! Finding what was asked for, and putting it into words and data.

use std::fmt::Write;

use haft_protocol::{Bound, Count, Failure, LogicalPath, limits};
use haft_syntax::{Found, Reference, Symbol};
use haft_text::visible_line;
use haft_tool::{Call, Output, Shown};

use super::output::{DefinitionRow, DefinitionsOutput, ReferenceRow, ReferencesOutput, Resolution};
use super::{CodeNavOutput, NameArgs, OutlineArgs};
use crate::hit::{excerpt, without_end};
use crate::scope::{self, Scope};
use crate::sources::{Gathered, Sources};
use crate::words::{counted, row};

/// Levels of indentation that are shown.
const INDENTED: usize = 12;

/// Bytes of a row beside its texts: numbers, signs and the line end.
const BESIDE: usize = 32;

/// Shows what files define.
pub(super) fn outline(call: &Call, args: &OutlineArgs) -> Result<Shown<CodeNavOutput>, Failure> {
    let sources = Sources {
        scope: scope(&args.include, &args.exclude, args.include_ignored),
        language: args.language,
        needle: "",
        limit: u64::from(args.limit.get()),
    };
    let is_wanted = |row: &DefinitionRow| args.kinds.is_empty() || args.kinds.contains(&row.kind);
    let gathered = sources.gather(
        call,
        |language, text, limits| {
            let limits = limits.clone().keep(limits::SYNTAX_ITEMS);
            let found = haft_syntax::outline(language, text, &limits)?;
            let unseen = found.total - found.items.len();
            let has_errors = found.has_errors;
            let mut items: Vec<_> = found.items.into_iter().map(definition_row).collect();
            items.retain(is_wanted);
            Ok(Found { total: items.len() + unseen, items, has_errors })
        },
        definition_bytes,
    )?;
    let answer = Answer { limit: args.limit.get(), what: "definitions", is_about_name: false };
    Ok(answer.of_definitions(gathered, |row, text| {
        let indent = 2 * row.depth.min(INDENTED);
        let _ = writeln!(text, "{:indent$}{}: {}", "", lines(row), visible_line(&row.signature));
    }))
}

/// Finds where a name is defined.
pub(super) fn definition(call: &Call, args: &NameArgs) -> Result<Shown<CodeNavOutput>, Failure> {
    let gathered = sources_of(args).gather(
        call,
        |language, text, limits| {
            let found = haft_syntax::definitions(language, text, &args.symbol, limits)?;
            Ok(found.map(definition_row))
        },
        definition_bytes,
    )?;
    let answer = Answer { limit: args.limit.get(), what: "definitions", is_about_name: true };
    Ok(answer.of_definitions(gathered, |row, text| {
        let (kind, name) = (row.kind, visible_line(&row.name));
        let place = row.container.as_deref().map_or(String::new(), |it| format!("{it}."));
        let signature = visible_line(&row.signature);
        let place = visible_line(&place);
        let _ = writeln!(text, "{}: {signature}  [{kind} {place}{name}]", lines(row));
    }))
}

/// Finds where a name is used.
pub(super) fn references(call: &Call, args: &NameArgs) -> Result<Shown<CodeNavOutput>, Failure> {
    let gathered = sources_of(args).gather(
        call,
        |language, text, limits| {
            let found = haft_syntax::references(language, text, &args.symbol, limits)?;
            Ok(found.map(|used| reference_row(used, text)))
        },
        |row| row.text.len() + row.container.as_ref().map_or(0, String::len) + BESIDE,
    )?;
    let answer = Answer { limit: args.limit.get(), what: "uses", is_about_name: true };
    Ok(answer.of_references(gathered))
}

/// The files that may hold a name.
fn sources_of(args: &NameArgs) -> Sources<'_> {
    Sources {
        scope: scope(&args.include, &args.exclude, args.include_ignored),
        language: args.language,
        needle: last_name(&args.symbol),
        limit: u64::from(args.limit.get()),
    }
}

fn scope<'a>(include: &'a [String], exclude: &'a [String], include_ignored: bool) -> Scope<'a> {
    Scope { include, exclude, skip_dotted: false, include_ignored }
}

/// Returns the last part of a qualified name: what a file has to hold where the name is defined or used.
fn last_name(symbol: &str) -> &str {
    symbol.rsplit(['.', ':', '#']).next().filter(|name| !name.is_empty()).unwrap_or(symbol)
}

fn definition_row(symbol: Symbol) -> DefinitionRow {
    let Symbol { name, kind, container, depth, span, signature, .. } = symbol;
    DefinitionRow {
        path: String::new(),
        name,
        kind,
        container,
        line: span.line as u64,
        column: span.column as u64,
        last_line: span.last_line as u64,
        end_column: span.end_column as u64,
        signature,
        depth,
    }
}

fn definition_bytes(row: &DefinitionRow) -> usize {
    let indent = 2 * row.depth.min(INDENTED);
    let container = row.container.as_ref().map_or(0, String::len);
    row.signature.len() + row.name.len() + container + indent + BESIDE
}

fn reference_row(used: Reference, text: &str) -> ReferenceRow {
    let Reference { kind, container, span } = used;
    let begin = span.bytes.start + 1 - span.column.min(span.bytes.start + 1);
    let rest = text.get(begin..).unwrap_or_default();
    let line = without_end(rest.as_bytes().split(|byte| *byte == b'\n').next().unwrap_or_default());
    let at = span.column - 1..span.end_column - 1;
    let (text, is_cut) = excerpt(line, at);
    ReferenceRow {
        path: String::new(),
        kind,
        container,
        line: span.line as u64,
        column: span.column as u64,
        end_column: span.end_column as u64,
        text: text.trim().to_owned(),
        is_cut,
    }
}

fn lines(row: &DefinitionRow) -> String {
    if row.line == row.last_line {
        row.line.to_string()
    } else {
        format!("{}-{}", row.line, row.last_line)
    }
}

/// How an answer is worded.
struct Answer {
    limit: u32,
    what: &'static str,
    is_about_name: bool,
}

impl Answer {
    fn of_definitions(
        &self,
        gathered: Gathered<DefinitionRow>,
        write: impl Fn(&DefinitionRow, &mut String),
    ) -> Shown<CodeNavOutput> {
        let (total, is_total_exact) = scope::known(gathered.total);
        let (files_looked_at, skipped) = (gathered.looked_at, gathered.skipped);
        let set = |row: &mut DefinitionRow, path| row.path = path;
        let (definitions, output) = self.rows(gathered, write, set);
        let found = DefinitionsOutput {
            resolution: Resolution::Syntactic,
            definitions,
            total,
            is_total_exact,
            files_looked_at,
            skipped,
        };
        let value = if self.is_about_name {
            CodeNavOutput::Definitions(found)
        } else {
            CodeNavOutput::Outline(found)
        };
        Shown { value, output }
    }

    fn of_references(&self, gathered: Gathered<ReferenceRow>) -> Shown<CodeNavOutput> {
        let (total, is_total_exact) = scope::known(gathered.total);
        let (files_looked_at, skipped) = (gathered.looked_at, gathered.skipped);
        let write = |row: &ReferenceRow, text: &mut String| {
            let (line, kind) = (row.line, row.kind.as_str());
            let place = row.container.as_deref().map_or(String::new(), |it| format!(" in {it}"));
            let place = visible_line(&place);
            let _ = writeln!(text, "{line}: {}  [{kind}{place}]", visible_line(&row.text));
        };
        let (references, output) = self.rows(gathered, write, |row, path| row.path = path);
        let value = CodeNavOutput::References(ReferencesOutput {
            resolution: Resolution::Syntactic,
            references,
            total,
            is_total_exact,
            files_looked_at,
            skipped,
        });
        Shown { value, output }
    }

    /// Writes rows under their files as far as there is room, and returns those that were written.
    fn rows<T>(
        &self,
        gathered: Gathered<T>,
        write: impl Fn(&T, &mut String),
        set_path: impl Fn(&mut T, String),
    ) -> (Vec<T>, Output) {
        let Gathered { files, total, looked_at, skipped, report } = gathered;
        let most = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let mut text = String::new();
        let mut kept = Vec::new();
        'files: for file in files {
            let mut header = Some(header(&file.path, !text.is_empty()));
            for mut hit in file.hits {
                let begin = text.len();
                text.extend(header.take());
                write(&hit, &mut text);
                let is_full = text.len() > limits::SEARCH_BYTES && !kept.is_empty();
                if kept.len() >= most || is_full {
                    text.truncate(begin);
                    break 'files;
                }
                set_path(&mut hit, file.path.to_string());
                kept.push(hit);
            }
        }
        if kept.is_empty() {
            let files = counted(looked_at, "source file", "source files");
            text = format!("no {} in {files}", self.what);
        }
        let mut bounds: Vec<Bound> = self.left_out(kept.len(), total).into_iter().collect();
        bounds.extend(scope::unfinished(&report, self.what, kept.len()));
        let notices = skipped.notices(&report);
        let text = text.trim_end_matches('\n');
        (kept, Output { bounds, notices, ..Output::text(text) })
    }

    fn left_out(&self, kept: usize, total: Count) -> Option<Bound> {
        let kept = kept as u64;
        let (number, is_exact) = scope::known(total);
        let rest = number.saturating_sub(kept);
        let can_raise = kept >= u64::from(self.limit) && self.limit < limits::SEARCH_RESULTS_MAX;
        let narrow = if self.is_about_name {
            "narrow \"path\" or \"include\""
        } else {
            "narrow \"path\", \"include\" or \"kinds\""
        };
        let raise = if can_raise { "raise \"limit\", or " } else { "" };
        (rest > 0).then(|| Bound {
            unit: self.what.to_owned(),
            kept,
            left_out: if is_exact { Count::Exact(rest) } else { Count::AtLeast(rest) },
            way_on: format!("{raise}{narrow}"),
        })
    }
}

fn header(path: &LogicalPath, is_further: bool) -> String {
    let gap = if is_further { "\n" } else { "" };
    format!("{gap}{}\n", row(path.as_str()))
}
