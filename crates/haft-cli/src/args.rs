//! The command line: what can be typed.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Effects, Styles};
use clap::{
    Arg, Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum, ValueHint,
};

use crate::command;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().effects(Effects::BOLD))
    .usage(AnsiColor::Green.on_default().effects(Effects::BOLD))
    .literal(AnsiColor::Cyan.on_default().effects(Effects::BOLD))
    .placeholder(AnsiColor::Cyan.on_default());

const EXIT_CODES: &str = "\
Exit codes:
  0    everything went well
  1    a tool or command could not do what it was asked to, or what was named
       is not there
  2    the command line, the arguments or the configuration is not right
  3    a control refused: policy, approval, workspace, protection, budget
  4    a tool ran past its deadline, or a run reached a limit of turns, money or
       time
  130  cancelled: by Ctrl-C; a single call also by SIGTERM or SIGHUP
  129, 143
       a model's run was ended by SIGHUP, by SIGTERM";

const WHERE_GLOBAL: &str =
    "Options for every command, such as --root, --preset and --json: `haft --help`";

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

impl Cli {
    /// Reads what was typed.
    pub(crate) fn read(typed: &[OsString]) -> Result<Self, clap::Error> {
        let mut line = Self::command();
        let global = line.get_arguments().filter(|it| it.is_global_set());
        let global: Vec<Arg> = global.map(|it| it.clone().hide(true)).collect();
        line = line.mut_subcommands(|it| without_global(it, &global));
        let mut matches = line.try_get_matches_from_mut(typed)?;
        Self::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut line))
    }
}

/// Leaves what applies to every command out of a command's help, which would else say it anew for each of them.
fn without_global(command: clap::Command, global: &[Arg]) -> clap::Command {
    let own = command.get_after_help().map(|it| format!("\n\n{it}")).unwrap_or_default();
    command
        .args(global)
        .after_help(format!("{WHERE_GLOBAL}{own}"))
        .mut_subcommands(|it| without_global(it, global))
}

/// What applies to every command.
#[derive(Debug, Clone, Args)]
pub(crate) struct Global {
    /// A directory that tools may look into; may be given again [default: the nearest folder above with `.haft`, else the
    /// current directory]
    #[arg(long, short = 'C', global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) root: Vec<PathBuf>,

    /// What calls may do without asking: read-only (look; changes and commands are denied), edit (change files too; commands
    /// are asked about) or full (everything that no rule forbids) [default: edit]
    #[arg(long, global = true, value_name = "PRESET", hide_possible_values = true)]
    pub(crate) preset: Option<PresetArg>,

    /// Say yes beforehand to what the preset and rules would ask about; never to what they deny
    #[arg(long, short = 'y', global = true)]
    pub(crate) yes: bool,

    /// The shape of the built-in tools: actions (`reader`, `editor`) or verbs (`read_file`, `edit_file`) [default: actions]
    #[arg(long, global = true, value_name = "SHAPE", hide_possible_values = true)]
    pub(crate) toolset: Option<ToolsetArg>,

    /// Print one JSON object instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Keep records in this directory [default: HAFT_STATE_DIR, else the platform's state directory]
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) state_dir: Option<PathBuf>,

    /// Keep no records
    #[arg(long, global = true, conflicts_with = "state_dir")]
    pub(crate) no_state: bool,

    /// Say more on standard error; twice for details (HAFT_LOG takes precise filters)
    #[arg(long, short = 'v', global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,

    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorArg,
}

/// The names of the presets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PresetArg {
    /// Look only; changes and commands are denied
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

impl From<haft::policy::Preset> for PresetArg {
    fn from(preset: haft::policy::Preset) -> Self {
        match preset {
            haft::policy::Preset::ReadOnly => Self::ReadOnly,
            haft::policy::Preset::Edit => Self::Edit,
            haft::policy::Preset::Full => Self::Full,
        }
    }
}

/// The shapes of the built-in tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ToolsetArg {
    /// A tool for each thing, with an argument that says what to do to it
    #[default]
    Actions,
    /// A tool for each thing to do
    Verbs,
}

impl ToolsetArg {
    /// Returns the name that is typed and recorded.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Actions => "actions",
            Self::Verbs => "verbs",
        }
    }

    /// Returns the one of a name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::value_variants().iter().copied().find(|it| it.name() == name)
    }
}

impl From<ToolsetArg> for haft::coding::Toolset {
    fn from(toolset: ToolsetArg) -> Self {
        match toolset {
            ToolsetArg::Actions => Self::Actions,
            ToolsetArg::Verbs => Self::Verbs,
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
    /// Give a model a task in your files
    Run(command::run::RunArgs),
    /// Talk with a model that works in your files
    Chat(command::chat::ChatArgs),
    /// Go on with a run where it stopped
    Resume(command::resume::ResumeArgs),
    /// Begin a run as another one began, and go another way
    Fork(command::fork::ForkArgs),
    /// List runs of models, the latest first
    Runs(command::runs::RunsArgs),
    /// List the models there are, the keys and the servers
    Models(command::models::ModelsArgs),
    /// List the tools, or show one of them
    Tools(command::tools::ToolsArgs),
    /// Call a tool
    Call(command::call::CallArgs),
    /// See what may happen and why
    #[command(subcommand)]
    Policy(command::policy::PolicyCommand),
    /// See what is set, and where
    #[command(subcommand)]
    Config(command::config::ConfigCommand),
    /// Let this project's own rules count, after you have read them
    Trust(command::trust::TrustArgs),
    /// List recorded calls, newest first
    Log(command::log::LogArgs),
    /// Show one recorded call, or one run of a model
    Show(command::show::ShowArgs),
    /// List what calls changed in the files of this workspace, newest first
    Changes(command::changes::ChangesArgs),
    /// Show what a call changed, line by line
    Diff(command::diff::DiffArgs),
    /// Take back what a call or a run changed in files
    Undo(command::undo::UndoArgs),
    /// Serve the tools to an MCP client, or print what such a client needs to know
    Mcp(command::mcp::McpArgs),
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
