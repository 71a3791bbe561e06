//! `haft resume`: go on with a run where it stopped.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use haft::ContentPart;
use haft::store::{RunState, RunSummary};

use super::Invocation;
use crate::assemble::UserMistake;
use crate::exit::Exit;
use crate::work::{Bench, Signals, Stands, WorkArgs, goes_on, is_at_its_end, task};

/// Go on with a run where it stopped
///
/// A run that was ended in the middle of a step goes on there. Calls that ended are not made again; what was under way and
/// may have had an effect is asked about.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  haft resume                       # the last run of this workspace
  haft resume last 'now run the tests'
  haft resume 3F2M8QKZ --max-turns 20")]
pub(crate) struct ResumeArgs {
    /// The run: its id, the first or last four letters or more of it, or `last`
    #[arg(default_value = "last")]
    run: String,

    /// What to say to the model: text, `@FILE`, or `-` for standard input
    text: Option<String>,

    /// An image to show with the text; may be given again
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "text")]
    image: Vec<PathBuf>,

    #[command(flatten)]
    work: WorkArgs,
}

pub(crate) async fn run(invocation: &Invocation<'_>, args: ResumeArgs) -> anyhow::Result<Exit> {
    let text = args.text.as_deref().map(|it| task::read(invocation, it)).transpose()?;
    let mut said: Vec<ContentPart> = text.iter().map(ContentPart::text).collect();
    for path in &args.image {
        said.push(task::image(invocation, path)?);
    }
    let bench = Bench::open_to_go_on(invocation, args.work)?;
    let found = bench.find(&args.run)?;
    go_on(bench, &found, said).await
}

/// Goes on with a run: first with what is open, then with what is said.
pub(super) async fn go_on(
    bench: Bench<'_>,
    found: &RunSummary,
    said: Vec<ContentPart>,
) -> anyhow::Result<Exit> {
    goes_on(found)?;
    let mut signals = Signals::listen()?;
    if said.is_empty() && matches!(found.state, RunState::Stopped(haft::models::StopCause::Done)) {
        return Err(done(found).into());
    }
    let work = bench.begun_as(found)?.go_on_with(found).await?;
    if said.is_empty() {
        match work.stands().await {
            Stands::Open => {}
            // Its process ended behind the last word, before it could say that this was the last.
            Stands::Answered if found.state == RunState::CutShort => work.show_last_reply().await,
            Stands::Answered => return Err(done(found).into()),
            Stands::Unbegun => return Err(unbegun(found).into()),
        }
        let ended = work.turn(&mut signals, None).await?;
        return work.told(&ended);
    }
    if work.has_open_calls().await {
        let ended = work.turn(&mut signals, None).await?;
        if ended.asked.is_some() || !is_at_its_end(&ended.end.cause) {
            return work.told(&ended);
        }
    }
    let ended = work.turn(&mut signals, Some(said)).await?;
    work.told(&ended)
}

fn done(found: &RunSummary) -> UserMistake {
    let run = found.id.short();
    UserMistake::new(format!("the model is done with run {run}, and nothing more was said to it"))
        .hint(format!("say what comes next: `haft resume {run} 'TEXT'`"))
}

fn unbegun(found: &RunSummary) -> UserMistake {
    let run = found.id.short();
    UserMistake::new(format!("run {run} ended before its task was on record"))
        .hint(format!("say what it is: `haft resume {run} 'TEXT'`"))
}
