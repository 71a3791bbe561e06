//! `haft fork`: begin a run as another one began.

use clap::Args;
use haft::{ContentPart, RunId};
use serde_json::json;

use super::Invocation;
use crate::exit::Exit;
use crate::work::{Bench, Signals, WorkArgs, is_at_its_end, task};

/// Begin a run as another one began, and go another way
///
/// The other run stays as it is. Files are not set back: `haft undo RUN` does that.
#[derive(Debug, Args)]
pub(crate) struct ForkArgs {
    /// The run: its id, the first or last four letters or more of it, or `last`
    run: String,

    /// What to say to the model: text, `@FILE`, or `-` for standard input [default: nothing is said yet]
    text: Option<String>,

    /// How many entries of the other run to take, as `haft show RUN` counts them [default: all]
    #[arg(long, value_name = "N")]
    entries: Option<u64>,

    #[command(flatten)]
    work: WorkArgs,
}

pub(crate) async fn run(invocation: &Invocation<'_>, args: ForkArgs) -> anyhow::Result<Exit> {
    let text = args.text.as_deref().map(|it| task::read(invocation, it)).transpose()?;
    let bench = Bench::open_to_go_on(invocation, args.work)?;
    let found = bench.find(&args.run)?;
    let mut signals = Signals::listen()?;
    let work = bench.begun_as(&found)?.fork(&found, args.entries).await?;
    let Some(text) = text else {
        let run = work.run();
        work.close();
        if invocation.printer.is_json() {
            return invocation.printer.envelope(Exit::Ok, json!({ "run": run }));
        }
        let run = run.map(RunId::short).unwrap_or_default();
        invocation.printer.text(&format!("`haft resume {run} 'TEXT'` goes on with it"));
        return Ok(Exit::Ok);
    };
    if work.has_open_calls().await {
        let ended = work.turn(&mut signals, None).await?;
        if !is_at_its_end(&ended.end.cause) {
            return work.told(&ended);
        }
    }
    let ended = work.turn(&mut signals, Some(vec![ContentPart::text(text)])).await?;
    work.told(&ended)
}
