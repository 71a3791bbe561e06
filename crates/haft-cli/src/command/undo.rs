//! `haft undo`: take back what a call or a run changed.

mod run;

use std::num::NonZeroU32;
use std::sync::Arc;

use clap::Args;
use haft::coding::{UndoOutput, UndoResult};
use haft::ports::Effects as _;
use haft::store::{CallDetail, IdQuery, LogFilter, RunSummary, Store, StoreError};
use haft::workspace::undo_paths;
use haft::{CallId, Haft, Outcome, ToolCall};
use serde_json::json;

use super::call::{finished, show};
use super::{Invocation, changes, log};
use crate::approver::TerminalApprover;
use crate::assemble::{UserMistake, open};
use crate::exit::Exit;
use crate::print::{Printer, Tone};
use crate::when;
pub(super) use run::these as calls;

/// How many calls are looked through for the latest one that can be taken back.
const LOOKED_THROUGH: u32 = 1_000;

/// Take back what a call or a run changed in files
///
/// Says first what would be done, and asks. A file that was changed since is not overwritten: the call's lines are taken
/// out of it where they can be told apart, else it stays. Taking back is a call too, and can be taken back.
#[derive(Debug, Args)]
pub(crate) struct UndoArgs {
    /// The call: its id, the first or last four letters or more of it, or `last` for the latest that changed something in
    /// this workspace and was not taken back yet; or a run of a model, in the same ways, `last-run` for the latest
    #[arg(default_value = "last")]
    call: String,

    /// Only say what would be done
    #[arg(long, short = 'n')]
    dry_run: bool,
}

pub(crate) async fn run(invocation: &Invocation<'_>, args: UndoArgs) -> anyhow::Result<Exit> {
    let printer = invocation.printer;
    let haft = open(invocation)?;
    let Some(store) = haft.store() else {
        return Err(UserMistake::new(
            "`--no-state` keeps no records, so nothing can be taken back",
        )
        .into());
    };
    if let Some(found) = meant_run(invocation, store, &args.call)? {
        return run::take_back(invocation, &haft, store, &found, args.dry_run).await;
    }
    let Some(call) = meant(invocation, store, &args.call)? else { return Ok(Exit::Failed) };
    let effects = store.of_call(call)?;
    let (paths, unreachable) = reachable(&haft, undo_paths(&effects, haft.workspace()));
    if paths.is_empty() && unreachable.is_empty() {
        let text = format!("no change of a file in this workspace is on record for call {call}");
        let hint = "`haft changes` lists the calls that changed something".to_owned();
        return Ok(printer.error(Exit::Failed, "not_found", &text, &[hint]));
    }
    if !printer.is_json() {
        name(printer, store, call)?;
        if args.call.eq_ignore_ascii_case("last") {
            passed_over(invocation, store, call)?;
        }
        for (path, why) in &unreachable {
            printer.aside(Tone::Warn, "stays", &format!("{path}: {why}"));
        }
    }
    if paths.is_empty() {
        let text = "none of the paths that the call changed can be reached";
        return Ok(printer.error(Exit::Failed, "failed", text, &[]));
    }

    let says_yes = invocation.global.yes;
    // Where nobody said `--yes`, it is done only after the person agreed to it.
    let undo = async |dry_run: bool| -> anyhow::Result<(CallId, Outcome)> {
        let arguments = json!({ "call": call, "paths": paths, "dry_run": dry_run });
        let made = ToolCall::new(haft.dispatch().ports().call_id(), "undo", arguments);
        if !dry_run && !says_yes {
            invocation.agreed.to(made.id);
        }
        Ok((made.id, finished(invocation, &haft, made).await?))
    };
    if args.dry_run || !says_yes {
        let (made, preview) = undo(true).await?;
        let exit = exit_of(&preview);
        let would_do = changes_something(&preview);
        if args.dry_run || !preview.is_ok() || !would_do {
            return report(printer, exit, made, &preview);
        }
        if printer.is_json() {
            return Err(UserMistake::new("nobody can be asked with `--json`")
                .hint("look at it with `--dry-run`, then say `--yes`")
                .into());
        }
        show(printer, &preview);
        if !agreed(invocation).await? {
            printer.aside(Tone::Faint, "note", "nothing was done");
            return Ok(Exit::Failed);
        }
    }
    let (made, outcome) = undo(false).await?;
    report(printer, exit_of(&outcome), made, &outcome)
}

/// Returns the run that a text means, where it means no call.
pub(super) fn meant_run(
    invocation: &Invocation<'_>,
    store: &Store,
    text: &str,
) -> anyhow::Result<Option<RunSummary>> {
    let last = || log::workspace(invocation);
    run::meant(store, text, last)
}

/// Finds the call that is meant, and says so where there is none.
fn meant(invocation: &Invocation<'_>, store: &Store, text: &str) -> anyhow::Result<Option<CallId>> {
    if !text.eq_ignore_ascii_case("last") {
        return Ok(changes::find(invocation.printer, store, text)?.map(|it| it.call));
    }
    let latest = changes::latest(invocation, store, LOOKED_THROUGH)?;
    let open = latest.calls.into_iter().find(|it| !it.undone && it.undoes.is_none());
    if open.is_none() {
        let text = "nothing is left to be taken back in this workspace";
        let hint = "`haft changes` lists what was changed and what was taken back".to_owned();
        invocation.printer.error(Exit::Failed, "not_found", text, &[hint]);
    }
    Ok(open.map(|it| it.call))
}

/// Says which call is taken back.
fn name(printer: Printer, store: &Store, call: CallId) -> anyhow::Result<()> {
    let text = match store.show(&IdQuery::Id(call)) {
        Ok(CallDetail { summary, .. }) => {
            let tool = summary.tool.rsplit('/').next().unwrap_or(&summary.tool).to_owned();
            format!("`{tool}` of {} ({})", when::show(summary.at), call.short())
        }
        Err(StoreError::NoSuchCall { .. }) => format!("call {call}"),
        Err(error) => return Err(error.into()),
    };
    printer.aside(Tone::Strong, "undo", &text);
    Ok(())
}

/// Says that a later call ran programs and has no change on record, for it may be the one that was meant.
fn passed_over(invocation: &Invocation<'_>, store: &Store, call: CallId) -> anyhow::Result<()> {
    let latest = LogFilter {
        tool: Some("builtin/bash".to_owned()),
        root: Some(log::workspace(invocation)?),
        limit: Some(NonZeroU32::MIN),
        ..LogFilter::default()
    };
    let Some(ran) = store.log(&latest)?.into_iter().next() else { return Ok(()) };
    if ran.id > call && ran.attempts > 0 && store.of_call(ran.id)?.is_empty() {
        let text = format!(
            "`bash` of {} ({}) ran later; no change by it is on record",
            when::show(ran.at),
            ran.id.short()
        );
        invocation.printer.aside(Tone::Warn, "note", &text);
    }
    Ok(())
}

/// Parts the paths that tools may write in the workspace from those that they may not, and says why not.
fn reachable(haft: &Haft, paths: Vec<String>) -> (Vec<String>, Vec<(String, String)>) {
    let (mut reached, mut unreachable) = (Vec::new(), Vec::new());
    for path in paths {
        match haft.workspace().resolve_to_take_back(&path) {
            Ok(_) => reached.push(path),
            Err(error) => unreachable.push((path, error.to_string())),
        }
    }
    (reached, unreachable)
}

async fn agreed(invocation: &Invocation<'_>) -> anyhow::Result<bool> {
    let progress = Arc::clone(&invocation.progress);
    let approver = TerminalApprover::new(invocation.user(), invocation.printer.is_json(), progress);
    match approver.confirm("Take these changes back?").await {
        Some(agreed) => Ok(agreed),
        None => Err(UserMistake::new("there is no terminal to ask at, so nothing was done")
            .hint("say `--yes` to take the changes back")
            .into()),
    }
}

fn value(outcome: &Outcome) -> Option<UndoOutput> {
    serde_json::from_value(outcome.structured.clone()?).ok()
}

fn changes_something(preview: &Outcome) -> bool {
    let is_deed = |result| !matches!(result, UndoResult::AsBefore | UndoResult::Stays);
    value(preview).is_none_or(|it| it.steps.iter().any(|step| is_deed(step.result)))
}

/// What stays although the call changed it counts as a failure, for a script wants to know.
fn exit_of(outcome: &Outcome) -> Exit {
    let stays = |it: UndoOutput| it.steps.iter().any(|step| step.result == UndoResult::Stays);
    match Exit::of(outcome) {
        Exit::Ok if value(outcome).is_some_and(stays) => Exit::Failed,
        exit => exit,
    }
}

fn report(printer: Printer, exit: Exit, call: CallId, outcome: &Outcome) -> anyhow::Result<Exit> {
    if printer.is_json() {
        let text = outcome.model_text();
        return printer.envelope(exit, json!({ "call": call, "text": text, "outcome": outcome }));
    }
    show(printer, outcome);
    Ok(exit)
}
