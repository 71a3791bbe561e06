//! `haft log`: list recorded calls.

use std::num::NonZeroU32;

use clap::Args;
use haft::Timestamp;
use haft::store::{CallStatus, CallSummary, LogFilter};
use textwrap::core::display_width;

use super::Invocation;
use crate::assemble::UserMistake;
use crate::exit::Exit;
use crate::print::{Tone, columns, cut};
use crate::when;

/// Columns for the name of a tool.
const TOOL_COLUMNS: usize = 14;

/// List recorded calls, newest first
#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// How many calls to list
    #[arg(long, short = 'n', default_value = "20")]
    limit: NonZeroU32,

    /// Only calls of this tool, by qualified name or its last part
    #[arg(long)]
    tool: Option<String>,

    /// Only calls that ended so: ok, failed, denied, cancelled, timed_out, or still running, waiting or unknown
    #[arg(long)]
    status: Option<CallStatus>,

    /// Only calls since then: `2h`, `3d`, or a date like `2026-11-30`
    #[arg(long)]
    since: Option<String>,

    /// Only calls with this text in their arguments or result
    #[arg(long)]
    text: Option<String>,
}

pub(crate) fn run(invocation: &Invocation<'_>, args: &LogArgs) -> anyhow::Result<Exit> {
    let store = invocation.store()?;
    let since = match &args.since {
        None => None,
        Some(text) => Some(when::read(text).map_err(UserMistake::new)?),
    };
    let filter = LogFilter {
        limit: Some(args.limit),
        tool: args.tool.clone(),
        status: args.status,
        since,
        text: args.text.clone(),
        ..LogFilter::default()
    };
    let calls = store.log(&filter)?;
    let printer = invocation.printer;
    if printer.is_json() {
        return printer.envelope(Exit::Ok, calls);
    }
    if calls.is_empty() {
        printer.text("no calls are recorded that match");
    }
    for call in &calls {
        line(invocation, call);
    }
    Ok(Exit::Ok)
}

fn line(invocation: &Invocation<'_>, call: &CallSummary) {
    let tone = match call.status {
        CallStatus::Ok => Tone::Good,
        CallStatus::Failed | CallStatus::TimedOut | CallStatus::Unknown => Tone::Bad,
        _ => Tone::Warn,
    };
    let id = call.id.short();
    let at = when::show(call.at);
    let took = call.run_ms.map(|ms| format!(" {ms} ms")).unwrap_or_default();
    let status = format!(" {:<11} ", call.status.as_str());
    let tool = haft::text::visible_line(call.tool.rsplit('/').next().unwrap_or(&call.tool));
    let tool = format!("{:<10} ", cut(&tool, TOOL_COLUMNS));
    let head = format!("{id}  {at}{status}{tool}{took}");
    let room = columns().saturating_sub(display_width(&head));
    let arguments = cut(&haft::text::visible_line(&call.arguments), room);
    invocation.printer.line(&[
        (Tone::Strong, &id),
        (Tone::Faint, &format!("  {at}")),
        (tone, &status),
        (Tone::Plain, &tool),
        (Tone::Faint, &arguments),
        (Tone::Faint, &took),
    ]);
}

/// Returns the time now, for the state commands.
pub(super) fn now() -> Timestamp {
    let ms = jiff::Timestamp::now().as_millisecond();
    Timestamp::from_unix_ms(u64::try_from(ms).unwrap_or_default())
}
