//! `haft completions`: print a completion script.

use clap::builder::PossibleValuesParser;
use clap::{Args, Command, CommandFactory as _};
use clap_complete::Shell;
use serde_json::json;

use super::Invocation;
use crate::args::Cli;
use crate::assemble::{Assembled, assemble};
use crate::exit::Exit;
use crate::print::Tone;

/// Print a completion script for your shell
///
/// The names of tools and of configured models in it are those of now: print it anew when they change.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Names that stand for something in a configuration, as they are now.
#[derive(Debug, Default)]
struct Names {
    tools: Vec<String>,
    models: Vec<String>,
}

pub(crate) fn run(invocation: &Invocation<'_>, args: &CompletionsArgs) -> anyhow::Result<Exit> {
    let printer = invocation.printer;
    let names = match assemble(invocation) {
        Ok(assembled) => Names::of(&assembled),
        // A script without names is better than none.
        Err(error) => {
            let text = format!("no names of tools and models are completed: {error:#}");
            printer.aside(Tone::Warn, "note", &text);
            Names::default()
        }
    };
    // Into memory first: the generator gives up loudly when nobody reads it to the end.
    let mut script = Vec::new();
    let mut line = names.told_to(Cli::command());
    clap_complete::generate(args.shell, &mut line, "haft", &mut script);
    let script = String::from_utf8(script)?;
    if printer.is_json() {
        let shell = args.shell.to_string();
        return printer.envelope(Exit::Ok, json!({ "shell": shell, "script": script }));
    }
    printer.file(&script);
    Ok(Exit::Ok)
}

impl Names {
    fn of(assembled: &Assembled) -> Self {
        let tools = assembled.haft.registry().snapshot();
        // What is named without a model is a server, and what stands behind it is not known here.
        let models = assembled.config.models.iter();
        let models = models.filter(|(name, entry)| entry.model.is_some() || name.contains('/'));
        Self {
            tools: tools.tools().map(|it| it.wire.as_str().to_owned()).collect(),
            models: models.map(|(name, _)| name.clone()).collect(),
        }
    }

    /// Adds the names to what is completed where one is typed.
    fn told_to(&self, command: Command) -> Command {
        let told = command.mut_args(|slot| {
            let names = match slot.get_id().as_str() {
                "tool" | "tools" | "call_first" | "name" => &self.tools,
                "model" => &self.models,
                _ => return slot,
            };
            if names.is_empty() {
                return slot;
            }
            slot.value_parser(PossibleValuesParser::new(names.clone()))
        });
        told.mut_subcommands(|it| self.told_to(it))
    }
}
