//! Chores of the repository, run as `cargo xtask <chore>`. One file per chore.
//!
//! What is not here: anything the product needs at run time. The chores read files, start
//! processes and print; the crates they look after do so only behind their doors.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "chores are run by hand: they read the repository, start programs and print"
)]

mod bench;
mod report;
mod repository;
mod test;
mod testbeds;
mod tidy;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Chores of the haft repository.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Check the rules that no linter sees.
    Tidy,
    /// Install the real parts that tests need, then run every test.
    Test(test::Arguments),
    /// Install the real parts that tests need.
    Testbeds(testbeds::Arguments),
    /// Measure haft beside the programs people would use instead.
    Bench(bench::Arguments),
    /// Try what a real model gets done with haft.
    Report(report::Arguments),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().chore {
        Chore::Tidy => tidy::run(),
        Chore::Test(arguments) => test::run(&arguments),
        Chore::Testbeds(arguments) => testbeds::run(&arguments),
        Chore::Bench(arguments) => bench::run(&arguments),
        Chore::Report(arguments) => report::run(&arguments),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
