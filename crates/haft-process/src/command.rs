//! What to run, and within which limits.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

use crate::{Allowance, SandboxLevel};

/// A program to run, with everything it is given.
///
/// The environment is `env` and nothing else, except that [`Sandbox::private_home`] sets `HOME` and `TMPDIR`. Standard
/// input is empty and there is no terminal.
#[derive(Debug)]
pub struct Command {
    /// The program and its arguments. A program without a slash is looked up in the `PATH` of `env`.
    pub argv: Vec<OsString>,
    /// The directory it starts in.
    pub directory: OwnedFd,
    /// The whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// How long it may run.
    pub timeout: Duration,
    /// How long it may take to end once it is asked to.
    pub grace: Duration,
    /// How far it is confined.
    pub sandbox: Sandbox,
    /// What it may use up.
    pub allowance: Allowance,
    /// How much of each stream is kept.
    pub capture: Capture,
}

impl Command {
    /// Makes a command without an environment, with 30 seconds to run and 2 to end, confined as far as can be.
    pub fn of<Argv>(argv: Argv, directory: OwnedFd) -> Self
    where
        Argv: IntoIterator<Item: Into<OsString>>,
    {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            directory,
            env: Vec::new(),
            timeout: Duration::from_secs(30),
            grace: Duration::from_secs(2),
            sandbox: Sandbox::default(),
            allowance: Allowance::default(),
            capture: Capture::default(),
        }
    }
}

/// How far a command is confined, and what it keeps.
#[derive(Debug)]
pub struct Sandbox {
    /// The level to reach. The strongest that works is used, up to this one.
    pub level: SandboxLevel,
    /// The level below which nothing is started.
    pub at_least: SandboxLevel,
    /// Directories beneath which everything may be read and written, 62 at most.
    pub write: Vec<OwnedFd>,
    /// Files and directories that may be read and executed beside those of the system. What does not exist is passed
    /// over.
    pub read: Vec<PathBuf>,
    /// Whether the command gets an empty directory of its own as `HOME` and `TMPDIR`, which goes when it ends.
    pub private_home: bool,
}

impl Default for Sandbox {
    fn default() -> Self {
        Self {
            level: SandboxLevel::FilesNet,
            at_least: SandboxLevel::None,
            write: Vec::new(),
            read: Vec::new(),
            private_home: true,
        }
    }
}

/// How much of each stream is kept, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capture {
    /// How much of the start stays in memory.
    pub head: usize,
    /// How much of the end stays in memory.
    pub tail: usize,
    /// How much goes to a temporary file without a name, once the stream does not fit in memory.
    pub spool: u64,
}

impl Default for Capture {
    /// Half of 64 KiB each, and 8 MiB on disk.
    fn default() -> Self {
        Self { head: 32 * 1024, tail: 32 * 1024, spool: 8 * 1024 * 1024 }
    }
}
