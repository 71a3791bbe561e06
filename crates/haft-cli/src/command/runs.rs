//! `haft runs`: list runs of models.

use std::num::NonZeroU32;

use clap::Args;
use haft::models::{StopCause, StopSignal};
use haft::store::{RunFilter, RunState, RunSummary};
use haft::{RunId, limits};
use textwrap::core::display_width;

use super::{Invocation, log};
use crate::assemble::UserMistake;
use crate::exit::Exit;
use crate::print::{Printer, Tone, cut, width};
use crate::when;

/// Columns of a line where there is no terminal to fit into.
const COLUMNS: usize = 160;

/// List runs of models, the latest first
#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    /// How many runs to list
    #[arg(long, short = 'n', default_value = "20", value_parser = limit)]
    limit: NonZeroU32,

    /// Runs of every workspace, not of this one alone
    #[arg(long)]
    all: bool,

    /// Runs of subagents, too, beneath those that they worked for
    #[arg(long)]
    subagents: bool,

    /// Only runs that went on since then: `2h`, `3d`, or a date like `2026-11-30`
    #[arg(long)]
    since: Option<String>,
}

pub(crate) fn run(invocation: &Invocation<'_>, args: &RunsArgs) -> anyhow::Result<Exit> {
    let store = invocation.store()?;
    let since = args.since.as_deref().map(when::read).transpose().map_err(UserMistake::new)?;
    let filter = RunFilter {
        limit: Some(args.limit),
        root: if args.all { None } else { Some(log::workspace(invocation)?) },
        since,
        with_subagents: args.subagents,
        asked: false,
    };
    let runs = store.runs().list(&filter)?;
    let printer = invocation.printer;
    if printer.is_json() {
        return printer.envelope(Exit::Ok, runs);
    }
    if runs.is_empty() {
        printer.text(if args.all {
            "no runs are recorded that match"
        } else {
            "no runs of this workspace are recorded that match; `--all` lists those of all"
        });
    }
    let mut within = "";
    for run in &runs {
        // Beneath the run that began it, where that is listed.
        let is_listed = |it: RunId| runs.iter().any(|run| run.id == it);
        if run.parent_run.is_some_and(is_listed) {
            continue;
        }
        let root = run.roots.first().map_or("an unknown workspace", String::as_str);
        if args.all && within != root {
            printer.line(&[(Tone::Faint, "in "), (Tone::Plain, root)]);
            within = root;
        }
        line(printer, run, "");
        for child in runs.iter().filter(|it| it.parent_run == Some(run.id)) {
            line(printer, child, "  ");
        }
    }
    Ok(Exit::Ok)
}

fn line(printer: Printer, run: &RunSummary, indent: &str) {
    let (tone, state) = state(&run.state);
    let id = format!("{indent}{}", run.id.short());
    let estimated = run.usage.estimated_tokens;
    let facts = format!(
        "  {}  {} call{}, {}{} tokens  ",
        when::show(run.last_at),
        run.calls,
        if run.calls == 1 { "" } else { "s" },
        if estimated > 0 { "about " } else { "" },
        run.usage.tokens().saturating_add(estimated)
    );
    let state = format!("  {state:<11}");
    let room = width().unwrap_or(COLUMNS);
    let left = room.saturating_sub(display_width(&format!("{id}{state}{facts}")));
    printer.line(&[
        (Tone::Strong, &id),
        (tone, &state),
        (Tone::Faint, &facts),
        (Tone::Plain, &cut(&haft::text::visible_line(&run.title), left.max(10))),
    ]);
}

/// Says in a word or two how a run stands.
pub(super) fn state(state: &RunState) -> (Tone, &'static str) {
    match state {
        RunState::Running { .. } => (Tone::Strong, "running"),
        RunState::CutShort => (Tone::Bad, "cut short"),
        RunState::Stopped(cause) => match cause {
            StopCause::Done => (Tone::Good, "done"),
            StopCause::Empty => (Tone::Warn, "empty reply"),
            StopCause::Interrupted { by: None } => (Tone::Warn, "interrupted"),
            StopCause::Interrupted { by: Some(StopSignal::Interrupt) } => (Tone::Warn, "by SIGINT"),
            StopCause::Interrupted { by: Some(StopSignal::Hangup) } => (Tone::Warn, "by SIGHUP"),
            StopCause::Interrupted { by: Some(StopSignal::Terminate) } => {
                (Tone::Warn, "by SIGTERM")
            }
            StopCause::Waits { .. } => (Tone::Warn, "waits"),
            StopCause::Limit { .. } => (Tone::Warn, "at a limit"),
            StopCause::Unpriced { .. } => (Tone::Warn, "no price"),
            StopCause::Length => (Tone::Bad, "cut replies"),
            StopCause::Refused { .. } => (Tone::Bad, "declined"),
            StopCause::Loop { .. } => (Tone::Bad, "in circles"),
            StopCause::Model { .. } => (Tone::Bad, "no answer"),
            StopCause::Window { .. } => (Tone::Bad, "window full"),
            StopCause::Unrecorded { .. } => (Tone::Bad, "not kept"),
        },
    }
}

fn limit(text: &str) -> Result<NonZeroU32, String> {
    text.parse().map_err(|_| format!("expected a number from 1 to {}", limits::LOG_RUNS_MAX))
}
