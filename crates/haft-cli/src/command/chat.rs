//! `haft chat`: talk with a model that works in your files.

use std::io::{IsTerminal as _, Write as _};

use clap::Args;
use haft::ContentPart;
use haft::models::RunFacts;

use super::{Invocation, undo};
use crate::assemble::UserMistake;
use crate::exit::Exit;
use crate::keyboard;
use crate::print::Tone;
use crate::work::{AskedToEnd, Bench, EndedAtOnce, Signals, Work, WorkArgs};

const HELP: &str = "\
a backslash at the end of a line continues it on the next
/undo         takes back what the last answer changed in files
/model NAME   lets another model go on
/quit         ends the chat; `haft resume` goes on with it";

/// Talk with a model that works in your files
///
/// A chat is a run: `haft runs` lists it, `haft resume` goes on with it. Ctrl-C ends an answer, and at the prompt the chat.
#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    /// A run to go on with: its id, the first or last four letters or more of it, or `last` [default: a new one]
    #[arg(long = "continue", short, value_name = "RUN", num_args = 0..=1, default_missing_value = "last")]
    go_on: Option<String>,

    #[command(flatten)]
    work: WorkArgs,
}

/// What somebody typed.
enum Typed {
    Text(String),
    Nothing,
    End,
    Asked(AskedToEnd),
}

pub(crate) async fn run(invocation: &Invocation<'_>, args: ChatArgs) -> anyhow::Result<Exit> {
    let printer = invocation.printer;
    if printer.is_json() {
        let text = "a chat is for people, and prints no JSON";
        return Err(UserMistake::new(text).hint("`haft run --json` prints each event").into());
    }
    let bench = match &args.go_on {
        Some(_) => Bench::open_to_go_on(invocation, args.work)?,
        None => Bench::open(invocation, args.work)?,
    };
    let mut signals = Signals::listen()?;
    let mut opened: Option<Work<'_>> = None;
    let mut bench = Some(bench);
    if let Some(run) = &args.go_on
        && let Some(at) = bench.take()
    {
        let found = at.find(run)?;
        opened = Some(at.begun_as(&found)?.go_on_with(&found).await?);
    }
    printer.aside(Tone::Faint, "chat", "/help lists what can be typed beside text");
    let mut exit = Exit::Ok;
    loop {
        let text = match typed(&mut signals).await? {
            Typed::Nothing => continue,
            Typed::End => return Ok(exit),
            Typed::Asked(by) => return Ok(by.exit()),
            Typed::Text(text) => text,
        };
        match (text.trim(), &mut opened) {
            ("/quit" | "/exit", _) => return Ok(exit),
            ("/help", _) => printer.text(HELP),
            ("/undo", Some(work)) => {
                let calls = work.changed();
                if calls.is_empty() {
                    printer.aside(Tone::Warn, "undo", "the last answer changed nothing");
                } else {
                    undo::calls(invocation, work.haft(), &calls).await?;
                }
            }
            ("/undo", None) => printer.aside(Tone::Warn, "undo", "nothing was changed yet"),
            (command, Some(work)) if command.starts_with("/model") => {
                let name = command.trim_start_matches("/model").trim();
                if let Err(error) = work.change_model(name).await {
                    printer.aside(Tone::Bad, "error", &format!("{error:#}"));
                }
            }
            (command, _) if command.starts_with('/') && !command.contains(char::is_whitespace) => {
                let text = format!("`{command}` is no command: /help lists them");
                printer.aside(Tone::Warn, "chat", &text);
            }
            (_, work) => {
                if work.is_none()
                    && let Some(bench) = bench.take()
                {
                    *work = Some(bench.begin(&RunFacts::title_of(&text)).await?);
                }
                let Some(work) = work else { return Ok(Exit::Failed) };
                match answer(work, &mut signals, text).await {
                    Ok((_, Some(by))) if by != AskedToEnd::Interrupt => return Ok(by.exit()),
                    Ok((code, _)) => exit = code,
                    Err(error) => match error.downcast_ref::<EndedAtOnce>() {
                        Some(EndedAtOnce(by)) => return Ok(by.exit()),
                        None => return Err(error),
                    },
                }
            }
        }
    }
}

/// Lets the model answer, after what is open.
async fn answer(
    work: &Work<'_>,
    signals: &mut Signals,
    text: String,
) -> anyhow::Result<(Exit, Option<AskedToEnd>)> {
    if work.has_open_calls().await {
        let ended = work.turn(signals, None).await?;
        if work.has_open_calls().await || ended.asked.is_some() {
            return Ok((work.told(&ended)?, ended.asked));
        }
    }
    let ended = work.turn(signals, Some(vec![ContentPart::text(text)])).await?;
    Ok((work.told(&ended)?, ended.asked))
}

/// Reads what somebody types: a line, and those behind it as long as a backslash ends them.
async fn typed(signals: &mut Signals) -> anyhow::Result<Typed> {
    let mut text = String::new();
    loop {
        prompt(if text.is_empty() { "> " } else { "… " });
        let line = tokio::select! {
            line = keyboard::line() => line?,
            by = signals.next() => {
                prompt("\n");
                return Ok(Typed::Asked(by));
            }
        };
        let Some(line) = line else {
            prompt("\n");
            return Ok(if text.trim().is_empty() { Typed::End } else { Typed::Text(text) });
        };
        let Some(more) = line.strip_suffix('\\') else {
            text.push_str(&line);
            let is_empty = text.trim().is_empty();
            return Ok(if is_empty { Typed::Nothing } else { Typed::Text(text) });
        };
        text.push_str(more);
        text.push('\n');
    }
}

/// Shows where to type, if somebody is there.
fn prompt(text: &str) {
    if std::io::stdin().is_terminal() {
        let mut stderr = std::io::stderr();
        let _ = write!(stderr, "{text}").and_then(|()| stderr.flush());
    }
}
