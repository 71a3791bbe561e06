//! What a call had done by the time nobody knows how it went on: what it changed, and the work of the model that it let
//! work.

use haft_protocol::{CallId, EffectState, LogicalPath, Outcome, RequestedCall, RunEntry, Status};
use haft_store::{CallFate, Store, StoreError};
use haft_tool::ports::Effects as _;

/// Calls that are named, the latest ones.
const NAMED: usize = 20;

/// Paths that are named of one call.
const PATHS: usize = 10;

/// Tells what is on record of a call whose end is not, one thing a line.
pub(super) fn by_call(store: &Store, call: CallId) -> Result<Vec<String>, StoreError> {
    let mut lines = Vec::new();
    let changed = changed_by(store, call);
    if !changed.is_empty() {
        lines.push(format!("it {changed}"));
    }
    let runs = store.runs();
    let Some(run) = runs.begun_by(call)? else { return Ok(lines) };
    let record = runs.read(run.id)?;
    lines.push(format!("it is on record as run {}", run.id.short()));
    let done = calls(store, &record.entries)?;
    let left_out = done.len().saturating_sub(NAMED);
    if left_out > 0 {
        lines.push(format!("{left_out} calls before these"));
    }
    if done.is_empty() {
        lines.push("it had made no calls".to_owned());
    }
    lines.extend(done.into_iter().skip(left_out));
    lines.extend(record.unreadable.map(|it| it.to_string()));
    Ok(lines)
}

/// Says of each call how it ended, in the order of the calls.
fn calls(store: &Store, entries: &[RunEntry]) -> Result<Vec<String>, StoreError> {
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
    asked
        .into_iter()
        .map(|(call, end)| {
            let how = match end {
                Some(outcome) => ended(outcome),
                None => by_journal(store, call.id)?,
            };
            let tool = haft_text::visible_line(haft_text::head(&call.tool, 100));
            Ok(format!("`{tool}`: {how}"))
        })
        .collect()
}

/// Says how a call ended of which its run has no end: the journal may know more.
fn by_journal(store: &Store, call: CallId) -> Result<String, StoreError> {
    Ok(match store.fate(call)? {
        CallFate::NeverStarted | CallFate::Waiting(_) => "was not made".to_owned(),
        CallFate::Ended(end) => ended(&end.record.outcome),
        CallFate::Started(_) => match changed_by(store, call) {
            changed if changed.is_empty() => "its end is not known".to_owned(),
            changed => format!("its end is not known, {changed}"),
        },
    })
}

fn ended(outcome: &Outcome) -> String {
    let status = match &outcome.status {
        Status::Ok => "done",
        Status::Failed(_) => "failed",
        Status::Denied(_) => "denied",
        Status::Cancelled => "cancelled",
        Status::TimedOut { .. } => "out of time",
    };
    let changed = changed(outcome.changes.iter().map(|it| &it.path));
    if changed.is_empty() { status.to_owned() } else { format!("{status}, {changed}") }
}

/// Says what a call has changed in files so far; nothing where it has changed none.
fn changed_by(store: &Store, call: CallId) -> String {
    match store.of_call(call) {
        Ok(effects) => {
            let done = effects.iter().filter(|it| it.state == EffectState::Done);
            changed(done.map(|it| &it.change.path))
        }
        Err(error) => format!("changed what cannot be read: {error}"),
    }
}

fn changed<'a>(paths: impl Iterator<Item = &'a LogicalPath>) -> String {
    let mut named: Vec<String> =
        paths.map(|it| format!("`{}`", haft_text::visible_line(it.as_str()))).collect();
    named.dedup();
    let more = named.len().saturating_sub(PATHS);
    named.truncate(PATHS);
    match (named.as_slice(), more) {
        ([], _) => String::new(),
        (paths, 0) => format!("changed {}", paths.join(", ")),
        (paths, more) => format!("changed {} and {more} more", paths.join(", ")),
    }
}
