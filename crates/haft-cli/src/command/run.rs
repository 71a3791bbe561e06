//! `haft run`: give a model a task in your files.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use haft::ContentPart;
use haft::models::RunFacts;

use super::Invocation;
use crate::assemble::UserMistake;
use crate::exit::Exit;
use crate::work::{Bench, Signals, WorkArgs, task};

/// Give a model a task in your files
///
/// What the model says goes to standard output; what it calls, what came of that and why it stopped go to standard error.
/// Ctrl-C ends the turn, and the run can be gone on with; Ctrl-C again ends the command.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  haft run 'which tests fail, and why?'
  haft run --model anthropic/claude-sonnet-5 @task.md
  git diff | haft run --preset read-only --max-turns 5 -
  haft run --continue 'now fix the first of them'

With --json each event is one line of JSON; the last line is the result.")]
pub(crate) struct RunArgs {
    /// The task: text, `@FILE`, or `-` to read it from standard input
    task: Option<String>,

    /// Go on with the last run of this workspace
    #[arg(long = "continue", short)]
    go_on: bool,

    /// An image to show with the task; may be given again
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    image: Vec<PathBuf>,

    #[command(flatten)]
    work: WorkArgs,
}

pub(crate) async fn run(invocation: &Invocation<'_>, args: RunArgs) -> anyhow::Result<Exit> {
    if args.task.is_none() && !args.go_on {
        return Err(UserMistake::new("there is no task")
            .hint("say it: `haft run 'TEXT'`, `haft run @FILE`, or `haft run -` for standard input")
            .hint("`haft run --continue` goes on with the last run of this workspace")
            .into());
    }
    let read = |typed| task::read(invocation, typed);
    let task = args.task.as_deref().map(read).transpose()?;
    let mut said: Vec<ContentPart> = task.iter().map(ContentPart::text).collect();
    for path in &args.image {
        said.push(task::image(invocation, path)?);
    }
    if args.go_on {
        let bench = Bench::open_to_go_on(invocation, args.work)?;
        let found = bench.find("last")?;
        return super::resume::go_on(bench, &found, said).await;
    }
    let bench = Bench::open(invocation, args.work)?;
    let mut signals = Signals::listen()?;
    let work = bench.begin(&RunFacts::title_of(task.as_deref().unwrap_or_default())).await?;
    let ended = work.turn(&mut signals, Some(said)).await?;
    work.told(&ended)
}
