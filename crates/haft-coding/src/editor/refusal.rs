//! Why an edit was refused, what stands there, and what to send instead.

use haft_protocol::{ErrorKind, Failure, LogicalPath, limits};
use haft_text::{
    Around, Difference, Edit, EditError, Encoding, MatchGrade, Nearest, Refusal, SpliceError,
    Unmappable, visible, visible_line,
};
use serde_json::Map;

use super::file::Target;
use crate::speech::{self, EDITOR, HintIf};
use crate::words::{counted, grouped, size};

/// Refuses edits that no file could make possible.
pub(super) fn check(target: &Target<'_>, edits: &[Edit]) -> Result<(), Failure> {
    match edits.iter().position(|edit| edit.old.is_empty()) {
        None => Ok(()),
        Some(number) => Err(elsewhere(
            target,
            failed(edits, number, ErrorKind::InvalidArguments, EMPTY.to_owned()),
        )),
    }
}

const EMPTY: &str = "\"old\" is empty, so it stands nowhere in particular";

/// Says what does what an edit does not.
fn elsewhere(target: &Target<'_>, failure: Failure) -> Failure {
    let action = |name| speech::action(target.call, EDITOR, name);
    failure
        .hint_if(action("insert"), |insert| format!("to put lines between others, use {insert}"))
        .hint_if(action("write"), |write| format!("to write a whole file, use {write}"))
}

/// A failure of one of several edits.
fn failed(edits: &[Edit], number: usize, kind: ErrorKind, text: String) -> Failure {
    let about = if edits.len() > 1 {
        format!("edit {} of {}: ", number + 1, edits.len())
    } else {
        String::new()
    };
    Failure::new(kind, format!("{about}{text}; nothing was changed"))
}

/// Puts a refusal into words, with a corrected call where there is one.
pub(super) fn refused(
    target: &Target<'_>,
    encoding: Encoding,
    edits: &[Edit],
    error: EditError,
) -> Failure {
    let path = target.path();
    let number = error.edit;
    let failed = |kind, text: String| failed(edits, number, kind, text);
    let call = Refused { target, edits, number };
    match error.refusal {
        Refusal::EmptyOld => {
            elsewhere(target, failed(ErrorKind::InvalidArguments, EMPTY.to_owned()))
        }
        Refusal::Identical => {
            failed(ErrorKind::InvalidArguments, "\"old\" and \"new\" are the same".to_owned())
                .hint("leave the edit out, or say what is to be different")
        }
        Refusal::Unchanged => failed(
            ErrorKind::InvalidArguments,
            format!("after these edits `{path}` would be what it is"),
        )
        .hint("leave out edits that undo each other"),
        Refusal::NotFound { without_numbers: Some(edit), .. } => {
            let text = format!(
                "\"old\" stands nowhere in `{path}`: it begins its lines with the line numbers that reading shows"
            );
            let send = call.with(|it| it.clone_from(&edit));
            with_call(failed(ErrorKind::NotFound, text), "drop the numbers and the tabs", send)
        }
        Refusal::NotFound { nearest, corrected, looked_at, .. } => {
            let text = format!("\"old\" stands nowhere in `{path}`");
            let Some(nearest) = nearest else {
                let like = match looked_at {
                    None => "nor anything like it".to_owned(),
                    Some(lines) => format!(
                        "and nothing like it in its first {}, which is as far as was looked for that",
                        counted(lines, "line", "lines")
                    ),
                };
                return failed(ErrorKind::NotFound, format!("{text}, {like}"))
                    .hint("read the file, and copy \"old\" from it");
            };
            let failure = failed(ErrorKind::NotFound, text);
            let mut model_text =
                format!("{}\n{}", failure.model_text, place(&nearest, encoding, number));
            if let Some(lines) = looked_at {
                let lines = counted(lines, "line", "lines");
                model_text.push_str(&format!(
                    "\nOnly the first {lines} were looked through for a place like it."
                ));
            }
            let failure = Failure { model_text, ..failure };
            match corrected {
                Some(edit) => {
                    let send = call.with(|it| it.clone_from(&edit));
                    with_call(failure, "if that is the place", send)
                }
                None => failure.hint("copy \"old\" from the file"),
            }
        }
        Refusal::Ambiguous { grade, lines, has_more, is_overlapping, only } => {
            let failure = failed(
                ErrorKind::InvalidArguments,
                ambiguous(path, grade, &lines, has_more, is_overlapping),
            );
            told_apart(failure, &only, is_overlapping, &call)
        }
        Refusal::TooManyPlaces { most } => {
            let text =
                format!("\"old\" stands in more than {} places of `{path}`", grouped(most as u64));
            failed(ErrorKind::LimitExceeded, text).hint("give a longer \"old\"")
        }
        Refusal::Unindentable { line, nearest } => {
            let text = format!(
                "\"old\" was found in `{path}` but for its indentation, and line {line} of \"new\" is not indented by what would have to go"
            );
            let failure = failed(ErrorKind::InvalidArguments, text);
            Failure {
                model_text: format!(
                    "{}\n{}",
                    failure.model_text,
                    place(&nearest, encoding, number)
                ),
                ..failure
            }
            .hint("indent \"old\" and \"new\" as the file does")
        }
        Refusal::CalledOff => failed(ErrorKind::Unavailable, "the call was called off".to_owned()),
        Refusal::Unwritable(error) => unwritable(path, error, "new", failed),
        other => failed(ErrorKind::Conflict, other.to_string()),
    }
}

/// Says why text cannot be written into a file.
pub(super) fn unwritable(
    path: &LogicalPath,
    error: SpliceError,
    argument: &str,
    failed: impl Fn(ErrorKind, String) -> Failure,
) -> Failure {
    match error {
        SpliceError::Unmappable(Unmappable { char, encoding, line, column, .. }) => {
            let shown = visible_line(&char.to_string()).into_owned();
            let text = format!(
                "`{path}` is written in {encoding}, which does not have `{shown}` (U+{:04X}, line {line}, column {column} of \"{argument}\")",
                u32::from(char)
            );
            failed(ErrorKind::InvalidArguments, text)
                .hint("write it with characters that the file's encoding has")
        }
        SpliceError::TooLong { most } => {
            let text = format!("`{path}` would become longer than {}", size(most as u64));
            failed(ErrorKind::LimitExceeded, text).hint("write less at once")
        }
        error => failed(ErrorKind::Conflict, format!("`{path}`: {error}"))
            .hint("change lines that hold no malformed bytes"),
    }
}

/// Adds a corrected call, where it is not too long to send.
fn with_call(failure: Failure, when: &str, call: Option<String>) -> Failure {
    let Some(call) = call else { return failure };
    if call.len() > limits::CORRECTED_CALL_BYTES {
        return failure.hint(format!("{when}, correct \"old\" so"));
    }
    failure.hint(format!("{when}, send: {call}"))
}

/// The call that was refused, for writing it with one edit changed.
struct Refused<'c> {
    target: &'c Target<'c>,
    edits: &'c [Edit],
    number: usize,
}

impl Refused<'_> {
    /// Writes the call with the edit changed that was refused.
    fn with(&self, change: impl FnOnce(&mut Edit)) -> Option<String> {
        let mut edits = self.edits.to_vec();
        if let Some(edit) = edits.get_mut(self.number) {
            change(edit);
        }
        let fields = |edit: &Edit| {
            let mut fields = Map::new();
            fields.insert("old".to_owned(), edit.old.clone().into());
            fields.insert("new".to_owned(), edit.new.clone().into());
            if edit.replace_all {
                fields.insert("replace_all".to_owned(), true.into());
            }
            fields
        };
        let mut call = Map::new();
        call.insert("action".to_owned(), "edit".into());
        call.insert("path".to_owned(), self.target.path().as_str().into());
        match edits.as_slice() {
            [only] => call.extend(fields(only)),
            _ => {
                call.insert("edits".to_owned(), edits.iter().map(fields).collect());
            }
        }
        speech::call(self.target.call, EDITOR, call)
    }
}

/// Shows the place that is most like what was looked for, and where it begins to differ.
fn place(nearest: &Nearest, encoding: Encoding, edits_before: usize) -> String {
    let lines = if nearest.first_line == nearest.last_line {
        format!("line {}", nearest.first_line)
    } else {
        format!("lines {} to {}", nearest.first_line, nearest.last_line)
    };
    let counted = if edits_before > 0 { ", counted after the edits before" } else { "" };
    let mut text = format!("The nearest place is {lines}{counted}:\n");
    let width = nearest.last_line.to_string().len();
    let shown = nearest.text.split_inclusive('\n').zip(nearest.first_line..);
    for (line, number) in shown.take(limits::NEAREST_LINES) {
        let line = visible(line.trim_end_matches(['\r', '\n'])).into_owned();
        text.push_str(&format!("{number:>width$}\t{line}\n"));
    }
    let Difference { line, column, given, there, .. } = &nearest.differs;
    text.push_str(&format!(
        "It differs from line {line}, column {column} on: \"old\" has {}, the file has {}",
        beginning(given, encoding),
        beginning(there, encoding)
    ));
    text
}

/// Shows how a text goes on, and the bytes of its first character.
fn beginning(text: &str, encoding: Encoding) -> String {
    let Some(first) = text.chars().next() else { return "no more".to_owned() };
    let first = first.to_string();
    let bytes = encoding.encode(&first).unwrap_or(first.as_bytes().into());
    let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("`{}` ({})", visible_line(text), bytes.join(" "))
}

fn ambiguous(
    path: &LogicalPath,
    grade: MatchGrade,
    lines: &[u64],
    has_more: bool,
    is_overlapping: bool,
) -> String {
    let mut places = counted(lines.len() as u64, "place", "places");
    if has_more {
        places = format!("more than {places}");
    }
    let mut unique = lines.to_vec();
    unique.dedup();
    let numbers: Vec<String> = unique.iter().map(|line| grouped(*line)).collect();
    let lines = if unique.len() == 1 { "line" } else { "lines" };
    let apart =
        if grade == MatchGrade::Exact { String::new() } else { format!(", but for {grade}") };
    let overlap = if is_overlapping { ", which overlap" } else { "" };
    format!(
        "\"old\" stands in {places} of `{path}`{apart}{overlap} ({lines} {})",
        numbers.join(", ")
    )
}

/// Says how to mean one of several places, or all.
fn told_apart(
    mut failure: Failure,
    only: &[Around],
    is_overlapping: bool,
    call: &Refused<'_>,
) -> Failure {
    if only.is_empty() {
        failure =
            failure.hint("give \"old\" with more lines around it, so that it stands only once");
    }
    for around in only {
        let send = call.with(|it| {
            it.old = format!("{}{}{}", around.before, it.old, around.after);
            it.new = format!("{}{}{}", around.before, it.new, around.after);
            it.replace_all = false;
        });
        failure = with_call(failure, &format!("for the one in line {}", around.line), send);
    }
    if is_overlapping {
        return failure;
    }
    let send = call.with(|it| it.replace_all = true);
    with_call(failure, "for all of them", send)
}
