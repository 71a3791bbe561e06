//! `haft completions`: print a completion script.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;
use serde_json::json;

use super::Invocation;
use crate::args::Cli;
use crate::exit::Exit;

/// Print a completion script for your shell
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(invocation: &Invocation<'_>, args: &CompletionsArgs) -> anyhow::Result<Exit> {
    // Into memory first: the generator gives up loudly when nobody reads it to the end.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "haft", &mut script);
    let script = String::from_utf8(script)?;
    let printer = invocation.printer;
    if printer.is_json() {
        let shell = args.shell.to_string();
        return printer.envelope(Exit::Ok, json!({ "shell": shell, "script": script }));
    }
    printer.file(&script);
    Ok(Exit::Ok)
}
