//! One order, from its arrival to its end.
#![expect(
    unsafe_code,
    reason = "what happens between fork and exec, and the dispositions of signals"
)]

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal};

use super::confine::{Allowed, Confinement};
use super::family::{Children, Family};
use super::link::{Link, open_null};
use crate::wire::{Order, Report, Step, VERSION};
use crate::{LeftBehind, scratch};

/// How long what outlives the command may take to end by itself, as the last of a pipeline does.
const SETTLE: Duration = Duration::from_millis(50);

/// How long what is left behind may take to end once it is asked to.
const LEFT_GRACE: Duration = Duration::from_millis(500);

/// How often the dead are looked for while the command runs, and where its end cannot be waited for.
const TICK: Duration = Duration::from_millis(250);
const SHORT_TICK: Duration = Duration::from_millis(5);

/// Says that nobody starts the helper by hand.
pub(crate) fn misused() -> i32 {
    let _ = writeln!(io::stderr(), "`__exec` is how haft starts commands; it is of no use by hand");
    2
}

/// Acts as the helper: carries out the one order that comes, and returns the exit code.
pub(crate) fn serve() -> i32 {
    let Ok(mut link) = Link::take() else { return misused() };
    link.say(&Report::Ready { version: VERSION });
    let (order, handles) = match link.order() {
        Ok(received) => received,
        Err(error) => {
            link.say(&failed(Step::Order, &error));
            return 1;
        }
    };
    let report = carry_out(&order, handles, &mut link);
    let is_heard = link.say(&report);
    if let (false, Some(private)) = (is_heard, &order.private) {
        scratch::remove(private);
    }
    0
}

fn failed(step: Step, error: &io::Error) -> Report {
    let errno = error.raw_os_error().unwrap_or(0);
    Report::Failed { step, errno, text: error.to_string() }
}

fn carry_out(order: &Order, mut handles: Vec<OwnedFd>, link: &mut Link) -> Report {
    detach();
    if handles.is_empty() {
        return failed(Step::Order, &io::Error::other("no working directory came with the order"));
    }
    let directory = handles.remove(0);
    if let Err(report) = enter(&directory) {
        return report;
    }
    let allowed = Allowed { write: &handles, private: order.private.as_deref(), read: &order.read };
    let confinement = match Confinement::of(order.level, &allowed) {
        Ok(confinement) => confinement,
        Err(text) => return Report::Failed { step: Step::Confine, errno: 0, text },
    };
    // Before the command can do anything about it.
    let children = Children::open();
    let child = match start(order, confinement, link) {
        Ok(child) => child,
        Err(error) => return failed(program_step(order, &error), &error),
    };
    drop((directory, handles));
    // The command's streams end with the command and what it started, not with the helper.
    if let Ok(null) = open_null() {
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
    let Some(main) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else {
        return failed(Step::Order, &io::Error::other("a child without an id"));
    };
    drop(child);
    see_to_its_end(Family::of(main, children), main, order, link)
}

/// Becomes the leader of a session without a terminal, the parent of orphans, deaf to signals, and holder of nothing
/// that a child would inherit.
fn detach() {
    let _ = rustix::process::setsid();
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    for signal in [
        libc::SIGHUP,
        libc::SIGINT,
        libc::SIGQUIT,
        libc::SIGTERM,
        libc::SIGUSR1,
        libc::SIGUSR2,
        libc::SIGALRM,
        libc::SIGTSTP,
        libc::SIGTTIN,
        libc::SIGTTOU,
        libc::SIGXCPU,
        libc::SIGXFSZ,
    ] {
        // SAFETY: ignoring a signal installs no handler that could run at a wrong time.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    let (first, last, close_on_exec) = (3_u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC);
    // SAFETY: marks descriptors to be closed by exec; none is closed here, so whoever owns one keeps it.
    let marked = unsafe { libc::syscall(libc::SYS_close_range, first, last, close_on_exec) };
    if marked != 0 {
        mark_one_by_one();
    }
}

/// What `close_range` does, for kernels before 5.11.
fn mark_one_by_one() {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    for number in numbers.filter(|number: &i32| *number > 2) {
        // SAFETY: setting a flag of a descriptor leaves it with its owner; one that is closed meanwhile is an error.
        unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
}

/// Enters the working directory, which may have been deleted since it was opened.
fn enter(directory: &OwnedFd) -> Result<(), Report> {
    let entered = rustix::fs::fstat(directory).and_then(|stat| {
        if stat.st_nlink == 0 {
            return Err(Errno::NOENT);
        }
        rustix::process::fchdir(directory)
    });
    entered.map_err(|errno| {
        let step = if errno == Errno::NOENT { Step::DirectoryGone } else { Step::Directory };
        failed(step, &errno.into())
    })
}

/// Starts the command, confined between fork and exec.
fn start(order: &Order, mut confinement: Option<Confinement>, link: &Link) -> io::Result<Child> {
    let Some((program, arguments)) = order.argv.split_first() else {
        return Err(io::Error::other("no program"));
    };
    let helper = rustix::process::getpid();
    let mut said = link.duplicate()?;
    let allowance = order.allowance.ready();
    let last_steps = move || {
        for signal in 1..=libc::SIGRTMAX() {
            // SAFETY: the default disposition is no code of this process.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        if rustix::process::getppid() != Some(helper) {
            return Err(io::Error::other("the helper is gone"));
        }
        // Before system calls that set limits are refused.
        allowance.set()?;
        if let Some(confinement) = &mut confinement
            && let Err(text) = confinement.enter()
        {
            said.say(&Report::Failed { step: Step::Confine, errno: 0, text });
            return Err(io::Error::from_raw_os_error(libc::EPERM));
        }
        // Said from here, because the command's first deed may be to kill the helper.
        said.say(&Report::Started);
        Ok(())
    };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(order.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::inherit())
        .process_group(0);
    // SAFETY: this process has one thread, so the forked child may do whatever its parent could, allocation included.
    unsafe { command.pre_exec(last_steps) };
    command.spawn()
}

/// Says what an error of exec is about: a program that is there and is not found lacks its interpreter.
fn program_step(order: &Order, error: &io::Error) -> Step {
    if error.kind() != io::ErrorKind::NotFound {
        return Step::Program;
    }
    let Some(program) = order.argv.first() else { return Step::Program };
    let is_there = |path: &Path| OpenOptions::new().read(true).open(path).is_ok();
    let is_found = if program.as_encoded_bytes().contains(&b'/') {
        is_there(Path::new(program))
    } else {
        let path = order.env.iter().find(|(name, _)| name == "PATH");
        path.is_some_and(|(_, dirs)| {
            std::env::split_paths(dirs).any(|dir| is_there(&dir.join(program)))
        })
    };
    if is_found { Step::Interpreter } else { Step::ProgramMissing }
}

/// Waits for the command or for the word to stop, and leaves nothing running.
fn see_to_its_end(mut family: Family, main: Pid, order: &Order, link: &mut Link) -> Report {
    let end = rustix::process::pidfd_open(main, PidfdFlags::empty()).ok();
    let mut is_stopped = false;
    while !is_stopped && family.status().is_none() {
        // All that a launcher has to say is to stop, and one that is gone means the same.
        is_stopped = has_word(link, end.as_ref());
        family.reap();
    }
    let mut left = LeftBehind::default();
    let survivors = if family.status().is_none() {
        family.sweep(order.grace)
    } else if family.settles(SETTLE) {
        0
    } else {
        left = family.left_behind();
        family.sweep(LEFT_GRACE.min(order.grace))
    };
    Report::Ended { status: family.status(), left_behind: left, survivors }
}

/// Waits for something to happen, and tells whether the launcher has something to say.
fn has_word(link: &Link, end: Option<&OwnedFd>) -> bool {
    let tick = if end.is_some() { TICK } else { SHORT_TICK };
    let tick = Timespec { tv_sec: 0, tv_nsec: i64::from(tick.subsec_nanos()) };
    let mut watched = vec![PollFd::from_borrowed_fd(link.as_fd(), PollFlags::IN)];
    watched.extend(end.map(|end| PollFd::from_borrowed_fd(end.as_fd(), PollFlags::IN)));
    match rustix::event::poll(&mut watched, Some(&tick)) {
        Ok(_) | Err(Errno::INTR) => watched.first().is_some_and(|it| !it.revents().is_empty()),
        // A limit on descriptors that was set from outside is one on what can be waited for, too.
        Err(_) => {
            thread::sleep(SHORT_TICK);
            link.has_word()
        }
    }
}
