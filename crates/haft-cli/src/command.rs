//! The commands, one file each.

pub(crate) mod call;
pub(crate) mod changes;
pub(crate) mod chat;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod fork;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod models;
pub(crate) mod policy;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod show;
pub(crate) mod state;
pub(crate) mod tools;
pub(crate) mod trust;
pub(crate) mod undo;

use std::sync::Arc;

use crate::approver::Agreed;
use crate::args::{Command, Global};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::print::Printer;
use crate::progress::ProgressLine;

/// What every command gets.
pub(crate) struct Invocation<'a> {
    /// What applies to every command.
    pub(crate) global: &'a Global,
    /// What the environment says.
    pub(crate) environment: &'a Environment,
    /// The way to the terminal.
    pub(crate) printer: Printer,
    /// What the command does with records.
    pub(crate) records: Records,
    /// Who is asked about calls.
    pub(crate) asked: Asked,
    /// How far a call is.
    pub(crate) progress: Arc<ProgressLine>,
    /// What the person has said yes to already.
    pub(crate) agreed: Agreed,
}

/// What a command does with records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Records {
    /// It opens them.
    Opened,
    /// It makes no calls and looks at none, so they stay closed.
    LeftAlone,
}

/// Who is asked about calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// The person at the terminal.
    AtTheTerminal,
    /// The person at the terminal, who may be asked the same again.
    DuringARun,
    /// The user of the client that makes the call.
    TheClient,
}

impl Command {
    /// Returns the command's name, as the JSON envelope has it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Run(_) => "run",
            Self::Chat(_) => "chat",
            Self::Resume(_) => "resume",
            Self::Fork(_) => "fork",
            Self::Runs(_) => "runs",
            Self::Models(_) => "models",
            Self::Config(_) => "config",
            Self::Tools(_) => "tools",
            Self::Call(_) => "call",
            Self::Policy(_) => "policy",
            Self::Trust(_) => "trust",
            Self::Log(_) => "log",
            Self::Show(_) => "show",
            Self::Changes(_) => "changes",
            Self::Diff(_) => "diff",
            Self::Undo(_) => "undo",
            Self::Mcp(_) => "mcp",
            Self::State(_) => "state",
            Self::Doctor(_) => "doctor",
            Self::Completions(_) => "completions",
            Self::Man(_) => "man",
        }
    }

    /// Tells whether the command serves any number of clients at one time.
    pub(crate) fn serves_many(&self) -> bool {
        matches!(self, Self::Mcp(args) if args.is_http())
    }
}

/// Runs a command.
pub(crate) async fn run(
    command: Command,
    global: &Global,
    environment: &Environment,
    printer: Printer,
) -> anyhow::Result<Exit> {
    let records = match &command {
        Command::Tools(_) | Command::Policy(_) | Command::Config(_) | Command::Completions(_) => {
            Records::LeftAlone
        }
        _ => Records::Opened,
    };
    let asked = match &command {
        Command::Mcp(_) => Asked::TheClient,
        Command::Run(_) | Command::Chat(_) | Command::Resume(_) | Command::Fork(_) => {
            Asked::DuringARun
        }
        _ => Asked::AtTheTerminal,
    };
    let progress = Arc::default();
    let agreed = Agreed::default();
    let invocation = Invocation { global, environment, printer, records, asked, progress, agreed };
    match command {
        Command::Run(args) => run::run(&invocation, args).await,
        Command::Chat(args) => chat::run(&invocation, args).await,
        Command::Resume(args) => resume::run(&invocation, args).await,
        Command::Fork(args) => fork::run(&invocation, args).await,
        Command::Runs(args) => runs::run(&invocation, &args),
        Command::Models(args) => models::run(&invocation, &args).await,
        Command::Config(args) => config::run(&invocation, &args),
        Command::Tools(args) => tools::run(&invocation, &args),
        Command::Call(args) => call::run(&invocation, args).await,
        Command::Policy(args) => policy::run(&invocation, args).await,
        Command::Trust(args) => trust::run(&invocation, &args),
        Command::Log(args) => log::run(&invocation, &args),
        Command::Show(args) => show::run(&invocation, &args),
        Command::Changes(args) => changes::run(&invocation, &args),
        Command::Diff(args) => diff::run(&invocation, &args),
        Command::Undo(args) => undo::run(&invocation, args).await,
        Command::Mcp(args) => mcp::run(&invocation, args).await,
        Command::State(args) => state::run(&invocation, &args),
        Command::Doctor(args) => doctor::run(&invocation, &args),
        Command::Completions(args) => completions::run(&invocation, &args),
        Command::Man(args) => man::run(&invocation, &args),
    }
}
