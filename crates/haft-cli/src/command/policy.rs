//! `haft policy`: see what may happen and why.

use clap::{Args, Subcommand};
use haft::{Decision, Entrance, ToolCall};
use serde_json::json;

use super::Invocation;
use super::call::{raw_arguments, show};
use super::show::bound;
use crate::assemble::{assemble, open};
use crate::exit::Exit;
use crate::print::Tone;

/// See what may happen and why
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Say how a call would be decided, by which rule, and what its paths resolve to; nothing is run
    Explain(ExplainArgs),
    /// List the preset and the rules in force, and where each comes from
    Show,
}

/// Say how a call would be decided; nothing is run
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The tool, by wire name or qualified name
    tool: String,

    /// The arguments as one JSON object, or `-` to read it from standard input
    #[arg(allow_hyphen_values = true)]
    arguments: Option<String>,

    /// One argument; the value is text where the tool wants text, JSON otherwise
    #[arg(long = "arg", short = 'a', value_name = "KEY=VALUE", conflicts_with = "arguments")]
    arg: Vec<String>,
}

pub(crate) async fn run(
    invocation: &Invocation<'_>,
    command: PolicyCommand,
) -> anyhow::Result<Exit> {
    match command {
        PolicyCommand::Explain(args) => explain(invocation, args).await,
        PolicyCommand::Show => rules(invocation),
    }
}

async fn explain(invocation: &Invocation<'_>, args: ExplainArgs) -> anyhow::Result<Exit> {
    let haft = open(invocation)?;
    let raw = raw_arguments(&haft, args.arguments, &args.arg, &args.tool)?;
    let context = haft.context(haft.caller(Entrance::Cli, invocation.user()));
    let call = ToolCall::new(haft.dispatch().ports().call_id(), args.tool, raw);
    let printer = invocation.printer;
    let rehearsal = match haft.dispatch().rehearse(&context, call).await {
        Ok(rehearsal) => rehearsal,
        Err(outcome) => {
            let exit = Exit::of(&outcome);
            if printer.is_json() {
                return printer.envelope(exit, json!({ "outcome": outcome }));
            }
            show(printer, &outcome);
            return Ok(exit);
        }
    };
    let exit = match rehearsal.explanation.decision {
        Decision::Allow => Exit::Ok,
        Decision::Ask | Decision::Deny => Exit::Denied,
    };
    if printer.is_json() {
        return printer.envelope(exit, rehearsal);
    }
    for binding in &rehearsal.bindings {
        printer.line(&[(Tone::Plain, "  "), (Tone::Strong, &bound(binding))]);
    }
    printer.text(&rehearsal.explanation.to_string());
    for notice in &rehearsal.notices {
        printer.aside(Tone::Faint, "notice", &notice.text);
    }
    Ok(exit)
}

fn rules(invocation: &Invocation<'_>) -> anyhow::Result<Exit> {
    let assembled = assemble(invocation)?;
    let policy = assembled.haft.policy();
    let snapshot = assembled.haft.registry().snapshot();
    let names: Vec<_> = snapshot.tools().map(|it| it.descriptor.name().clone()).collect();
    let idle: Vec<String> = policy.idle_rules(&names).iter().map(ToString::to_string).collect();
    let printer = invocation.printer;
    if printer.is_json() {
        let rules: Vec<_> = policy
            .rules()
            .map(|it| json!({ "rule": it.to_string(), "origin": it.origin(), "followed": !it.is_ignored() }))
            .collect();
        let dropped: Vec<_> = assembled.config.dropped().iter().map(ToString::to_string).collect();
        let presets: Vec<_> = policy.presets().map(|it| it.to_string()).collect();
        let astray: Vec<_> = policy
            .astray()
            .map(|(rule, pattern)| json!({ "rule": rule.to_string(), "pattern": pattern }))
            .collect();
        let data = json!({
            "presets": presets, "rules": rules, "dropped": dropped, "idle": idle, "astray": astray,
            "digest": policy.digest(),
        });
        return printer.envelope(Exit::Ok, data);
    }
    let origin = assembled.config.origin("preset").to_string();
    for preset in policy.presets() {
        printer.line(&[
            (Tone::Strong, "preset "),
            (Tone::Plain, &preset.to_string()),
            (Tone::Faint, &format!("  ({origin})")),
        ]);
    }
    for rule in policy.rules() {
        // What an untrusted project allows stands there, and changes nothing.
        let ignored = if rule.is_ignored() { ", not followed" } else { "" };
        printer.line(&[
            (Tone::Plain, &rule.to_string()),
            (Tone::Faint, &format!("  ({}{ignored})", rule.origin())),
        ]);
    }
    for rule in idle {
        printer.aside(Tone::Warn, "idle", &format!("`{rule}` names no tool there is"));
    }
    for (rule, pattern) in policy.astray() {
        let text = format!("`{pattern}` ({}) lies in no root here", rule.origin());
        printer.aside(Tone::Faint, "idle", &text);
    }
    for dropped in assembled.config.dropped() {
        printer.aside(Tone::Warn, "dropped", &dropped.to_string());
    }
    Ok(Exit::Ok)
}
