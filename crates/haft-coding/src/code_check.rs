//! The tool that asks checkers what is wrong with source code.

mod answer;
mod cargo;
mod checker;
mod choice;
mod ruff;
mod start;

use std::num::NonZeroU32;

use haft_process::{Launcher, SandboxLevel};
use haft_protocol::{Capabilities, Capability, Failure, limits};
use haft_tool::{Call, DescriptorError, Facts, Shown, Slot, ToolPath, TypedTool, blocking};
use haft_workspace::WorkspaceCall;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bash::BashSettings;

pub use answer::{CheckStatus, CodeCheckOutput};
pub use checker::{Checker, Diagnostic, Severity, UnreadableOutput};

/// The tool `builtin/code_check`.
#[derive(Debug, Clone)]
pub struct CodeCheck {
    launcher: Launcher,
    settings: BashSettings,
}

impl CodeCheck {
    /// Makes the tool. Checkers are started as commands are: with the same environment, and no less confined.
    pub fn new(launcher: Launcher, settings: BashSettings) -> Self {
        Self { launcher, settings }
    }
}

/// What to check, and with what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CodeCheckArgs {
    /// The file or directory to check.
    #[serde(default = "ToolPath::root")]
    pub path: ToolPath,
    /// The checker. Where none is given: `cargo_check` for Rust or where a `Cargo.toml` is at or above `path`, `ruff` for
    /// Python.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checker: Option<Checker>,
    /// Diagnostics at most.
    #[serde(default = "diagnostics")]
    #[schemars(range(min = 1, max = limits::CODE_CHECK_DIAGNOSTICS_MAX))]
    pub limit: NonZeroU32,
}

fn diagnostics() -> NonZeroU32 {
    NonZeroU32::new(limits::CODE_CHECK_DIAGNOSTICS).unwrap_or(NonZeroU32::MIN)
}

/// How much longer than its checker the body may take, to start it and to read what it wrote.
const MARGIN_MS: u64 = 30_000;

impl TypedTool for CodeCheck {
    type Args = CodeCheckArgs;
    type Output = Shown<CodeCheckOutput>;

    fn facts(&self) -> Result<Facts, DescriptorError> {
        let mut capabilities = Capabilities::builder()
            .effect(Capability::ReadFiles)
            .effect(Capability::WriteFiles)
            .effect(Capability::Execute)
            .side_effect("whatever build scripts and macros of the project do");
        if self.settings.sandbox < SandboxLevel::FilesNet {
            capabilities = capabilities.effect(Capability::Network);
        }
        Ok(Facts {
            title: Some("Check code".to_owned()),
            capabilities: capabilities.build()?,
            slots: vec![Slot::read("path"), Slot::write_roots("workspace")],
            run_ms: Some(u64::from(limits::CODE_CHECK_MS) + MARGIN_MS),
            ..Facts::new("builtin/code_check".parse()?, include_str!("code_check.md").trim())
        })
    }

    const NARROWS: bool = true;

    /// A checker that runs nothing of the project changes no file. It is a program all the same.
    fn effects(&self, args: &CodeCheckArgs) -> Result<Option<Capabilities>, Failure> {
        let runs_nothing = args.checker.is_some_and(|it| !it.runs_project_code());
        let narrowed =
            Capabilities::builder().effect(Capability::ReadFiles).effect(Capability::Execute);
        Ok(runs_nothing.then(|| narrowed.build().ok()).flatten())
    }

    async fn run(&self, call: Call, args: CodeCheckArgs) -> Result<Self::Output, Failure> {
        let (view, place) = (call.view()?, call.resolved("path")?);
        let (seen, wanted) = (view.clone(), args.checker);
        let target = blocking({
            let place = place.clone();
            move || choice::target(&seen, &place, wanted)
        })
        .await?;
        let checked = self.check(&call, &view, &place, &target).await?;
        let (checker, limit) = (target.checker, args.limit);
        Ok(blocking(move || answer::shown(&view, &place, checker, checked, limit)).await)
    }
}
