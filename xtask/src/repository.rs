//! Where the repository is, and how a program is run in it.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};

use anyhow::{Context, Result};

/// Returns the folder that holds the workspace manifest.
pub(crate) fn root() -> Result<PathBuf> {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    let parent = manifest.parent().context("xtask has no parent folder")?;
    Ok(parent.to_path_buf())
}

/// Returns the Cargo that started this chore, so that toolchain overrides carry over.
pub(crate) fn cargo(root: &Path) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(root);
    command
}

/// Prints a command, then runs it with the terminal as its own.
pub(crate) fn show_and_run(command: &mut Command) -> Result<ExitStatus> {
    eprintln!("+ {}", spelled(command));
    command.status().with_context(|| format!("cannot start {}", spelled(command)))
}

/// Returns a command as a person would type it.
pub(crate) fn spelled(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str());
    std::iter::once(name)
        .chain(command.get_args())
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns the exit code that stands for a child's end.
pub(crate) fn exit_code(status: ExitStatus) -> ExitCode {
    match status.code().and_then(|code| u8::try_from(code).ok()) {
        Some(code) => ExitCode::from(code),
        None => ExitCode::FAILURE,
    }
}
