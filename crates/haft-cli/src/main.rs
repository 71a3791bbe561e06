//! The `haft` command.
//!
//! One command, one file, under `command/`. Nothing but [`print`] writes to the terminal; nothing but [`environment`]
//! reads the environment; what a command does is done by the library.

mod approver;
mod args;
mod assemble;
mod command;
mod environment;
mod exit;
mod files;
mod keyboard;
mod model;
mod print;
mod progress;
mod property;
mod roots;
mod secrets;
mod when;
mod work;

use std::io::IsTerminal as _;
use std::process::ExitCode;

use tokio::runtime::{Builder, Runtime};
use tracing_subscriber::EnvFilter;

use crate::args::{Cli, Command, Global};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::print::{Printer, Tone};

fn main() -> ExitCode {
    // This process may have been started to run a command; then it does that and nothing else.
    let helper = haft::process::helper::run_if_requested();
    let environment = Environment::read(helper);
    let Cli { global, command } = match Cli::read(&environment.arguments) {
        Ok(cli) => cli,
        Err(unread) => return print::unread(&unread, &environment).into(),
    };
    let printer = Printer::new(global.json, command.name(), global.color);
    log_to_stderr(&global, &environment, printer);
    let exit = match run(command, &global, &environment, printer) {
        Ok(exit) => exit,
        Err(error) => report(printer, &error),
    };
    print::delivered(exit, printer).into()
}

/// Runs a command on a runtime of its own.
fn run(
    command: Command,
    global: &Global,
    environment: &Environment,
    printer: Printer,
) -> anyhow::Result<Exit> {
    let runtime = runtime(&command)?;
    let exit = runtime.block_on(command::run(command, global, environment, printer));
    // Bodies that did not stop when asked to are left to end with the process.
    runtime.shutdown_background();
    exit
}

/// Whatever blocks or computes for long has threads of its own, so that one thread does for all that is left of one
/// client's calls; waking others would take longer than most of it.
fn runtime(command: &Command) -> std::io::Result<Runtime> {
    let mut runtime = if command.serves_many() {
        let mut many = Builder::new_multi_thread();
        many.worker_threads(2);
        many
    } else {
        Builder::new_current_thread()
    };
    runtime.enable_all().build()
}

/// Prints an error of ours with its causes; a mistake in the configuration or on the command line is the user's.
fn report(printer: Printer, error: &anyhow::Error) -> Exit {
    let text = error.chain().map(ToString::to_string).reduce(|text, cause| {
        // Some causes stand in the text of what they caused.
        if text.contains(&cause) { text } else { format!("{text}: {cause}") }
    });
    let text = text.unwrap_or_default();
    if error.is::<assemble::UserMistake>() {
        let hints = error
            .downcast_ref::<assemble::UserMistake>()
            .map(|it| it.hints.clone())
            .unwrap_or_default();
        return printer.error(Exit::Usage, "usage", &text, &hints);
    }
    if let Some(work::EndedAtOnce(by)) = error.downcast_ref() {
        return printer.error(by.exit(), "ended", &text, &[]);
    }
    printer.error(Exit::Failed, "failed", &text, &[])
}

/// Writes what happens inside to standard error. Without `-v`, what went wrong is in the outcome; the operator's detail
/// waits for those who ask.
fn log_to_stderr(global: &Global, environment: &Environment, printer: Printer) {
    if global.verbose == 0 && environment.log.is_none() {
        return;
    }
    let level = match global.verbose {
        0 => "error",
        1 => "info",
        2 => "debug",
        _ => "trace",
    };
    let filter = environment.log.as_ref().and_then(|filter| {
        let unread = |error| {
            let text = format!("`{filter}` is no filter, so it is not followed: {error}");
            printer.aside(Tone::Warn, "HAFT_LOG", &text);
        };
        EnvFilter::try_new(filter).map_err(unread).ok()
    });
    let filter = filter.unwrap_or_else(|| EnvFilter::new(level));
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        .try_init();
}
