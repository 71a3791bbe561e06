//! `haft changes`: list what calls changed in files.

use std::num::NonZeroU32;

use clap::Args;
use haft::ports::Effects as _;
use haft::store::{CallDetail, IdQuery, Store, StoreError};
use haft::{
    ChangeKind, ChangedCall, ChangedCalls, EffectRecord, EffectState, Evidence, FileState,
    LogicalPath, limits,
};
use serde::Serialize;

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
struct Changed {
    #[serde(flatten)]
    call: ChangedCall,
    changes: Vec<EffectRecord>,
}

pub(crate) fn run(invocation: &Invocation<'_>, args: &ChangesArgs) -> anyhow::Result<Exit> {
    let store = invocation.store()?;
    let printer = invocation.printer;
    let (calls, left_out) = if args.calls.is_empty() {
        let latest = latest(invocation, &store, args.limit.get().min(limits::LOG_CALLS_MAX))?;
        let left_out = log::earlier(latest.calls.len() as u64, latest.earlier);
        (latest.calls, left_out)
    } else {
        let latest = latest(invocation, &store, limits::LOG_CALLS_MAX)?.calls;
        let mut named = Vec::new();
        for text in &args.calls {
            let Some(call) = find(printer, &store, text)? else { return Ok(Exit::Failed) };
            match latest.iter().find(|it| it.call == call.call) {
                Some(known) => named.push(known.clone()),
                None => named.push(call),
            }
        }
        (named, None)
    };
    let listed: anyhow::Result<Vec<Changed>> = calls
        .into_iter()
        .map(|call| {
            let changes = store.of_call(call.call)?.into_iter();
            let changes = changes.filter(|it| it.state != EffectState::NotDone).collect();
            Ok(Changed { call, changes })
        })
        .collect();
    let listed = listed?;
    if printer.is_json() {
        return printer.envelope_of_part(Exit::Ok, listed, left_out.as_ref());
    }
    if listed.is_empty() {
        printer.text("no change of a file in this workspace is on record");
    }
    for call in &listed {
        print(printer, call);
    }
    if let Some(bound) = left_out {
        printer.aside(Tone::Warn, "bound", &bound.to_string());
    }
    Ok(Exit::Ok)
}

fn print(printer: Printer, Changed { call, changes }: &Changed) {
    let tool = call.tool.as_deref().unwrap_or("a call that is no longer on record");
    let tool = tool.rsplit('/').next().unwrap_or(tool);
    let undone = if call.undone { "  taken back" } else { "" };
    printer.line(&[
        (Tone::Strong, &call.call.short()),
        (Tone::Faint, &format!("  {}", when::show(call.at))),
        (Tone::Plain, "  "),
        (Tone::Plain, tool),
        (Tone::Warn, undone),
    ]);
    for effect in changes {
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
) -> anyhow::Result<ChangedCalls> {
    let root = log::workspace(invocation)?;
    Ok(store.changed_calls(&[root.to_string_lossy().into_owned()], limit)?)
}

/// Finds the call that a text means, and says so where there is none.
pub(super) fn find(
    printer: Printer,
    store: &Store,
    text: &str,
) -> anyhow::Result<Option<ChangedCall>> {
    let query: IdQuery =
        text.parse().map_err(|error: StoreError| UserMistake::new(error.to_string()))?;
    match store.show(&query) {
        Ok(CallDetail { summary, .. }) => Ok(Some(ChangedCall {
            call: summary.id,
            tool: Some(summary.tool),
            run: Some(summary.run),
            at: summary.at,
            undone: false,
            undoes: None,
        })),
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
