//! The command line: what can be typed.

use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Effects, Styles};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};

use crate::command;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().effects(Effects::BOLD))
    .usage(AnsiColor::Green.on_default().effects(Effects::BOLD))
    .literal(AnsiColor::Cyan.on_default().effects(Effects::BOLD))
    .placeholder(AnsiColor::Cyan.on_default());

const EXIT_CODES: &str = "\
Exit codes:
  0    everything went well
  1    a tool or command could not do what it was asked to
  2    the command line, the arguments or the configuration is wrong
  3    a control refused: policy, approval, workspace, protection, budget
  4    a tool ran past its deadline
  130  cancelled: by Ctrl-C, SIGTERM or SIGHUP";

/// Typed tools over your files, behind one call path that checks, confines and records every call.
#[derive(Debug, Parser)]
#[command(name = "haft", version, styles = STYLES, after_help = EXIT_CODES, max_term_width = 80)]
#[command(propagate_version = true, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What applies to every command.
#[derive(Debug, Clone, Args)]
pub(crate) struct Global {
    /// A directory that tools may look into; may be given again [default: the current directory]
    #[arg(long, short = 'C', global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) root: Vec<PathBuf>,

    /// What calls may do without asking: read-only, edit or full [default: edit]
    #[arg(long, global = true, value_name = "PRESET", hide_possible_values = true)]
    pub(crate) preset: Option<PresetArg>,

    /// Say yes beforehand to what the preset and rules would ask about; never to what they deny
    #[arg(long, short = 'y', global = true)]
    pub(crate) yes: bool,

    /// Print one JSON object instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Keep records in this directory [default: HAFT_STATE_DIR, else the platform's state directory]
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) state_dir: Option<PathBuf>,

    /// Keep no records
    #[arg(long, global = true, conflicts_with = "state_dir")]
    pub(crate) no_state: bool,

    /// Say more on standard error; again for even more (HAFT_LOG takes precise filters)
    #[arg(long, short = 'v', global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,

    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorArg,
}

/// The names of the presets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PresetArg {
    /// Look only
    ReadOnly,
    /// Look and change files; ask before running programs or reaching out
    Edit,
    /// Everything that no rule forbids
    Full,
}

impl From<PresetArg> for haft::policy::Preset {
    fn from(preset: PresetArg) -> Self {
        match preset {
            PresetArg::ReadOnly => Self::ReadOnly,
            PresetArg::Edit => Self::Edit,
            PresetArg::Full => Self::Full,
        }
    }
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorArg {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The commands, one file each.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the tools, or show one of them
    Tools(command::tools::ToolsArgs),
    /// Call a tool
    Call(command::call::CallArgs),
    /// See what may happen and why
    #[command(subcommand)]
    Policy(command::policy::PolicyCommand),
    /// Let this project's own rules count, after you have read them
    Trust(command::trust::TrustArgs),
    /// List recorded calls, newest first
    Log(command::log::LogArgs),
    /// Show one recorded call
    Show(command::show::ShowArgs),
    /// Look after recorded state
    #[command(subcommand)]
    State(command::state::StateCommand),
    /// Check the set-up and say what each part stands on
    Doctor(command::doctor::DoctorArgs),
    /// Print a completion script for your shell
    Completions(command::completions::CompletionsArgs),
    /// Print the manual page of haft or of one of its commands
    Man(command::man::ManArgs),
}
