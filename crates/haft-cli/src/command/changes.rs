//! `haft changes`: list what calls changed in files.

use std::collections::HashSet;
use std::num::NonZeroU32;

use clap::Args;
use haft::ports::Effects as _;
use haft::store::{CallDetail, IdQuery, Store, StoreError};
use haft::{
    CallId, ChangeKind, EffectRecord, EffectState, Evidence, FileState, LogicalPath, Timestamp,
    limits,
};
use serde::Serialize;
use serde_json::Value;

use super::{Invocation, log};
use crate::assemble::UserMistake;
use crate::exit::Exit;
use crate::print::{Printer, Tone};
use crate::when;

/// List what calls changed in the files of this workspace, newest first
#[derive(Debug, Args)]
pub(crate) struct ChangesArgs {
    /// Only these calls: ids, or the first or last four letters or more of them
    calls: Vec<String>,

    /// How many calls to list
    #[arg(long, short = 'n', default_value = "20", conflicts_with = "calls")]
    limit: NonZeroU32,
}

/// What one call changed.
#[derive(Debug, Serialize)]
pub(super) struct Changed {
    pub(super) call: CallId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) at: Option<Timestamp>,
    /// Whether a later call took its changes back.
    pub(super) undone: bool,
    pub(super) changes: Vec<EffectRecord>,
    /// The call whose changes this one took back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) undoes: Option<CallId>,
}

pub(crate) fn run(invocation: &Invocation<'_>, args: &ChangesArgs) -> anyhow::Result<Exit> {
    let store = invocation.store()?;
    let printer = invocation.printer;
    let latest = latest(invocation, &store, limits::LOG_CALLS_MAX)?;
    let listed = if args.calls.is_empty() {
        let most = usize::try_from(args.limit.get()).unwrap_or(usize::MAX);
        latest.into_iter().take(most).collect()
    } else {
        let mut listed = Vec::new();
        for text in &args.calls {
            let Some(call) = find(printer, &store, text)? else { return Ok(Exit::Failed) };
            let known = latest.iter().find(|it| it.call == call);
            let is_undone = known.is_some_and(|it| it.undone);
            listed.push(Changed { undone: is_undone, ..changed(&store, call)? });
        }
        listed
    };
    if printer.is_json() {
        return printer.envelope(Exit::Ok, listed);
    }
    if listed.is_empty() {
        printer.text("no change of a file in this workspace is on record");
    }
    for call in &listed {
        print(printer, call);
    }
    Ok(Exit::Ok)
}

fn print(printer: Printer, call: &Changed) {
    let tool = call.tool.as_deref().unwrap_or("a call that is no longer on record");
    let tool = tool.rsplit('/').next().unwrap_or(tool);
    let at = call.at.map(when::show).unwrap_or_default();
    let undone = if call.undone { "  taken back" } else { "" };
    printer.line(&[
        (Tone::Strong, &call.call.short()),
        (Tone::Faint, &format!("  {at}  ")),
        (Tone::Plain, tool),
        (Tone::Warn, undone),
    ]);
    for effect in &call.changes {
        let (word, tone) = match effect.change.kind {
            ChangeKind::Created => ("created ", Tone::Good),
            ChangeKind::Modified => ("changed ", Tone::Plain),
            ChangeKind::Deleted => ("deleted ", Tone::Bad),
            ChangeKind::Moved { .. } => ("moved   ", Tone::Plain),
        };
        let mut text = shown_path(effect, &effect.change.path);
        if let ChangeKind::Moved { from } = &effect.change.kind {
            text.push_str(&format!("  from {}", shown_path(effect, from)));
        }
        let mut remarks = Vec::new();
        if effect.change.evidence == Evidence::Observed {
            remarks.push("seen".to_owned());
        }
        if effect.state == EffectState::Announced {
            remarks.push("cut short".to_owned());
        }
        if let Some(why) = &effect.change.not_restorable {
            remarks.push(format!("not restorable: {why}"));
        }
        let remarks = match remarks.as_slice() {
            [] => String::new(),
            remarks => format!("  ({})", remarks.join("; ")),
        };
        printer.line(&[
            (Tone::Plain, "  "),
            (tone, word),
            (Tone::Plain, &text),
            (Tone::Faint, &remarks),
        ]);
    }
}

/// Shows a path, with a slash where it is a directory.
fn shown_path(effect: &EffectRecord, path: &LogicalPath) -> String {
    let is_directory =
        |state: &Option<FileState>| matches!(state, Some(FileState::Directory { .. }));
    let slash = is_directory(&effect.change.after)
        || (effect.change.after.is_none() && is_directory(&effect.change.before));
    format!("{path}{}", if slash { "/" } else { "" })
}

/// Returns the latest calls that changed something in this workspace, with what became of them.
pub(super) fn latest(
    invocation: &Invocation<'_>,
    store: &Store,
    limit: u32,
) -> anyhow::Result<Vec<Changed>> {
    let root = log::workspace(invocation)?;
    let mut undone = HashSet::new();
    let mut latest = Vec::new();
    for call in store.changed_calls([root.as_path()], limit)? {
        let changed = changed(store, call)?;
        let is_undone = undone.contains(&call);
        // What took changes back counts until it was taken back itself.
        if let Some(undoes) = changed.undoes.filter(|_| !is_undone) {
            undone.insert(undoes);
        }
        latest.push(Changed { undone: is_undone, ..changed });
    }
    Ok(latest)
}

fn changed(store: &Store, call: CallId) -> anyhow::Result<Changed> {
    let changes = store.of_call(call)?.into_iter();
    let changes = changes.filter(|it| it.state != EffectState::NotDone).collect();
    let detail = match store.show(&IdQuery::Id(call)) {
        Ok(detail) => Some(detail),
        Err(StoreError::NoSuchCall { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    Ok(Changed {
        call,
        tool: detail.as_ref().map(|it| it.summary.tool.clone()),
        at: detail.as_ref().map(|it| it.summary.at),
        undone: false,
        changes,
        undoes: detail.as_ref().and_then(undoes),
    })
}

fn undoes(detail: &CallDetail) -> Option<CallId> {
    let is_undo = detail.intent.tool.as_ref().is_ok_and(|name| name.to_string() == "builtin/undo");
    let call = detail.intent.arguments.get("call").and_then(Value::as_str);
    call.filter(|_| is_undo)?.parse().ok()
}

/// Finds the call that a text means, and says so where there is none.
pub(super) fn find(printer: Printer, store: &Store, text: &str) -> anyhow::Result<Option<CallId>> {
    let query: IdQuery =
        text.parse().map_err(|error: StoreError| UserMistake::new(error.to_string()))?;
    match store.show(&query) {
        Ok(detail) => Ok(Some(detail.summary.id)),
        Err(error @ StoreError::NoSuchCall { .. }) => {
            let hint = "`haft changes` lists the calls that changed something".to_owned();
            printer.error(Exit::Failed, "not_found", &error.to_string(), &[hint]);
            Ok(None)
        }
        Err(error @ StoreError::AmbiguousCall { .. }) => {
            Err(UserMistake::new(error.to_string()).into())
        }
        Err(error) => Err(error.into()),
    }
}
