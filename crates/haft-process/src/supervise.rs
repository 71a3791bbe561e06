//! Watching a command: its streams, its time, its caller, its end.
//!
//! All of it happens on a thread of its own with one `poll`, so no runtime has to be alive, no signal handler is
//! installed, and a caller that goes away changes nothing but that the command is stopped.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use crate::captured::Collector;
use crate::command::Capture;
use crate::{Cleanup, End, Finished, LaunchError, LeftBehind, SandboxLevel};

/// How long after the end nothing may come for the streams to count as read to their end.
const QUIET: Duration = Duration::from_millis(50);

/// How long after the end is read at most, from streams that others go on writing to.
const DRAIN: Duration = Duration::from_millis(500);

/// Bytes that are read at once.
const PIECE: usize = 64 * 1024;

/// What runs a command: the helper, or this process itself.
pub(crate) trait Runner {
    /// Becomes readable when there is something to hear.
    fn signal(&self) -> BorrowedFd<'_>;

    /// Takes in what there is to hear, and tells whether the command has ended.
    fn hear(&mut self) -> Result<bool, LaunchError>;

    /// Asks the command to end.
    fn ask(&mut self);

    /// How long to wait after [`ask`](Self::ask), and after each [`force`](Self::force).
    fn patience(&self, grace: Duration) -> Duration;

    /// Ends the command whatever it does, and tells whether there is nothing more to wait for.
    fn force(&mut self) -> bool;

    /// Cleans up and says how the command ended.
    fn finish(self: Box<Self>) -> Ended;
}

/// How a command ended, as its runner knows it.
pub(crate) struct Ended {
    pub(crate) end: End,
    pub(crate) left_behind: LeftBehind,
    pub(crate) cleanup: Cleanup,
}

/// A command that runs.
pub(crate) struct Running {
    pub(crate) runner: Box<dyn Runner>,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
    pub(crate) level: SandboxLevel,
}

/// Within which limits it runs.
pub(crate) struct Limits<'a> {
    pub(crate) timeout: Duration,
    pub(crate) grace: Duration,
    pub(crate) capture: Capture,
    pub(crate) scratch: &'a Path,
}

/// Watches a command to its end.
pub(crate) fn supervise(
    running: Running,
    limits: &Limits<'_>,
    leash: &OwnedFd,
) -> Result<Finished, LaunchError> {
    let started = Instant::now();
    let Running { mut runner, stdout, stderr, level } = running;
    let stream = |pipe| Stream::new(pipe, limits);
    let mut streams = [stream(stdout)?, stream(stderr)?];
    let mut buffer = vec![0; PIECE];

    let mut stopped: Option<End> = None;
    let mut due = started.checked_add(limits.timeout);
    loop {
        let now = Instant::now();
        if due.is_some_and(|due| due <= now) {
            if stopped.is_some() {
                if runner.force() {
                    break;
                }
            } else {
                stopped = Some(End::TimedOut);
                runner.ask();
            }
            due = now.checked_add(runner.patience(limits.grace));
            continue;
        }
        let (is_heard, is_called) = {
            let leash = stopped.is_none().then(|| leash.as_fd());
            let fixed = [Some(runner.signal()), leash];
            let ready = wait(&fixed, &streams, due.map(|due| due - now))?;
            (ready.first() == Some(&true), ready.get(1) == Some(&true))
        };
        for stream in &mut streams {
            stream.read(&mut buffer);
        }
        if is_called && stopped.is_none() {
            stopped = Some(End::Stopped);
            runner.ask();
            due = now.checked_add(runner.patience(limits.grace));
        }
        if is_heard && runner.hear()? {
            break;
        }
    }
    drain(&mut streams, &mut buffer)?;
    let Ended { end, left_behind, cleanup } = runner.finish();
    let [stdout, stderr] = streams.map(|stream| stream.collector.finish());
    Ok(Finished {
        end: stopped.unwrap_or(end),
        stdout,
        stderr,
        left_behind,
        level,
        cleanup,
        elapsed: started.elapsed(),
    })
}

/// Reads what is still in the streams, without waiting for those who may hold them.
fn drain(streams: &mut [Stream; 2], buffer: &mut [u8]) -> Result<(), LaunchError> {
    let end = Instant::now() + DRAIN;
    while streams.iter().any(|stream| stream.pipe.is_some()) {
        let left = end.saturating_duration_since(Instant::now()).min(QUIET);
        wait(&[], streams, Some(left))?;
        let mut has_come = false;
        for stream in streams.iter_mut() {
            has_come |= stream.read(buffer);
        }
        if !has_come || left.is_zero() {
            break;
        }
    }
    Ok(())
}

/// Waits until something is readable; the answers are for `fixed` in its order.
fn wait(
    fixed: &[Option<BorrowedFd<'_>>],
    streams: &[Stream; 2],
    limit: Option<Duration>,
) -> Result<Vec<bool>, LaunchError> {
    let open = streams.iter().filter_map(|stream| Some(stream.pipe.as_ref()?.as_fd()));
    let given = fixed.iter().flatten().copied();
    let mut watched: Vec<PollFd<'_>> =
        given.chain(open).map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
    // Rounded up, so that a deadline has passed when the wait for it ends.
    let limit = limit.map(|limit| limit + Duration::from_millis(1));
    let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
    match rustix::event::poll(&mut watched, limit.as_ref()) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(LaunchError::system("wait for the command")(error.into())),
    }
    let mut ready = watched.iter().map(|fd| !fd.revents().is_empty());
    Ok(fixed.iter().map(|fd| fd.is_some() && ready.next() == Some(true)).collect())
}

/// One stream of the command.
struct Stream {
    /// `None` once its end was read.
    pipe: Option<OwnedFd>,
    collector: Collector,
}

impl Stream {
    fn new(pipe: OwnedFd, limits: &Limits<'_>) -> Result<Self, LaunchError> {
        rustix::io::ioctl_fionbio(&pipe, true)
            .map_err(|error| LaunchError::system("read from the command")(error.into()))?;
        Ok(Self { pipe: Some(pipe), collector: Collector::new(limits.capture, limits.scratch) })
    }

    /// Reads one piece, if there is any, and tells whether there was or the end was reached.
    fn read(&mut self, buffer: &mut [u8]) -> bool {
        let Some(pipe) = &self.pipe else { return false };
        match rustix::io::read(pipe, &mut *buffer) {
            Err(Errno::AGAIN | Errno::INTR) => false,
            Ok(0) | Err(_) => {
                self.pipe = None;
                true
            }
            Ok(count) => {
                self.collector.push(buffer.get(..count).unwrap_or_default());
                true
            }
        }
    }
}

/// Turns how a process ended into how a command ended.
pub(crate) fn end_of(status: io::Result<std::process::ExitStatus>) -> End {
    use std::os::unix::process::ExitStatusExt as _;
    let Ok(status) = status else { return End::Signalled(9) };
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exited(code),
        (None, signal) => End::Signalled(signal.unwrap_or(9)),
    }
}
