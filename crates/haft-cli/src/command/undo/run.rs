//! Taking back what a run changed, call by call.

use std::io::IsTerminal as _;
use std::num::NonZeroU32;
use std::path::PathBuf;

use haft::ports::Effects as _;
use haft::store::{RunFilter, RunQuery, RunSummary, Store, StoreError};
use haft::workspace::undo_paths;
use haft::{CallId, Haft, ToolCall};
use serde_json::json;

use super::{agreed, exit_of, reachable};
use crate::assemble::UserMistake;
use crate::command::call::{finished, show};
use crate::command::{Invocation, changes};
use crate::exit::Exit;
use crate::print::{Printer, Tone};

/// Returns the run that a text means, where it means no call.
pub(super) fn meant(
    store: &Store,
    text: &str,
    workspace: impl Fn() -> anyhow::Result<PathBuf>,
) -> anyhow::Result<Option<RunSummary>> {
    if text.eq_ignore_ascii_case("last-run") {
        let filter = RunFilter {
            limit: Some(NonZeroU32::MIN),
            root: Some(workspace()?),
            asked: true,
            ..RunFilter::default()
        };
        let latest = store.runs().list(&filter)?.into_iter().next();
        return match latest {
            Some(run) => Ok(Some(run)),
            None => Err(UserMistake::new("no run of this workspace is on record").into()),
        };
    }
    if text.eq_ignore_ascii_case("last") {
        return Ok(None);
    }
    let is_call = text
        .parse()
        .is_ok_and(|query| !matches!(store.show(&query), Err(StoreError::NoSuchCall { .. })));
    let query: Result<RunQuery, StoreError> = text.parse();
    let (false, Ok(query)) = (is_call, query) else { return Ok(None) };
    match store.runs().find(&query) {
        Ok(found) => Ok(Some(found)),
        Err(StoreError::NoSuchRun { .. }) => Ok(None),
        Err(error @ StoreError::AmbiguousRun { .. }) => {
            Err(UserMistake::new(error.to_string()).into())
        }
        Err(error) => Err(error.into()),
    }
}

/// Takes back what a run changed and was not taken back yet, the latest call first.
pub(super) async fn take_back(
    invocation: &Invocation<'_>,
    haft: &Haft,
    store: &Store,
    run: &RunSummary,
    dry_run: bool,
) -> anyhow::Result<Exit> {
    let printer = invocation.printer;
    if let (Some(_), above) = (run.parent, run.parent_run) {
        let text = format!(
            "run {} is a subagent's: what it changed is of the run it worked for",
            run.id.short()
        );
        let hint = above.map(|it| format!("`haft undo {}` takes back all of that run", it.short()));
        return Ok(printer.error(Exit::Failed, "not_found", &text, &Vec::from_iter(hint)));
    }
    let changed = changes::latest(invocation, store, super::LOOKED_THROUGH)?;
    let is_its = |it: &&haft::ChangedCall| it.run == Some(run.id) && !it.undone;
    let calls: Vec<CallId> = changed
        .calls
        .iter()
        .filter(is_its)
        .filter(|it| it.undoes.is_none())
        .map(|it| it.call)
        .collect();
    if calls.is_empty() {
        let text = format!(
            "run {} has changed nothing in this workspace that is left to be taken back",
            run.id
        );
        return Ok(printer.error(Exit::Failed, "not_found", &text, &[]));
    }
    if !printer.is_json() {
        let of = format!("{} ({})", run.title, run.id.short());
        printer.aside(Tone::Strong, "undo", &of);
        list(printer, haft, store, &calls)?;
    }
    if dry_run {
        if printer.is_json() {
            return printer.envelope(Exit::Ok, json!({ "run": run.id, "calls": calls }));
        }
        return Ok(Exit::Ok);
    }
    if !invocation.global.yes {
        if printer.is_json() {
            return Err(UserMistake::new("nobody can be asked with `--json`")
                .hint("look at it with `--dry-run`, then say `--yes`")
                .into());
        }
        if !agreed(invocation).await? {
            printer.aside(Tone::Faint, "note", "nothing was done");
            return Ok(Exit::Failed);
        }
    }
    made(invocation, haft, &calls, !invocation.global.yes).await
}

/// Takes back what calls changed, in this order. The person is asked once, where there is one.
pub(crate) async fn these(
    invocation: &Invocation<'_>,
    haft: &Haft,
    calls: &[CallId],
) -> anyhow::Result<Exit> {
    let Some(store) = haft.store() else { return Ok(Exit::Failed) };
    let is_asked = !invocation.global.yes && std::io::stdin().is_terminal();
    if is_asked {
        list(invocation.printer, haft, store, calls)?;
        if !agreed(invocation).await? {
            invocation.printer.aside(Tone::Faint, "note", "nothing was done");
            return Ok(Exit::Failed);
        }
    }
    made(invocation, haft, calls, is_asked).await
}

/// Says what would be taken back, call by call.
fn list(printer: Printer, haft: &Haft, store: &Store, calls: &[CallId]) -> anyhow::Result<()> {
    for call in calls {
        let effects = store.of_call(*call)?;
        let paths = undo_paths(&effects, haft.workspace());
        printer.text(&format!("{}  {}", call.short(), paths.join(", ")));
    }
    Ok(())
}

/// Makes the calls that take back what calls changed. Where the person agreed to that, they are not asked again.
async fn made(
    invocation: &Invocation<'_>,
    haft: &Haft,
    calls: &[CallId],
    is_agreed: bool,
) -> anyhow::Result<Exit> {
    let printer = invocation.printer;
    let Some(store) = haft.store() else { return Ok(Exit::Failed) };
    let (mut exit, mut made) = (Exit::Ok, Vec::new());
    for call in calls {
        let effects = store.of_call(*call)?;
        let (paths, unreachable) = reachable(haft, undo_paths(&effects, haft.workspace()));
        for (path, why) in &unreachable {
            exit = Exit::Failed;
            printer.aside(Tone::Warn, "stays", &format!("{path}: {why}"));
        }
        if paths.is_empty() {
            continue;
        }
        let arguments = json!({ "call": call, "paths": paths, "dry_run": false });
        let undo = ToolCall::new(haft.dispatch().ports().call_id(), "undo", arguments);
        let id = undo.id;
        if is_agreed {
            invocation.agreed.to(id);
        }
        let outcome = finished(invocation, haft, undo).await?;
        if exit_of(&outcome) != Exit::Ok {
            exit = Exit::Failed;
        }
        if !printer.is_json() {
            show(printer, &outcome);
        }
        made.push(json!({ "call": id, "undoes": call, "outcome": outcome }));
    }
    if printer.is_json() {
        return printer.envelope(exit, json!({ "calls": made }));
    }
    Ok(exit)
}
