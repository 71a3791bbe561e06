//! `haft log`: list recorded calls.

mod given;

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;
use haft::config::Config;
use haft::store::{CallStatus, CallSummary, LogFilter};
use haft::{Bound, Count, Entrance, Timestamp, limits};
use serde_json::Value;
use textwrap::core::display_width;

use super::Invocation;
use crate::assemble::{UserMistake, bash, project};
use crate::exit::Exit;
use crate::print::{Tone, cut, width};
use crate::when;
use given::Contracts;

/// Columns for the name of a tool.
const TOOL_COLUMNS: usize = 14;

/// Columns for the name of an MCP client.
const CLIENT_COLUMNS: usize = 24;

/// Columns of a line where there is no terminal to fit into.
const COLUMNS: usize = 160;

/// List recorded calls, newest first
#[derive(Debug, Args)]
#[command(after_help = "\
Of arguments those are listed that are other than a tool's defaults; `haft show`
shows all, and `--json` too.")]
pub(crate) struct LogArgs {
    /// How many calls to list
    #[arg(long, short = 'n', default_value = "20", value_parser = limit)]
    limit: NonZeroU32,

    /// Calls of every workspace, not of this one alone
    #[arg(long)]
    all: bool,

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
        root: if args.all { None } else { Some(workspace(invocation)?) },
        tool: args.tool.clone(),
        status: args.status,
        since,
        text: args.text.clone(),
        ..LogFilter::default()
    };
    let calls = store.log(&filter)?;
    let printer = invocation.printer;
    let listed = calls.len() as u64;
    let is_full = listed >= u64::from(args.limit.get().min(limits::LOG_CALLS_MAX));
    let total = if is_full { store.log_count(&filter)? } else { listed };
    let left_out = earlier(listed, total.saturating_sub(listed));
    if printer.is_json() {
        return printer.envelope_of_part(Exit::Ok, calls, left_out.as_ref());
    }
    if calls.is_empty() {
        printer.text(if args.all {
            "no calls are recorded that match"
        } else {
            "no calls of this workspace are recorded that match; `--all` lists those of all"
        });
    }
    let contracts = Contracts::of_tools(bash(invocation.environment, &Config::default()))?;
    let mut within = "";
    for call in &calls {
        let root = call.roots.first().map_or("an unknown workspace", String::as_str);
        if args.all && within != root {
            printer.line(&[(Tone::Faint, "in "), (Tone::Plain, root)]);
            within = root;
        }
        line(invocation, &contracts, call);
    }
    if let Some(bound) = left_out {
        printer.aside(Tone::Warn, "bound", &bound.to_string());
    }
    Ok(Exit::Ok)
}

/// Says how many earlier calls are not in a listing, and how to get them.
pub(super) fn earlier(kept: u64, left_out: u64) -> Option<Bound> {
    let more = (kept + left_out).min(limits::LOG_CALLS_MAX.into());
    (left_out > 0).then(|| Bound {
        unit: "calls".to_owned(),
        kept,
        left_out: Count::Exact(left_out),
        way_on: if more > kept {
            format!("`--limit {more}` lists earlier ones")
        } else {
            "`haft show CALL` shows one by its id".to_owned()
        },
    })
}

/// Returns the root by which records know this workspace.
pub(super) fn workspace(invocation: &Invocation<'_>) -> anyhow::Result<PathBuf> {
    let roots = invocation.roots().and_then(|roots| project(&roots));
    Ok(roots.map_err(|error| {
        UserMistake::new(format!("this workspace is not known: {error:#}"))
            .hint("`haft log --all` lists the calls of all workspaces")
    })?)
}

fn limit(text: &str) -> Result<NonZeroU32, String> {
    text.parse().map_err(|_| format!("expected a number from 1 to {}", limits::LOG_CALLS_MAX))
}

fn line(invocation: &Invocation<'_>, contracts: &Contracts, call: &CallSummary) {
    let tone = match call.status {
        CallStatus::Ok => Tone::Good,
        CallStatus::Failed | CallStatus::TimedOut | CallStatus::Unknown => Tone::Bad,
        _ => Tone::Warn,
    };
    let id = call.id.short();
    let at = when::show(call.at);
    let took = call.run_ms.map(|ms| format!(" {ms} ms")).unwrap_or_default();
    let by = client(call);
    let status = format!(" {:<11} ", call.status.as_str());
    let tool = haft::text::visible_line(call.tool.rsplit('/').next().unwrap_or(&call.tool));
    let tool = format!("{:<10} ", cut(&tool, TOOL_COLUMNS));
    let head = format!("{id}  {at}{status}{tool}{took}{by}");
    let room = width().unwrap_or(COLUMNS).saturating_sub(display_width(&head));
    let arguments = cut(&haft::text::visible_line(&arguments(contracts, call)), room);
    invocation.printer.line(&[
        (Tone::Strong, &id),
        (Tone::Faint, &format!("  {at}")),
        (tone, &status),
        (Tone::Plain, &tool),
        (Tone::Faint, &arguments),
        (Tone::Faint, &took),
        (Tone::Faint, &by),
    ]);
}

/// Says which client a call came from, where it came from one: its model is not the one that others work with.
fn client(call: &CallSummary) -> String {
    if call.entrance != Entrance::Mcp {
        return String::new();
    }
    format!(" for {}", cut(&haft::text::visible_line(&call.principal), CLIENT_COLUMNS))
}

/// Returns the arguments that were given as `key=value` where they are known whole, for a line has no room for what JSON needs beside.
fn arguments(contracts: &Contracts, call: &CallSummary) -> String {
    let word = |value: &Value| match value {
        Value::String(text) if !text.is_empty() && !text.contains(char::is_whitespace) => {
            text.clone()
        }
        value => value.to_string(),
    };
    match &call.arguments {
        Some(Value::Object(arguments)) => {
            let given = contracts.given(&call.tool, arguments);
            let pairs = given.iter().map(|(key, value)| format!("{key}={}", word(value)));
            pairs.collect::<Vec<_>>().join(" ")
        }
        Some(other) => word(other),
        None => call.arguments_head.clone().unwrap_or_default(),
    }
}

/// Returns the time now, for the state commands.
pub(super) fn now() -> Timestamp {
    let ms = jiff::Timestamp::now().as_millisecond();
    Timestamp::from_unix_ms(u64::try_from(ms).unwrap_or_default())
}
