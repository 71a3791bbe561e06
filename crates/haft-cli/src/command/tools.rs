//! `haft tools`: list the tools, or show one of them.

use clap::{Args, Subcommand};
use haft::{Registered, Selection};
use serde_json::{Value, json};

use super::Invocation;
use crate::assemble::open_to_look;
use crate::exit::Exit;
use crate::print::{Printer, Tone};
use crate::property::Property;

/// List the tools, or show one of them
#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    #[command(subcommand)]
    command: Option<ToolsCommand>,
}

#[derive(Debug, Subcommand)]
enum ToolsCommand {
    /// Show what a tool does, takes and may do
    Show {
        /// The tool, by wire name or qualified name
        name: String,
    },
}

pub(crate) fn run(invocation: &Invocation<'_>, args: &ToolsArgs) -> anyhow::Result<Exit> {
    let haft = open_to_look(invocation)?;
    let snapshot = haft.registry().snapshot();
    let printer = invocation.printer;
    match &args.command {
        None => {
            let tools = snapshot.select(&Selection::All)?;
            if printer.is_json() {
                let rows: Vec<Value> = tools.iter().map(summary).collect();
                return printer.envelope(
                    Exit::Ok,
                    json!({ "generation": snapshot.generation(), "tools": rows }),
                );
            }
            list(printer, &tools);
        }
        Some(ToolsCommand::Show { name }) => {
            let Some(tool) = snapshot.find(name) else {
                let nearest = snapshot.nearest(name);
                let mut hints = vec!["`haft tools` lists them".to_owned()];
                if !nearest.is_empty() {
                    hints.insert(0, format!("nearest: {}", nearest.join(", ")));
                }
                let text = format!("there is no tool `{name}`");
                return Ok(printer.error(Exit::Failed, "not_found", &text, &hints));
            };
            if printer.is_json() {
                return printer.envelope(Exit::Ok, detail(tool));
            }
            show(printer, tool);
        }
    }
    Ok(Exit::Ok)
}

fn summary(tool: &Registered) -> Value {
    let descriptor = &tool.descriptor;
    json!({
        "name": descriptor.name(),
        "wire": tool.wire,
        "alias_of": tool.alias_of,
        "source": tool.source(),
        "description": descriptor.description(),
        "capabilities": descriptor.capabilities(),
        "fingerprint": descriptor.fingerprint(),
    })
}

fn detail(tool: &Registered) -> Value {
    let descriptor = &tool.descriptor;
    let mut facts = summary(tool);
    if let Value::Object(facts) = &mut facts {
        facts.insert("input".to_owned(), (**descriptor.input().schema()).clone());
        let output = descriptor.output().map_or(Value::Null, |it| (**it.schema()).clone());
        facts.insert("output".to_owned(), output);
        facts.insert("slots".to_owned(), json!(descriptor.slots()));
        facts.insert("run_ms".to_owned(), json!(descriptor.run_ms()));
    }
    facts
}

fn first_sentence(text: &str) -> String {
    let paragraph = text.split("\n\n").next().unwrap_or_default().replace('\n', " ");
    match paragraph.split_once(". ") {
        Some((sentence, _)) => format!("{sentence}."),
        None => paragraph,
    }
}

fn list(printer: Printer, tools: &[Registered]) {
    let width = tools.iter().map(|it| it.wire.as_str().len()).max().unwrap_or_default();
    for tool in tools {
        let sentence = first_sentence(tool.descriptor.description());
        let name = format!("{:width$}  ", tool.wire);
        printer.entry(&[(Tone::Strong, &name)], (Tone::Plain, &sentence));
    }
    printer.line(&[(Tone::Faint, "`haft tools show NAME` shows what a tool takes")]);
}

fn show(printer: Printer, tool: &Registered) {
    let descriptor = &tool.descriptor;
    let name = descriptor.name().to_string();
    printer
        .line(&[(Tone::Strong, &name), (Tone::Faint, &format!("  ({} on the wire)", tool.wire))]);
    printer.paragraphs(0, descriptor.description());
    let effects: Vec<&str> =
        descriptor.capabilities().effects().map(haft::Capability::as_str).collect();
    let effects =
        if effects.is_empty() { "nothing outside itself".to_owned() } else { effects.join(", ") };
    printer.line(&[(Tone::Faint, "may:    "), (Tone::Plain, &effects)]);
    printer.line(&[(Tone::Faint, "source: "), (Tone::Plain, tool.source())]);
    let schema = descriptor.input().schema();
    let required: Vec<&str> = descriptor.input().required().collect();
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    if !properties.is_empty() {
        printer.line(&[(Tone::Plain, "")]);
        printer.line(&[(Tone::Strong, "arguments")]);
    }
    for (key, facts) in properties {
        let property = Property(facts);
        let mut about = property.takes();
        if required.contains(&key.as_str()) {
            about.push_str(", required");
        }
        if let Some(default) = facts.get("default") {
            about.push_str(&format!(", default {default}"));
        }
        let name = format!("{key}  ");
        let words = [(Tone::Plain, "  "), (Tone::Strong, name.as_str())];
        printer.entry(&words, (Tone::Faint, &about));
        for text in property.descriptions() {
            printer.paragraphs(6, text);
        }
    }
}
