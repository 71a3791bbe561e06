//! `cargo xtask report`: what a real model gets done with haft.
//!
//! Trials of plain tasks through `haft run` as people start it: a fact in a file that is named, a fact in a file that is
//! not, a bug with a check that fails. Each trial has a workspace and a state of its own, at one path, for the server keeps
//! what it has read of a prompt. Whether a bug is fixed is found out by running the check.

mod server;
mod table;
mod tasks;
mod trial;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use self::server::Server;
use self::table::Report;
use self::tasks::{TASKS, Task};
use self::trial::Bench;
use crate::{repository, testbeds};

/// What `cargo xtask report` understands.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Tasks to try; all without a name.
    names: Vec<String>,
    /// Trials of each task.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=20))]
    trials: u16,
    /// Tokens of a prompt with its reply.
    #[arg(long, default_value_t = 8192, value_parser = clap::value_parser!(u32).range(4096..=32_768))]
    context: u32,
    /// Threads that the server computes with; more than one only where nothing else runs.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    threads: u16,
    /// Further options of every `haft run`, such as `--call-first=read_file`; may be given again.
    #[arg(long = "with", value_name = "OPTION", allow_hyphen_values = true)]
    options: Vec<String>,
    /// The haft to try; without it, one is built.
    #[arg(long, value_name = "FILE")]
    haft: Option<PathBuf>,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

/// Tries tasks and prints what came of them.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let tasks = select(&arguments.names)?;
    let root = repository::root()?;
    let parts = ["model-server".to_owned(), "model-large".to_owned()];
    if testbeds::prepare(&root, &parts, true)? > 0 {
        bail!("parts are missing: `cargo xtask testbeds model-server model-large` fetches 1.2 GB");
    }
    let haft = match &arguments.haft {
        Some(haft) => fs::canonicalize(haft).with_context(|| format!("no {}", haft.display()))?,
        None => built(&root)?,
    };
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or("unknown").to_owned();

    let server = Server::start(&root, arguments.context, arguments.threads)?;
    let bench = Bench::new(&root, haft, server.url(), &arguments.options)?;
    let mut report = Report::new(arguments, load);
    for task in tasks {
        eprintln!("{}: {}", task.name, task.about);
        for number in 0..arguments.trials {
            let trial = bench.attempt(task, number)?;
            eprintln!("  {}", trial.line());
            report.add(task, trial);
        }
    }
    drop(server);
    if arguments.json {
        println!("{:#}", report.to_json());
    } else {
        report.print();
    }
    Ok(ExitCode::SUCCESS)
}

fn built(root: &std::path::Path) -> Result<PathBuf> {
    let mut command = repository::cargo(root);
    command.args(["build", "--package", "haft-cli"]);
    if !repository::show_and_run(&mut command)?.success() {
        bail!("haft cannot be built");
    }
    Ok(root.join("target/debug/haft"))
}

fn select(names: &[String]) -> Result<Vec<&'static Task>> {
    if names.is_empty() {
        return Ok(TASKS.iter().collect());
    }
    let find = |name: &String| {
        TASKS.iter().find(|task| task.name == name).with_context(|| {
            let known: Vec<_> = TASKS.iter().map(|task| task.name).collect();
            format!("no task is called `{name}`, there are {}", known.join(", "))
        })
    };
    names.iter().map(find).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_tasks_are_named_with_those_that_exist() {
        let error = select(&["fx".to_owned()]).unwrap_err().to_string();
        assert_eq!(error, "no task is called `fx`, there are read, find, fix");
    }
}
