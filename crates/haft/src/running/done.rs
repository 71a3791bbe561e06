//! What a call had done that let another model work, by the record of that work.

use haft_protocol::{CallId, Outcome, RequestedCall, RunEntry, Status};
use haft_store::{Store, StoreError};

/// Calls that are named, the latest ones.
const NAMED: usize = 20;

/// Paths that are named of one call.
const PATHS: usize = 10;

/// Tells what is on record of the run that a call began, one thing a line; nothing where it began none.
pub(super) fn by_call(store: &Store, call: CallId) -> Result<Vec<String>, StoreError> {
    let runs = store.runs();
    let Some(run) = runs.begun_by(call)? else { return Ok(Vec::new()) };
    let record = runs.read(run.id)?;
    let mut lines = vec![format!("it is on record as run {}", run.id.short())];
    let done = calls(&record.entries);
    let left_out = done.len().saturating_sub(NAMED);
    if left_out > 0 {
        lines.push(format!("{left_out} calls before these"));
    }
    lines.extend(done.into_iter().skip(left_out));
    if lines.len() == 1 {
        lines.push("it had made no calls".to_owned());
    }
    lines.extend(record.unreadable.map(|it| it.to_string()));
    Ok(lines)
}

/// Says of each call how it ended, in the order of the calls.
fn calls(entries: &[RunEntry]) -> Vec<String> {
    let mut asked: Vec<(&RequestedCall, Option<&Outcome>)> = Vec::new();
    for entry in entries {
        match entry {
            RunEntry::Replied(reply) => asked.extend(reply.calls().map(|call| (call, None))),
            RunEntry::Ended { call, outcome } => {
                if let Some((_, end)) = asked.iter_mut().find(|(it, _)| it.id == *call) {
                    *end = Some(outcome);
                }
            }
            _ => {}
        }
    }
    asked.into_iter().map(|(call, end)| line(call, end)).collect()
}

fn line(call: &RequestedCall, end: Option<&Outcome>) -> String {
    let tool = haft_text::visible_line(haft_text::head(&call.tool, 100)).into_owned();
    let Some(outcome) = end else { return format!("`{tool}`: its end is not known") };
    let status = match &outcome.status {
        Status::Ok => "done",
        Status::Failed(_) => "failed",
        Status::Denied(_) => "denied",
        Status::Cancelled => "cancelled",
        Status::TimedOut { .. } => "out of time",
    };
    let paths: Vec<String> = outcome
        .changes
        .iter()
        .take(PATHS)
        .map(|it| format!("`{}`", haft_text::visible_line(it.path.as_str())))
        .collect();
    match (paths.as_slice(), outcome.changes.len().saturating_sub(PATHS)) {
        ([], _) => format!("`{tool}`: {status}"),
        (paths, 0) => format!("`{tool}`: {status}, changed {}", paths.join(", ")),
        (paths, more) => {
            format!("`{tool}`: {status}, changed {} and {more} more", paths.join(", "))
        }
    }
}
