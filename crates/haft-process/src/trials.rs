//! The self-test: what must not work is really tried, by a command under the level in question.

use std::fs;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};

use crate::command::Capture;
use crate::helper::{ATTEMPTS, Helper, PROBE, REQUEST};
use crate::leash::Leash;
use crate::report::{LevelReport, Trial};
use crate::supervise::{Limits, supervise};
use crate::wire::Order;
use crate::{Allowance, Finished, LaunchError, SandboxLevel, platform, scratch};

/// How long the trials of one level may take.
const TIME: Duration = Duration::from_secs(10);

/// Tries everything under a level.
pub(crate) fn run(
    helper: &Helper,
    level: SandboxLevel,
    scratch: &Path,
) -> Result<LevelReport, LaunchError> {
    let range = Range::new(scratch).map_err(|source| LaunchError::Scratch { source })?;
    let program = helper.program().as_os_str();
    let order = Order {
        level,
        argv: vec![program.into(), REQUEST.into(), PROBE.into(), range.directory.path().into()],
        env: Vec::new(),
        read: vec![program.into()],
        private: None,
        grace: Duration::from_millis(100),
        allowance: Allowance::default(),
    };
    let handle = range.inside.as_fd();
    let running = platform::start(helper, &order, &[handle, handle])?;
    let limits = Limits { timeout: TIME, grace: order.grace, capture: Capture::default(), scratch };
    let (_leash, held) = Leash::new().map_err(LaunchError::system("make a pipe"))?;
    let finished = supervise(running, &limits, &held)?;
    Ok(read(level, &finished))
}

/// A directory with what the trials need: `inside` may be used, `outside` may not.
struct Range {
    directory: tempfile::TempDir,
    inside: OwnedFd,
    _socket: Option<UnixListener>,
}

impl Range {
    fn new(scratch: &Path) -> io::Result<Self> {
        let directory = scratch::directory(scratch)?;
        let path = directory.path();
        fs::create_dir(path.join("inside"))?;
        fs::create_dir(path.join("outside"))?;
        fs::write(path.join("outside/secret"), "secret")?;
        fs::write(path.join("outside/old"), "old")?;
        // Where the path is too long for a socket, that trial finds nothing to connect to.
        let socket = UnixListener::bind(path.join("outside/socket")).ok();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let inside = rustix::fs::open(path.join("inside"), flags, Mode::empty())?;
        Ok(Self { directory, inside, _socket: socket })
    }
}

/// Reads what the trials printed.
fn read(level: SandboxLevel, finished: &Finished) -> LevelReport {
    let printed = finished.stdout.kept().head;
    let mut lines = printed.lines();
    let first = lines.next().unwrap_or_default();
    let mut problem = match first.split_once(' ') {
        None if first == "works" => None,
        Some(("fails", why)) => Some(format!("what is allowed does not work either: {why}")),
        _ => Some(format!("the trials ended early: {:?}", finished.end)),
    };
    let mut trials = Vec::new();
    for attempt in ATTEMPTS {
        let answer = lines.next().and_then(|line| line.split_once(' '));
        let is_refused = answer == Some(("refused", attempt.name));
        let is_covered = level >= SandboxLevel::FilesNet
            || (level >= SandboxLevel::Files && !attempt.is_network);
        if is_covered && !is_refused && problem.is_none() {
            problem = Some(format!("a command could {}", attempt.name));
        }
        trials.push(Trial { what: attempt.name.to_owned(), is_refused });
    }
    LevelReport { level, problem, trials }
}
