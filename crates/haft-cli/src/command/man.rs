//! `haft man`: print a manual page.

use clap::{Args, CommandFactory as _};
use serde_json::json;

use super::Invocation;
use crate::args::Cli;
use crate::assemble::UserMistake;
use crate::exit::Exit;

/// Print the manual page of haft or of one of its commands
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  haft man > haft.1
  haft man policy explain | man -l -")]
pub(crate) struct ManArgs {
    /// The command
    #[arg(value_name = "COMMAND")]
    path: Vec<String>,
}

pub(crate) fn run(invocation: &Invocation<'_>, args: &ManArgs) -> anyhow::Result<Exit> {
    let mut root = Cli::command();
    root.build();
    let mut command = &root;
    for name in &args.path {
        command = command.find_subcommand(name).ok_or_else(|| {
            UserMistake::new(format!("`{}` has no command `{name}`", command.get_name()))
                .hint("`haft --help` lists the commands")
        })?;
    }
    let mut page = Vec::new();
    let source = concat!("haft ", env!("CARGO_PKG_VERSION"));
    clap_mangen::Man::new(command.clone()).source(source).render(&mut page)?;
    let page = String::from_utf8(page)?;
    let printer = invocation.printer;
    if printer.is_json() {
        return printer.envelope(Exit::Ok, json!({ "page": page }));
    }
    printer.file(&page);
    Ok(Exit::Ok)
}
