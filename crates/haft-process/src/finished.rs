//! How a command ended.

use std::fmt;
use std::time::Duration;

use crate::{Captured, SandboxLevel};

/// A command that ended, in whatever way.
#[derive(Debug)]
pub struct Finished {
    /// How it ended.
    pub end: End,
    /// What it wrote to standard output.
    pub stdout: Captured,
    /// What it wrote to standard error.
    pub stderr: Captured,
    /// What was still running when the command itself had ended. It has been killed.
    pub left_behind: LeftBehind,
    /// How far it was confined.
    pub level: SandboxLevel,
    /// How sure it is that nothing of it runs any more.
    pub cleanup: Cleanup,
    /// How long it took.
    pub elapsed: Duration,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By itself, with this status.
    Exited(i32),
    /// By this signal, which did not come from here.
    Signalled(i32),
    /// It ran out of time and was stopped.
    TimedOut,
    /// It was stopped because the caller said so.
    Stopped,
}

impl End {
    /// Tells whether the command ended by itself with status 0.
    pub fn is_success(self) -> bool {
        self == Self::Exited(0)
    }
}

/// How sure it is that nothing of a command runs any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cleanup {
    /// The system said that nothing is left.
    Complete,
    /// The process group was killed; what left the group may run on.
    GroupOnly,
    /// Only the command itself was stopped, as level `none` has it.
    CommandOnly,
    /// The helper was killed; its session was killed from here, and what left the session may run on.
    HelperLost,
    /// This many processes did not go although they were killed.
    Survivors(u32),
}

/// Processes that were still running when the command that had started them ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LeftBehind {
    /// The first of them.
    pub processes: Vec<Process>,
    /// How many more there were.
    pub more: u32,
}

impl LeftBehind {
    /// Tells whether there were none.
    pub fn is_empty(&self) -> bool {
        self.processes.is_empty() && self.more == 0
    }
}

/// A process, as it was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// Its command line, cut where it is long.
    pub command: String,
}

/// What a confined command probably ran into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confinement {
    /// A file or directory outside those it may use.
    Files,
    /// The network, which is off.
    Network,
}

impl fmt::Display for Confinement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Files => "files",
            Self::Network => "network",
        })
    }
}

/// What programs say where there is no network.
const NO_NETWORK: &[&str] = &[
    "Network is unreachable",
    "network is unreachable",
    "ENETUNREACH",
    "Could not resolve",
    "could not resolve",
    "Temporary failure in name resolution",
    "Temporary failure resolving",
    "Name or service not known",
    "EAI_AGAIN",
    "Couldn't connect to server",
    "Failed to connect to",
    "Address family not supported",
];

/// What programs say where a file may not be used.
const NO_ACCESS: &[&str] = &[
    "Permission denied",
    "permission denied",
    "EACCES",
    "Operation not permitted",
    "operation not permitted",
    "EPERM",
    "Invalid cross-device link",
];

impl Finished {
    /// Guesses whether the command failed because it was confined, from its end, its level and what it wrote.
    ///
    /// A guess by the words of error messages: it can be wrong both ways.
    pub fn likely_confined(&self) -> Option<Confinement> {
        let failed = matches!(self.end, End::Exited(1..));
        if !failed || self.level < SandboxLevel::Files {
            return None;
        }
        let said = [self.stderr.kept(), self.stdout.kept()];
        let says = |words: &[&str]| {
            let holds = |text: &str| words.iter().any(|word| text.contains(word));
            said.iter().any(|kept| holds(&kept.head) || holds(&kept.tail))
        };
        if self.level >= SandboxLevel::FilesNet && says(NO_NETWORK) {
            return Some(Confinement::Network);
        }
        says(NO_ACCESS).then_some(Confinement::Files)
    }
}
