//! Running a command through the helper.

use std::collections::HashSet;
use std::io::{self, IoSlice, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
use rustix::process::{Pid, PidfdFlags, Signal};

use crate::helper::{Helper, REQUEST};
use crate::supervise::{Ended, Runner, Running};
pub(crate) use crate::trials::run as trial;
use crate::wire::{HANDLES, Order, Report, STOP, Status, Step, VERSION, take_frame};
use crate::{Cleanup, End, LaunchError, LeftBehind, procfs};

/// How much longer than its command the helper may take: it kills, and waits for what was killed.
const MARGIN: Duration = Duration::from_secs(10);

/// How long the helper may take to take in its order, and to go once it has nothing to do.
const HELPER_PATIENCE: Duration = Duration::from_secs(5);

/// Starts a command through the helper. The first of `handles` is the working directory.
pub(crate) fn start(
    helper: &Helper,
    order: &Order,
    handles: &[BorrowedFd<'_>],
) -> Result<Running, LaunchError> {
    if handles.len() > HANDLES {
        let problem =
            format!("takes {} directories at most, not {}", HANDLES - 1, handles.len() - 1);
        return Err(LaunchError::helper(problem));
    }
    let (ours, theirs) =
        UnixStream::pair().map_err(LaunchError::system("make a socket for the helper"))?;
    let mut command = Command::new(helper.program());
    command
        .arg0("haft")
        .arg(REQUEST)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let spawned = command.spawn();
    // The command holds the helper's end of the socket, which has to end with the helper.
    drop(command);
    let mut child = spawned.map_err(|error| {
        LaunchError::helper(format!("`{}` cannot be started: {error}", helper.program().display()))
    })?;
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(LaunchError::helper("has no streams"));
    };
    let mut helped = Helped {
        child,
        socket: ours,
        inbox: Vec::new(),
        order: order.clone(),
        state: State::Silent,
    };
    // Where this fails the helper is not there any more, and what it said before says why.
    let _ = helped.send(handles);
    Ok(Running {
        runner: Box::new(helped),
        stdout: stdout.into(),
        stderr: stderr.into(),
        level: order.level,
    })
}

/// A command that the helper runs.
struct Helped {
    child: Child,
    socket: UnixStream,
    inbox: Vec<u8>,
    order: Order,
    state: State,
}

enum State {
    /// Nothing was heard.
    Silent,
    /// The helper is one.
    Ready,
    /// The command runs.
    Started,
    /// It does not any more.
    Ended { status: Option<Status>, left_behind: LeftBehind, survivors: u32 },
    /// Something killed the helper.
    Lost,
}

impl Helped {
    fn send(&mut self, handles: &[BorrowedFd<'_>]) -> io::Result<()> {
        let socket = &mut self.socket;
        socket.set_write_timeout(Some(HELPER_PATIENCE))?;
        let frame = self.order.frame();
        let mut space = vec![MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(HANDLES))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(handles));
        let sent = rustix::net::sendmsg(
            &*socket,
            &[IoSlice::new(&frame)],
            &mut ancillary,
            SendFlags::NOSIGNAL,
        )?;
        socket.write_all(frame.get(sent..).unwrap_or_default())?;
        socket.set_nonblocking(true)
    }

    /// Takes in one report, and tells whether the command has ended.
    fn take(&mut self, report: Report) -> Result<bool, LaunchError> {
        match report {
            Report::Ready { version: VERSION } => self.state = State::Ready,
            Report::Ready { version } => {
                let text =
                    format!("speaks version {version}, not {VERSION}: it is of another build");
                return Err(LaunchError::helper(text));
            }
            Report::Started => self.state = State::Started,
            Report::Failed { step, errno, text } => return Err(self.failed(step, errno, text)),
            Report::Ended { status, left_behind, survivors } => {
                self.state = State::Ended { status, left_behind, survivors };
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn failed(&self, step: Step, errno: i32, text: String) -> LaunchError {
        let program = self.order.argv.first().map(|it| it.to_string_lossy().into_owned());
        let program = program.unwrap_or_default();
        let level = self.order.level;
        let source = || match errno {
            0 => io::Error::other(text.clone()),
            errno => io::Error::from_raw_os_error(errno),
        };
        match step {
            Step::Order => LaunchError::helper(format!("could not read its order: {text}")),
            Step::DirectoryGone => LaunchError::DirectoryGone,
            Step::Directory => LaunchError::DirectoryRefused { source: source() },
            Step::Confine => LaunchError::NotConfined { level, problem: text },
            Step::ProgramMissing => LaunchError::ProgramMissing { program },
            Step::Interpreter => LaunchError::InterpreterMissing { program },
            Step::Program if errno == libc::E2BIG => {
                LaunchError::TooLong { bytes: self.order.bytes() }
            }
            Step::Program => LaunchError::ProgramRefused { program, level, source: source() },
        }
    }

    /// The helper went without a word. It cannot be reaped by anybody else, so its session is still its own.
    fn lost(&mut self) -> Result<bool, LaunchError> {
        match self.state {
            State::Silent => Err(LaunchError::helper(
                "ended without a word: its program has to call `haft_process::helper::run_if_requested` first",
            )),
            State::Ready => Err(LaunchError::helper("ended before the command was started")),
            State::Started | State::Ended { .. } | State::Lost => {
                kill_session(Pid::from_child(&self.child));
                self.state = State::Lost;
                Ok(true)
            }
        }
    }
}

impl Runner for Helped {
    fn signal(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn hear(&mut self) -> Result<bool, LaunchError> {
        let mut piece = [0; 4096];
        loop {
            match self.socket.read(&mut piece) {
                Ok(0) => return self.lost(),
                Ok(count) => self.inbox.extend_from_slice(piece.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return self.lost(),
            }
            let malformed = |error| LaunchError::helper(format!("cannot be understood: {error}"));
            while let Some(content) = take_frame(&mut self.inbox).map_err(malformed)? {
                if self.take(Report::read(&content).map_err(malformed)?)? {
                    return Ok(true);
                }
            }
        }
    }

    fn ask(&mut self) {
        let _ = self.socket.write_all(&[STOP]);
    }

    fn patience(&self, grace: Duration) -> Duration {
        grace + MARGIN
    }

    fn force(&mut self) -> bool {
        let _ = self.child.kill();
        kill_session(Pid::from_child(&self.child));
        self.state = State::Lost;
        true
    }

    fn finish(mut self: Box<Self>) -> Ended {
        match std::mem::replace(&mut self.state, State::Lost) {
            State::Ended { status, left_behind, survivors } => {
                let end = match status {
                    Some(Status::Exited(code)) => End::Exited(code),
                    Some(Status::Signalled(signal)) => End::Signalled(signal),
                    None => End::Signalled(libc::SIGKILL),
                };
                let cleanup = match survivors {
                    0 => Cleanup::Complete,
                    count => Cleanup::Survivors(count),
                };
                Ended { end, left_behind, cleanup }
            }
            State::Silent | State::Ready | State::Started | State::Lost => Ended {
                end: End::Signalled(libc::SIGKILL),
                left_behind: LeftBehind::default(),
                cleanup: Cleanup::HelperLost,
            },
        }
    }
}

impl Drop for Helped {
    fn drop(&mut self) {
        // The end of the socket tells the helper to go, whatever it is doing.
        let _ = self.socket.shutdown(Shutdown::Both);
        let end = Instant::now() + self.order.grace + MARGIN;
        let mut pause = Duration::from_micros(100);
        while matches!(self.child.try_wait(), Ok(None)) {
            if Instant::now() > end {
                let _ = self.child.kill();
                let _ = self.child.wait();
                return;
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }
}

/// Kills every process of a session whose leader was not reaped yet, so that its number means nothing else.
fn kill_session(session: Pid) {
    let end = Instant::now() + Duration::from_secs(2);
    let mut killed = HashSet::new();
    let mut quiet = 0;
    while quiet < 2 && Instant::now() < end {
        let mut is_quiet = true;
        for pid in members(session) {
            let handle = rustix::process::pidfd_open(pid, PidfdFlags::empty());
            // The number may have passed on to another process before the handle was opened.
            if pid == session || !is_member(pid, session) {
                continue;
            }
            is_quiet &= !killed.insert(pid);
            let _ = match handle {
                Ok(handle) => rustix::process::pidfd_send_signal(handle, Signal::KILL),
                // Without a descriptor for it, the number has to do.
                Err(_) => rustix::process::kill_process(pid, Signal::KILL),
            };
        }
        quiet = if is_quiet { quiet + 1 } else { 0 };
        thread::sleep(Duration::from_millis(2));
    }
}

fn members(session: Pid) -> Vec<Pid> {
    let is_member = |pid: &Pid| is_member(*pid, session);
    match procfs::processes() {
        Ok(processes) => processes.into_iter().filter(is_member).collect(),
        // Without a descriptor for the list, every number is tried.
        Err(_) => procfs::possible().filter(is_member).collect(),
    }
}

#[expect(
    unsafe_code,
    reason = "rustix takes every session for one with a number, and the kernel's own have none"
)]
fn is_member(pid: Pid, session: Pid) -> bool {
    // SAFETY: takes and returns numbers.
    unsafe { libc::getsid(pid.as_raw_nonzero().get()) == session.as_raw_nonzero().get() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_found_with_and_without_the_list_of_processes() {
        let leader = Command::new("setsid").args(["sleep", "100"]).spawn();
        let mut leader = leader.unwrap();
        let session = Pid::from_child(&leader);
        while !is_member(session, session) {
            thread::yield_now();
        }
        assert_eq!(members(session), [session]);
        let tried: Vec<_> = procfs::possible().filter(|pid| is_member(*pid, session)).collect();
        assert_eq!(tried, [session]);
        leader.kill().unwrap();
        leader.wait().unwrap();
    }
}
