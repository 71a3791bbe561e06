//! `haft run`: give a model a task in your files.

mod show;

use std::num::NonZeroU64;
use std::sync::Arc;

use clap::Args;
use haft::models::{RunLimits, StopCause, System, TurnOptions};
use haft::{ContentPart, RunKeeper};
use serde_json::json;

use super::Invocation;
use super::call::interrupted;
use crate::assemble::open;
use crate::exit::Exit;
use crate::model::choose;
use crate::print::Tone;
use show::Show;

/// Give a model a task in your files
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  haft run 'which tests fail, and why?'
  haft run --model anthropic/claude-sonnet-5.5 @task.md
  git diff | haft run --preset read-only -")]
pub(crate) struct RunArgs {
    /// The task: text, `@FILE`, or `-` to read it from standard input
    task: String,

    /// The model, as `provider/name`; the first that a server on this machine has, if none is named
    #[arg(long, short, value_name = "PROVIDER/NAME")]
    model: Option<String>,

    /// How often the model may be asked
    #[arg(long, value_name = "N")]
    max_turns: Option<NonZeroU64>,
}

pub(crate) async fn run(invocation: &Invocation<'_>, args: RunArgs) -> anyhow::Result<Exit> {
    let task = args.task;
    let haft = open(invocation)?;
    let printer = invocation.printer;
    let chosen = choose(invocation.environment, args.model.as_deref(), move |waiting| {
        printer.aside(Tone::Warn, "waiting", &waiting.to_string());
    })
    .await?;
    let facts = chosen.model.facts();
    let said = format!("{} at {}, {}", facts.id, facts.address, chosen.because);
    printer.aside(Tone::Faint, "model", &said);

    let system = System::standard(&haft.place(), Vec::new());
    let mut branch = haft.branch(Arc::clone(&chosen.model)).system(system.clone());
    if let Some(store) = haft.store() {
        let facts = haft.run_facts(&title(&task), &*chosen.model, &system);
        printer.aside(Tone::Faint, "run", &facts.run.to_string());
        branch = branch.keeper(Arc::new(RunKeeper::new(store.runs().begin(&facts)?)));
    }
    let branch = branch.open();
    let show = Show::new(printer);
    let mut options = TurnOptions { watcher: show.watcher(), ..TurnOptions::default() };
    if let Some(steps) = args.max_turns {
        options.limits = RunLimits { steps, ..options.limits };
    }
    let interrupted = interrupted()?;
    let cancellation = options.cancellation.clone();
    let said = haft.said(vec![ContentPart::text(task)]);
    let agent = haft.agent();
    let turn = agent.turn(&branch, said, &options);
    tokio::pin!(turn);
    let end = tokio::select! {
        end = &mut turn => end,
        () = interrupted => {
            cancellation.cancel();
            turn.await
        }
    };
    let exit = exit(&end.cause);
    let text = end.reply.as_ref().map(|reply| reply.text()).unwrap_or_default();
    if printer.is_json() {
        return printer
            .envelope(exit, json!({ "text": text, "stop": end.cause, "usage": end.usage }));
    }
    show.end(&end);
    Ok(exit)
}

/// Makes the title of a run: the first line of its task.
fn title(task: &str) -> String {
    const CHARS: usize = 120;
    let line = task.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.chars().take(CHARS).collect()
}

fn exit(cause: &StopCause) -> Exit {
    match cause {
        StopCause::Done => Exit::Ok,
        StopCause::Interrupted => Exit::Cancelled,
        StopCause::Waits { .. } => Exit::Denied,
        StopCause::Limit { .. }
        | StopCause::Unpriced { .. }
        | StopCause::Length
        | StopCause::Refused { .. }
        | StopCause::Loop { .. }
        | StopCause::Model { .. }
        | StopCause::Window { .. }
        | StopCause::Unrecorded { .. } => Exit::Failed,
    }
}
