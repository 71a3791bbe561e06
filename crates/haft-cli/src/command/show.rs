//! `haft show`: show one recorded call, one run, or the bytes of an artifact.

mod run;

use std::num::NonZeroU32;

use clap::Args;
use haft::store::{CallDetail, IdQuery, LogFilter, RunSummary, Store, StoreError};
use haft::{ArtifactId, BindingRecord, Status};

use super::call::show as show_outcome;
use super::{Invocation, log, undo};
use crate::assemble::UserMistake;
use crate::exit::Exit;
use crate::print::{Printer, Tone};
use crate::when;

/// Calls above a call that are looked at for the runs it is of: subagents are not as deep, nor calls within calls.
const CALLS_ABOVE: usize = 32;

/// Show one recorded call, or one run of a model
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The call: its id, the first or last four letters or more of it, or `last` for the latest of this workspace; or a
    /// run, in the same ways, `last-run` for the latest; or the id of an artifact, whose bytes are written as they are
    id: String,
}

pub(crate) fn run(invocation: &Invocation<'_>, args: &ShowArgs) -> anyhow::Result<Exit> {
    let store = invocation.store()?;
    let printer = invocation.printer;
    if let Some(found) = undo::meant_run(invocation, &store, &args.id)? {
        return run::show(printer, &store, &found);
    }
    let mut query: IdQuery = args.id.parse().map_err(|error| {
        UserMistake::new(match error {
            StoreError::NotAnId { query } => format!(
                "`{query}` is neither a call nor a run: expected `last`, `last-run`, an id, or at least 4 characters of its \
                 begin or end"
            ),
            error => error.to_string(),
        })
    })?;
    if query == IdQuery::Last {
        let root = Some(log::workspace(invocation)?);
        let latest = LogFilter { limit: Some(NonZeroU32::MIN), root, ..LogFilter::default() };
        let Some(call) = store.log(&latest)?.pop() else {
            let hint = "`haft call` makes one; `haft log --all` lists those of all workspaces";
            return Ok(not_found(printer, "no calls of this workspace are recorded yet", hint));
        };
        query = call.id.into();
    }
    match store.show(&query) {
        Ok(detail) => {
            let runs = runs_of(&store, &detail)?;
            if printer.is_json() {
                let mut data = serde_json::to_value(&detail)?;
                if let (Some(data), false) = (data.as_object_mut(), runs.is_empty()) {
                    data.insert("runs".to_owned(), serde_json::to_value(&runs)?);
                }
                return printer.envelope(Exit::Ok, data);
            }
            print(printer, &detail, &runs);
            Ok(Exit::Ok)
        }
        Err(StoreError::NoSuchCall { query }) => {
            let found = args.id.parse().map(|id: ArtifactId| store.artifact(id));
            match found {
                Ok(Ok(found)) => artifact(printer, &found),
                Ok(Err(StoreError::NoSuchArtifact { id })) => {
                    let text = format!("no call and no artifact `{id}` is on record");
                    Ok(not_found(printer, &text, "what is too old is removed, see `haft state gc`"))
                }
                Ok(Err(error)) => Err(error.into()),
                Err(_) => {
                    let text = format!(
                        "no call and no run on record has an id that is, begins or ends with `{query}`"
                    );
                    let hint = "`haft log` lists the calls on record, `haft runs` the runs";
                    Ok(not_found(printer, &text, hint))
                }
            }
        }
        Err(error @ StoreError::AmbiguousCall { .. }) => {
            Err(UserMistake::new(error.to_string()).into())
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns the runs on record that a call is of: a subagent's before the one that it works for.
fn runs_of(store: &Store, detail: &CallDetail) -> anyhow::Result<Vec<RunSummary>> {
    let mut runs = Vec::new();
    let mut above = detail.summary.parent;
    for _ in 0..CALLS_ABOVE {
        let Some(call) = above else { break };
        runs.extend(store.runs().begun_by(call)?);
        above = match store.show(&IdQuery::Id(call)) {
            Ok(detail) => detail.summary.parent,
            Err(StoreError::NoSuchCall { .. }) => None,
            Err(error) => return Err(error.into()),
        };
    }
    match store.runs().find(&detail.summary.run.into()) {
        Ok(run) => runs.push(run),
        // A call that no model made has a run of its own, which is not on record.
        Err(StoreError::NoSuchRun { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(runs)
}

/// Says what was decided, also where policy was never asked.
fn decision(detail: &CallDetail) -> Option<String> {
    if let Some(decision) = &detail.intent.decision {
        return Some(format!("{}: {}", decision.decision, decision.because));
    }
    let status = detail.outcome.as_ref().map(|it| &it.outcome.status)?;
    Some(match status {
        Status::Denied(denial) => {
            format!("deny: {} refused before policy was asked", denial.control)
        }
        _ => "none: the call ended before policy was asked".to_owned(),
    })
}

/// Says where a path of a call leads.
pub(super) fn bound(binding: &BindingRecord) -> String {
    let BindingRecord { slot, given, path, .. } = binding;
    match path.as_str() {
        "." => format!("{slot} `{given}` is the first root"),
        path if path == given => format!("{slot} `{given}`"),
        path => format!("{slot} `{given}` leads to `{path}`"),
    }
}

fn not_found(printer: Printer, text: &str, hint: &str) -> Exit {
    printer.error(Exit::Failed, "not_found", text, &[hint.to_owned()])
}

fn artifact(printer: Printer, artifact: &haft::store::Artifact) -> anyhow::Result<Exit> {
    if printer.is_json() {
        let text = std::str::from_utf8(&artifact.bytes).ok();
        return printer
            .envelope(Exit::Ok, serde_json::json!({ "artifact": artifact.info, "text": text }));
    }
    printer.bytes(&artifact.bytes);
    Ok(Exit::Ok)
}

fn print(printer: Printer, detail: &CallDetail, runs: &[RunSummary]) {
    let field = |label: &str, text: &str| {
        printer.line(&[(Tone::Faint, &format!("{label:<12}")), (Tone::Plain, text)]);
    };
    let summary = &detail.summary;
    let id = summary.id.to_string();
    printer.line(&[(Tone::Strong, &id), (Tone::Plain, "  "), (Tone::Plain, &summary.tool)]);
    field("status", summary.status.as_str());
    field("at", &when::show(summary.at));
    if let Some(ms) = summary.run_ms {
        let attempts = summary.attempts;
        let attempts = format!("{attempts} attempt{}", if attempts == 1 { "" } else { "s" });
        field("ran", &format!("{ms} ms in {attempts}"));
    }
    field("by", &format!("{} through {}", summary.principal, summary.entrance));
    if let Some(root) = summary.roots.first() {
        field("in", root);
    }
    for (place, run) in runs.iter().enumerate() {
        let label = if place == 0 { "of run" } else { "beneath" };
        let whose = if run.parent.is_some() { ", a subagent's" } else { "" };
        let title = haft::text::visible_line(&run.title);
        field(label, &format!("{}{whose}: {title}", run.id.short()));
    }
    if let Some(decision) = decision(detail) {
        field("decision", &decision);
    }
    for binding in &detail.intent.bindings {
        field("bound", &bound(binding));
    }
    for ticket in &detail.tickets {
        field("asked", &ticket.record.because);
        field("answer", ticket.answer.as_deref().unwrap_or("none yet"));
    }
    field("arguments", &detail.intent.arguments.to_string());
    for child in &detail.children {
        field("inside", &format!("{} {} {}", child.id.short(), child.tool, child.status.as_str()));
    }
    for artifact in &detail.artifacts {
        field("artifact", &format!("{} {}, {} bytes", artifact.id, artifact.title, artifact.bytes));
    }
    if let Some(record) = &detail.outcome {
        printer.line(&[(Tone::Plain, "")]);
        show_outcome(printer, &record.outcome);
    }
}
