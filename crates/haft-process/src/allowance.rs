//! What a command may use up.

use std::fs;
use std::io;

use haft_protocol::limits;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What a command may use up. The system holds each process of it to the same numbers, and whatever it starts inherits
/// them; it can lower them and not raise them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Bytes of memory that one process may have to itself (`RLIMIT_DATA`): what it maps to write, used or not.
    pub memory_bytes: u64,
    /// Processes and threads that there may be beyond those that run when the command starts (`RLIMIT_NPROC`).
    ///
    /// The system counts all that the user runs. It holds root to no number.
    pub processes: u64,
    /// Bytes to which a file may grow (`RLIMIT_FSIZE`); who writes on is ended by the signal `XFSZ`.
    pub file_bytes: u64,
}

impl Default for Allowance {
    /// No process more than 4096 and no file beyond 16 GiB, which no build comes near, and as good as all memory.
    fn default() -> Self {
        Self {
            memory_bytes: limits::PROGRAM_MEMORY_BYTES,
            processes: limits::PROGRAM_PROCESSES,
            file_bytes: limits::PROGRAM_FILE_BYTES,
        }
    }
}

/// Limits that are ready to be set between fork and exec, where nothing may be allocated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ready {
    limits: [(Resource, Option<u64>); 3],
}

impl Allowance {
    /// Looks how much runs already.
    pub(crate) fn ready(&self) -> Ready {
        let processes = running().map(|running| running.saturating_add(self.processes));
        Ready {
            limits: [
                (Resource::Data, Some(self.memory_bytes)),
                (Resource::Nproc, processes),
                (Resource::Fsize, Some(self.file_bytes)),
            ],
        }
    }
}

impl Ready {
    /// Sets the limits for this process and all that it starts. Those that are lower already stay.
    ///
    /// # Errors
    ///
    /// Fails where the system refuses.
    pub(crate) fn set(&self) -> io::Result<()> {
        for (resource, most) in self.limits {
            let Some(most) = most else { continue };
            let now = getrlimit(resource);
            let lower = |limit: Option<u64>| Some(limit.map_or(most, |limit| limit.min(most)));
            let limit = Rlimit { current: lower(now.current), maximum: lower(now.maximum) };
            setrlimit(resource, limit)?;
        }
        Ok(())
    }
}

/// Counts the processes and threads of everybody; nothing, where the system does not tell. No user runs more.
fn running() -> Option<u64> {
    let load = fs::read_to_string("/proc/loadavg").ok()?;
    load.split(' ').nth(3)?.split_once('/')?.1.parse().ok()
}
