//! `cargo xtask test`: every test of the repository, with the real parts they need.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::Result;

use crate::{repository, testbeds};

/// What `cargo xtask test` understands.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Use the parts that are there and fetch none.
    #[arg(long)]
    offline: bool,
    /// Passed on to the test runner; documentation tests are then left out.
    #[arg(last = true, value_name = "RUNNER ARGUMENTS")]
    runner: Vec<String>,
}

/// Installs the parts, runs the tests with nextest where it is installed, then the examples in
/// the documentation, which nextest does not run.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let root = repository::root()?;
    testbeds::prepare(&root, &[], arguments.offline)?;

    let status = repository::show_and_run(&mut runner(&root, &arguments.runner))?;
    if !status.success() {
        return Ok(repository::exit_code(status));
    }
    if !arguments.runner.is_empty() {
        eprintln!("documentation tests are left out when arguments are passed to the runner");
        return Ok(ExitCode::SUCCESS);
    }
    let mut examples = repository::cargo(&root);
    examples.args(["test", "--doc", "--workspace", "--all-features"]);
    Ok(repository::exit_code(repository::show_and_run(&mut examples)?))
}

fn runner(root: &Path, arguments: &[String]) -> Command {
    let mut command = repository::cargo(root);
    if has_nextest(root) {
        command.args(["nextest", "run"]);
    } else {
        eprintln!("cargo-nextest is not installed, the tests run under `cargo test`");
        command.args(["test", "--all-targets"]);
    }
    // Whoever picks packages does not mean the whole workspace.
    if !arguments.iter().any(|argument| picks_packages(argument)) {
        command.arg("--workspace");
    }
    command.arg("--all-features").args(arguments);
    command
}

fn picks_packages(argument: &str) -> bool {
    argument.starts_with("--package") || argument.starts_with("-p")
}

fn has_nextest(root: &Path) -> bool {
    let mut command = repository::cargo(root);
    command.args(["nextest", "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
