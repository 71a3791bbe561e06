//! Running a command without a helper: only the process group can be ended.
#![expect(unsafe_code, reason = "the working directory is entered between fork and exec")]

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

use crate::supervise::{Ended, Runner, Running, end_of};
use crate::wire::Order;
use crate::{Cleanup, LaunchError, LeftBehind, SandboxLevel};

/// How long a killed process may take to go.
const KILL_PATIENCE: Duration = Duration::from_secs(5);

/// Starts a command as a child of this process.
pub(crate) fn start(order: &Order, directory: OwnedFd) -> Result<Running, LaunchError> {
    let Some((program, arguments)) = order.argv.split_first() else {
        return Err(LaunchError::NoProgram);
    };
    let stat = rustix::fs::fstat(&directory)
        .map_err(|error| LaunchError::DirectoryRefused { source: error.into() })?;
    if stat.st_nlink == 0 {
        return Err(LaunchError::DirectoryGone);
    }
    let has_group = order.level >= SandboxLevel::Group;
    let allowance = order.allowance.ready();
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(order.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // SAFETY: between fork and exec only system calls are made, nothing is allocated and no lock is taken.
    unsafe {
        command.pre_exec(move || {
            if has_group {
                // A group of its own, and without the terminal that this process may have.
                rustix::process::setsid()?;
            }
            allowance.set()?;
            rustix::process::fchdir(&directory).map_err(|_| io::Error::from_raw_os_error(DIRECTORY))
        });
    }
    let mut child = command.spawn().map_err(|error| spawn_error(order, error))?;
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(LaunchError::helper("has no streams"));
    };
    let (end, written) = io::pipe().map_err(LaunchError::system("watch the command"))?;
    let pid = Pid::from_child(&child);
    let plain = Plain { child, pid, has_group, end: end.into(), forced: false };
    let watch = move || {
        // Only looked at, not reaped: its id, and its group's, stay its own until the group is killed.
        let _ = rustix::process::waitid(
            WaitId::Pid(pid),
            WaitIdOptions::EXITED | WaitIdOptions::NOWAIT,
        );
        drop(written);
    };
    thread::Builder::new()
        .name("haft-wait".to_owned())
        .spawn(watch)
        .map_err(LaunchError::system("watch the command"))?;
    Ok(Running {
        runner: Box::new(plain),
        stdout: stdout.into(),
        stderr: stderr.into(),
        level: order.level,
    })
}

/// Stands for a working directory that cannot be entered; no exec fails with it.
const DIRECTORY: i32 = libc::ENOTCONN;

fn spawn_error(order: &Order, source: io::Error) -> LaunchError {
    let program = order.argv.first().map(|it| it.to_string_lossy().into_owned());
    let program = program.unwrap_or_default();
    match source.raw_os_error() {
        Some(DIRECTORY) => LaunchError::DirectoryRefused { source },
        Some(libc::ENOENT) => LaunchError::ProgramMissing { program },
        Some(libc::E2BIG) => LaunchError::TooLong { bytes: order.bytes() },
        _ => LaunchError::ProgramRefused { program, level: order.level, source },
    }
}

/// A command that is a child of this process.
struct Plain {
    child: Child,
    pid: Pid,
    has_group: bool,
    /// Ends when the child does.
    end: OwnedFd,
    forced: bool,
}

impl Plain {
    fn kill(&self, signal: Signal) {
        let _ = if self.has_group {
            rustix::process::kill_process_group(self.pid, signal)
        } else {
            rustix::process::kill_process(self.pid, signal)
        };
    }
}

impl Runner for Plain {
    fn signal(&self) -> BorrowedFd<'_> {
        self.end.as_fd()
    }

    fn hear(&mut self) -> Result<bool, LaunchError> {
        if self.has_group {
            self.kill(Signal::TERM);
        }
        Ok(true)
    }

    fn ask(&mut self) {
        self.kill(Signal::TERM);
        self.kill(Signal::CONT);
    }

    fn patience(&self, grace: Duration) -> Duration {
        if self.forced { KILL_PATIENCE } else { grace }
    }

    fn force(&mut self) -> bool {
        self.kill(Signal::KILL);
        std::mem::replace(&mut self.forced, true)
    }

    fn finish(mut self: Box<Self>) -> Ended {
        if self.has_group {
            self.kill(Signal::KILL);
        }
        let ended = self.child.try_wait();
        let is_gone = !matches!(ended, Ok(None));
        let cleanup = match (is_gone, self.has_group) {
            (false, _) => Cleanup::Survivors(1),
            (true, true) => Cleanup::GroupOnly,
            (true, false) => Cleanup::CommandOnly,
        };
        let status = ended.and_then(|it| it.ok_or_else(|| io::Error::other("it has not ended")));
        Ended { end: end_of(status), left_behind: LeftBehind::default(), cleanup }
    }
}

impl Drop for Plain {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            self.kill(Signal::KILL);
            let _ = self.child.wait();
        }
    }
}
