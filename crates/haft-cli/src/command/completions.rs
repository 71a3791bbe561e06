//! `haft completions`: print a completion script.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::args::Cli;
use crate::exit::Exit;

/// Print a completion script for your shell
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs) -> Exit {
    clap_complete::generate(args.shell, &mut Cli::command(), "haft", &mut std::io::stdout());
    Exit::Ok
}
