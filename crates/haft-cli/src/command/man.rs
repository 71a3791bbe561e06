//! `haft man`: print the manual page.

use clap::{Args, CommandFactory as _};

use crate::args::Cli;
use crate::exit::Exit;

/// Print the manual page
#[derive(Debug, Args)]
pub(crate) struct ManArgs {}

pub(crate) fn run(_: &ManArgs) -> anyhow::Result<Exit> {
    clap_mangen::Man::new(Cli::command()).render(&mut std::io::stdout())?;
    Ok(Exit::Ok)
}
