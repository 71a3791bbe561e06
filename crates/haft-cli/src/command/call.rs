//! `haft call`: call a tool.

use std::io::Read as _;
use std::task::Poll;

use anyhow::Context as _;
use clap::Args;
use haft::{
    ContentPart, Dispatched, Entrance, Haft, NoticeKind, Outcome, RawArguments, Registered, Status,
    ToolCall, limits,
};
use serde_json::{Map, Value, json};
use tokio::signal::unix::{SignalKind, signal};

use super::Invocation;
use crate::assemble::{UserMistake, open};
use crate::exit::Exit;
use crate::files::IgnoredSignals;
use crate::print::{Printer, Tone};
use crate::property::Property;

/// Call a tool
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  haft call search '{\"action\":\"grep\",\"pattern\":\"TODO\"}'
  haft call search --arg action=grep --arg pattern=TODO --arg include='[\"*.rs\"]'
  haft call reader - < arguments.json")]
pub(crate) struct CallArgs {
    /// The tool, by wire name or qualified name; `haft tools` lists them
    tool: String,

    /// The arguments as one JSON object, or `-` to read it from standard input
    #[arg(allow_hyphen_values = true)]
    arguments: Option<String>,

    /// One argument; the value is text where the tool wants text, JSON otherwise
    #[arg(long = "arg", short = 'a', value_name = "KEY=VALUE", conflicts_with = "arguments")]
    arg: Vec<String>,
}

pub(crate) async fn run(invocation: &Invocation<'_>, args: CallArgs) -> anyhow::Result<Exit> {
    let haft = open(invocation)?;
    let raw = raw_arguments(&haft, args.arguments, &args.arg, &args.tool)?;
    let printer = invocation.printer;
    let call = ToolCall::new(haft.dispatch().ports().call_id(), args.tool, raw);
    let id = call.id;
    let outcome = finished(invocation, &haft, call).await?;
    let exit = Exit::of(&outcome);
    if printer.is_json() {
        let text = outcome.model_text();
        return printer.envelope(exit, json!({ "call": id, "text": text, "outcome": outcome }));
    }
    show(printer, &outcome);
    if let Some(store) = haft.store() {
        tracing::info!(call = %id, store = ?store, "recorded");
    }
    Ok(exit)
}

/// Makes a call and waits for its end, or takes it back when the process is asked to end.
pub(super) async fn finished(
    invocation: &Invocation<'_>,
    haft: &Haft,
    call: ToolCall,
) -> anyhow::Result<Outcome> {
    let progress = &invocation.progress;
    let mut context = haft.context(haft.caller(Entrance::Cli, invocation.user()));
    context.reporter = progress.reporter();
    // Listens before there is anything to take back, so that nothing is ended without its record.
    let interrupted = interrupted()?;
    if !invocation.printer.is_json() {
        progress.start();
    }
    let mut handle = haft.dispatch().start(&context, call);
    let end = tokio::select! {
        end = &mut handle => end,
        () = interrupted => {
            handle.cancel();
            handle.await
        }
    };
    progress.stop();
    match end {
        Dispatched::Done(outcome) => Ok(*outcome),
        // The terminal's approver never answers "later".
        Dispatched::Waiting(ticket) => {
            anyhow::bail!("the call waits as ticket {}", ticket.record().ticket)
        }
    }
}

/// Listens for what asks a process to end, and returns what waits for the first of it: Ctrl-C, the end of the terminal,
/// the end of the system.
pub(super) fn interrupted() -> std::io::Result<impl Future<Output = ()>> {
    let ignored = IgnoredSignals::read();
    let mut signals = Vec::new();
    for kind in [SignalKind::interrupt(), SignalKind::hangup(), SignalKind::terminate()] {
        // Who started the command with `nohup` wants it to go on.
        if !ignored.contains(kind.as_raw_value()) {
            signals.push(signal(kind)?);
        }
    }
    Ok(std::future::poll_fn(move |context| {
        let is_due = signals.iter_mut().any(|it| it.poll_recv(context).is_ready());
        if is_due { Poll::Ready(()) } else { Poll::Pending }
    }))
}

/// Reads the arguments from where they were given.
pub(super) fn raw_arguments(
    haft: &Haft,
    text: Option<String>,
    pairs: &[String],
    tool: &str,
) -> anyhow::Result<RawArguments> {
    match text.as_deref() {
        Some("-") => from_stdin(),
        Some(text) => Ok(RawArguments::Text(text.to_owned())),
        None => {
            let snapshot = haft.registry().snapshot();
            let registered = snapshot.find(tool);
            let mut object = Map::new();
            for pair in pairs {
                let Some((key, value)) = pair.split_once('=') else {
                    let text = format!("`--arg {pair}` has no `=`: expected KEY=VALUE");
                    return Err(UserMistake::new(text).into());
                };
                if object.insert(key.to_owned(), typed(registered, key, value)).is_some() {
                    let text = format!("`--arg {key}=…` is given twice");
                    return Err(UserMistake::new(text)
                        .hint(format!("a list is written as JSON: `--arg '{key}=[…]'`"))
                        .into());
                }
            }
            Ok(RawArguments::Json(Value::Object(object)))
        }
    }
}

fn from_stdin() -> anyhow::Result<RawArguments> {
    // One byte past the limit is enough for dispatch to see that there are too many.
    let most = limits::ARGUMENTS_BYTES as u64 + 1;
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(most)
        .read_to_end(&mut bytes)
        .context("standard input cannot be read")?;
    match String::from_utf8(bytes) {
        Ok(text) if text.trim().is_empty() => Err(UserMistake::new(
            "standard input is empty: expected the arguments as one JSON object",
        )
        .hint("write `{}` where there are none")
        .into()),
        Ok(text) => Ok(RawArguments::Text(text)),
        Err(error) if error.as_bytes().len() as u64 == most => {
            Ok(RawArguments::Text(String::from_utf8_lossy(error.as_bytes()).into_owned()))
        }
        Err(_) => Err(UserMistake::new("standard input is not UTF-8 text").into()),
    }
}

/// Reads a value as the tool's contract wants it: text as it stands, everything else as JSON where it is JSON.
fn typed(registered: Option<&Registered>, key: &str, value: &str) -> Value {
    let wants_text = registered
        .and_then(|it| it.descriptor.input().schema().get("properties")?.get(key))
        .is_some_and(|facts| Property(facts).is_text());
    let text = || Value::String(value.to_owned());
    if wants_text { text() } else { serde_json::from_str(value).unwrap_or_else(|_| text()) }
}

/// Prints an outcome: what was asked for to standard output, everything about it to standard error.
pub(super) fn show(printer: Printer, outcome: &Outcome) {
    for part in &outcome.content {
        match part {
            ContentPart::Text { text } => printer.text(text),
            ContentPart::Image { media_type, data } => {
                printer.text(&format!(
                    "[image, {}, {} bytes]",
                    media_type.media_type(),
                    data.len()
                ));
            }
            ContentPart::Artifact { id, title, media_type, bytes } => {
                printer.text(&format!(
                    "[artifact {id}: {title}, {media_type}, {bytes} bytes: `haft show {id}` writes it]"
                ));
            }
        }
    }
    for bound in &outcome.bounds {
        printer.aside(Tone::Warn, "bound", &bound.to_string());
    }
    for notice in &outcome.notices {
        let tone = match notice.kind {
            NoticeKind::Unrecorded | NoticeKind::Detached | NoticeKind::Degraded => Tone::Bad,
            _ => Tone::Faint,
        };
        printer.aside(tone, "notice", &notice.text);
    }
    let (label, text, hints): (&str, String, &[String]) = match &outcome.status {
        Status::Ok => return,
        Status::Failed(failure) => {
            (failure.kind.as_str(), failure.model_text.clone(), &failure.hints)
        }
        Status::Denied(denial) => {
            ("denied", format!("by {}: {}", denial.control, denial.reason), &denial.hints)
        }
        Status::Cancelled => ("cancelled", "the call was taken back".to_owned(), &[]),
        Status::TimedOut { after_ms } => ("timed out", format!("after {after_ms} ms"), &[]),
    };
    printer.aside(Tone::Bad, label, &text);
    for hint in hints {
        printer.aside(Tone::Warn, "hint", hint);
    }
}
