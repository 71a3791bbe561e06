//! The tool that runs commands.

mod settings;
mod show;

use std::ffi::OsString;
use std::num::NonZeroU32;
use std::time::Duration;

use haft_process::{Capture, Command, LaunchError, Launcher, Sandbox, SandboxLevel};
use haft_protocol::{Capabilities, Capability, ErrorKind, Failure, limits};
use haft_tool::{
    Call, CommandSlot, DescriptorError, Facts, Shown, Slot, ToolPath, TypedTool, blocking,
};
use haft_workspace::WorkspaceCall;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::CodeCheck;

pub use settings::BashSettings;
pub use show::{BashOutput, EndKind, LeftProcess, StreamOutput};

/// The tool `builtin/bash`.
#[derive(Debug, Clone)]
pub struct Bash {
    launcher: Launcher,
    settings: BashSettings,
}

impl Bash {
    /// Makes the tool.
    pub fn new(launcher: Launcher, settings: BashSettings) -> Self {
        Self { launcher, settings }
    }

    /// Returns the tool that starts checkers in the same way.
    pub(crate) fn code_check(&self) -> CodeCheck {
        CodeCheck::new(self.launcher.clone(), self.settings.clone())
    }
}

/// What to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BashArgs {
    /// A command for bash, which gets exactly this text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::COMMAND_CHARS))]
    pub command: Option<String>,
    /// A program and its arguments, in place of `command`; no shell looks at them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::COMMAND_ARGUMENTS), inner(length(max = limits::COMMAND_CHARS)))]
    pub argv: Option<Vec<String>>,
    /// The directory to start in.
    #[serde(default = "ToolPath::root")]
    pub cwd: ToolPath,
    /// Milliseconds it may run; 30000 where nothing is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::COMMAND_MS_MAX))]
    pub timeout_ms: Option<NonZeroU32>,
}

/// How long a command may take to end once it is asked to, which has to be less than dispatch waits for the body.
const GRACE: Duration = Duration::from_millis(600);

/// How much longer than its command the body may take, to start it and to see to its end.
const MARGIN_MS: u64 = 30_000;

impl TypedTool for Bash {
    type Args = BashArgs;
    type Output = Shown<BashOutput>;

    fn facts(&self) -> Result<Facts, DescriptorError> {
        let mut capabilities = Capabilities::builder()
            .effect(Capability::ReadFiles)
            .effect(Capability::WriteFiles)
            .effect(Capability::Execute)
            .side_effect("whatever the programs do");
        if self.settings.sandbox < SandboxLevel::FilesNet {
            capabilities = capabilities.effect(Capability::Network);
        }
        Ok(Facts {
            title: Some("Run a command".to_owned()),
            capabilities: capabilities.build()?,
            slots: vec![Slot::read("cwd"), Slot::write_roots("workspace")],
            commands: vec![CommandSlot::shell("command"), CommandSlot::argv("argv")],
            run_ms: Some(u64::from(limits::COMMAND_MS_MAX) + MARGIN_MS),
            ..Facts::new("builtin/bash".parse()?, include_str!("bash.md").trim())
        })
    }

    const NARROWS: bool = true;

    fn effects(&self, args: &BashArgs) -> Result<Option<Capabilities>, Failure> {
        argv(args.command.clone(), args.argv.clone()).map(|_| None)
    }

    async fn run(&self, call: Call, args: BashArgs) -> Result<Self::Output, Failure> {
        let argv = argv(args.command, args.argv)?;
        let timeout = args.timeout_ms.map_or(limits::COMMAND_MS, NonZeroU32::get);
        let command = self.command(&call, argv, timeout).await?;
        let stop = call.cancellation().clone();
        let ran = self.launcher.run(command, async move { stop.cancelled().await }).await;
        let finished = ran.map_err(|error| failure(&error, &self.settings))?;
        show::show(&call, finished, timeout, &self.settings).await
    }
}

/// Returns the program and its arguments.
fn argv(command: Option<String>, argv: Option<Vec<String>>) -> Result<Vec<OsString>, Failure> {
    match (command, argv) {
        (Some(text), None) => {
            // The dashes end bash's own options, so a text that begins with one is a command too.
            let shell = ["bash", "--noprofile", "--norc", "-c", "--"];
            Ok(shell.into_iter().map(OsString::from).chain([text.into()]).collect())
        }
        (None, Some(argv)) => Ok(argv.into_iter().map(OsString::from).collect()),
        (given, _) => {
            let text = match given {
                Some(_) => "both \"command\" and \"argv\" are given, and one is needed",
                None => "neither \"command\" nor \"argv\" is given, and one is needed",
            };
            Err(Failure::new(ErrorKind::InvalidArguments, text).hint(
                "give \"command\" for a line of bash, or \"argv\" for a program and its arguments",
            ))
        }
    }
}

impl Bash {
    /// Makes the command of a call: beneath the roots, with the environment of the settings.
    async fn command(
        &self,
        call: &Call,
        argv: Vec<OsString>,
        timeout: u32,
    ) -> Result<Command, Failure> {
        let view = call.view()?;
        let (cwd, roots) = (call.resolved("cwd")?, call.places("workspace")?);
        let opened = blocking(move || {
            let roots: Result<Vec<_>, _> = roots.iter().map(|root| view.directory(root)).collect();
            Ok::<_, haft_workspace::PathError>((view.directory(&cwd)?, roots?))
        });
        let (directory, roots) = opened.await?;
        let settings = &self.settings;
        let mut command = Command::of(argv, directory);
        command.env = settings.env();
        command.timeout = Duration::from_millis(u64::from(timeout));
        command.grace = GRACE;
        command.sandbox = Sandbox {
            level: settings.sandbox,
            at_least: settings.sandbox_at_least,
            write: roots,
            read: settings.read.clone(),
            private_home: true,
        };
        command.allowance = settings.allowance;
        command.capture = Capture {
            head: limits::COMMAND_STREAM_BYTES / 2,
            tail: limits::COMMAND_STREAM_BYTES / 2,
            spool: limits::COMMAND_SPOOL_BYTES,
        };
        Ok(command)
    }
}

/// Says why nothing was run, and what would help.
fn failure(error: &LaunchError, settings: &BashSettings) -> Failure {
    tracing::debug!(%error, ?error, "a command was not started");
    let (kind, hint) = match error {
        LaunchError::ProgramMissing { .. } | LaunchError::InterpreterMissing { .. } => {
            (ErrorKind::NotFound, None)
        }
        LaunchError::DirectoryGone => {
            (ErrorKind::NotFound, Some("leave \"cwd\" out to start in the workspace".to_owned()))
        }
        LaunchError::DirectoryRefused { .. } => (ErrorKind::PermissionDenied, None),
        LaunchError::ProgramRefused { level, program, .. } => {
            let hint = || settings.program_hint(program);
            (ErrorKind::PermissionDenied, (*level >= SandboxLevel::Files).then(hint))
        }
        LaunchError::NoProgram | LaunchError::Unsuitable { .. } | LaunchError::TooLong { .. } => {
            (ErrorKind::InvalidArguments, None)
        }
        LaunchError::LevelUnavailable { .. } => {
            (ErrorKind::Unsupported, Some(settings.level_hint()))
        }
        // Nothing is transient here: a command is never repeated by itself.
        _ => (ErrorKind::Upstream, None),
    };
    let failure = Failure::new(kind, format!("nothing was run: {error}"));
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}
