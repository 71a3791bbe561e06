//! Why a command was not started.

use std::io;

use crate::SandboxLevel;

/// A command that was not started, or whose end is not known.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// There is no program to start.
    #[error("the argument vector is empty: it needs a program")]
    NoProgram,
    /// A text that no program can be given.
    #[error("{what} {text:?} cannot be given to a program: {why}")]
    Unsuitable {
        /// What it is: an argument, the name of a variable.
        what: &'static str,
        /// The text, its beginning where it is long.
        text: String,
        /// Why not.
        why: &'static str,
    },
    /// The program was not found.
    #[error("the program `{program}` was not found{}", if program.contains('/') { "" } else { " in PATH" })]
    ProgramMissing {
        /// The program, as it was given.
        program: String,
    },
    /// The program is there, and what it needs to start is not.
    #[error(
        "`{program}` is there, but its interpreter or loader (see its first line) was not found"
    )]
    InterpreterMissing {
        /// The program, as it was given.
        program: String,
    },
    /// The program cannot be executed.
    #[error("the program `{program}` cannot be executed under level `{level}`: {source}")]
    ProgramRefused {
        /// The program, as it was given.
        program: String,
        /// How far it would have been confined.
        level: SandboxLevel,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// Arguments and environment are more than the system takes.
    #[error(
        "the arguments and the environment are {bytes} bytes, more than the system takes: put long data into a file"
    )]
    TooLong {
        /// How many bytes they are.
        bytes: usize,
    },
    /// The working directory was deleted.
    #[error("the working directory was deleted")]
    DirectoryGone,
    /// The working directory cannot be entered.
    #[error("the working directory cannot be entered: {source}")]
    DirectoryRefused {
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The level that is demanded does not work here.
    #[error(
        "sandbox level `{wanted}` is demanded, and `{best}` is the most that works here: {why}"
    )]
    LevelUnavailable {
        /// The level.
        wanted: SandboxLevel,
        /// The strongest that works.
        best: SandboxLevel,
        /// Why no more does.
        why: String,
    },
    /// The level worked when it was tried, and could not be applied.
    #[error("sandbox level `{level}` could not be applied, so nothing was started: {problem}")]
    NotConfined {
        /// The level.
        level: SandboxLevel,
        /// What went wrong.
        problem: String,
    },
    /// The helper did not do its part.
    #[error("the helper process {problem}")]
    Helper {
        /// What it did, or did not.
        problem: String,
    },
    /// A temporary directory could not be made.
    #[error("no temporary directory could be made: {source}")]
    Scratch {
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The system refused.
    #[error("cannot {action}: {source}")]
    System {
        /// What was tried.
        action: &'static str,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
}

impl LaunchError {
    pub(crate) fn system(action: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| Self::System { action, source }
    }

    pub(crate) fn helper(problem: impl Into<String>) -> Self {
        Self::Helper { problem: problem.into() }
    }
}
