//! The command and everything that came of it.
//!
//! The helper is the parent of orphans among its descendants, so whatever the command started is found by going down
//! from the helper, however it detached itself; and a helper without children has no descendants at all. Signals go to
//! children only: nobody but the helper can reap them, so their ids mean nothing else.

use std::collections::HashSet;
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions};

use crate::wire::Status;
use crate::{LeftBehind, Process, procfs};

/// How long the killed may take to go; what is stuck in the kernel may take for ever.
const KILL_PATIENCE: Duration = Duration::from_secs(5);

/// How many processes are named.
const NAMED: usize = 16;

/// Bytes of a command line that are shown.
const SHOWN_BYTES: usize = 160;

/// How many processes are looked at to count those left behind.
const COUNTED: usize = 4096;

/// The command and everything that came of it.
#[derive(Debug)]
pub(super) struct Family {
    main: Pid,
    status: Option<Status>,
    told: HashSet<Pid>,
}

impl Family {
    pub(super) fn of(main: Pid) -> Self {
        Self { main, status: None, told: HashSet::new() }
    }

    /// Returns how the command itself ended, if it did.
    pub(super) fn status(&self) -> Option<Status> {
        self.status
    }

    /// Reaps what has ended, and tells whether nothing is left.
    pub(super) fn reap(&mut self) -> bool {
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    self.told.remove(&pid);
                    if pid == self.main {
                        let exited = status.exit_status().map(Status::Exited);
                        let signalled = status.terminating_signal().map(Status::Signalled);
                        self.status = exited.or(signalled);
                    }
                }
                Err(Errno::INTR) => {}
                Ok(None) => return false,
                Err(_) => return true,
            }
        }
    }

    /// Waits up to `patience` for everything to end by itself, and tells whether it did.
    pub(super) fn settles(&mut self, patience: Duration) -> bool {
        let end = Instant::now() + patience;
        loop {
            if self.reap() {
                return true;
            }
            if Instant::now() >= end {
                return false;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Ends everything: asks, waits for `grace`, kills. Returns how many processes did not go.
    pub(super) fn sweep(&mut self, grace: Duration) -> u32 {
        let start = Instant::now();
        if self.status.is_none() {
            // The group is the command's own, so that a foreground child is asked together with its shell.
            let _ = rustix::process::kill_process_group(self.main, Signal::TERM);
            let _ = rustix::process::kill_process_group(self.main, Signal::CONT);
            self.told.insert(self.main);
        }
        let mut pause = Duration::from_micros(200);
        loop {
            if self.reap() {
                return 0;
            }
            let since = start.elapsed();
            if since < grace {
                self.ask();
                pause = (pause * 2).min(Duration::from_millis(5));
            } else if since < grace + KILL_PATIENCE {
                kill();
                pause = Duration::from_micros(200);
            } else {
                return u32::try_from(children().len()).unwrap_or(u32::MAX);
            }
            thread::sleep(pause);
        }
    }

    /// Asks every child that was not asked yet to end.
    fn ask(&mut self) {
        for child in children() {
            if self.told.insert(child) {
                let _ = rustix::process::kill_process(child, Signal::TERM);
                let _ = rustix::process::kill_process(child, Signal::CONT);
            }
        }
    }
}

fn kill() {
    for child in children() {
        let _ = rustix::process::kill_process(child, Signal::KILL);
    }
}

/// Names what is running beneath the helper.
pub(super) fn left_behind() -> LeftBehind {
    let mut left = LeftBehind::default();
    let mut found = children();
    let mut next = 0;
    while let Some(pid) = found.get(next).copied() {
        next += 1;
        if next > COUNTED {
            break;
        }
        let Some(command) = command_line(pid) else { continue };
        found.extend(children_of(pid));
        if left.processes.len() < NAMED {
            let pid = pid.as_raw_nonzero().get().unsigned_abs();
            left.processes.push(Process { pid, command });
        } else {
            left.more += 1;
        }
    }
    left
}

/// Returns the children of this process.
fn children() -> Vec<Pid> {
    let own = rustix::process::getpid();
    match std::fs::read_to_string(format!("/proc/self/task/{own}/children")) {
        Ok(text) => pids(&text),
        Err(_) => by_parent(own),
    }
}

fn children_of(pid: Pid) -> Vec<Pid> {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let lists =
        threads.flatten().map(|thread| std::fs::read_to_string(thread.path().join("children")));
    match lists.collect::<Result<Vec<_>, _>>() {
        Ok(lists) => lists.iter().flat_map(|text| pids(text)).collect(),
        Err(_) => by_parent(pid),
    }
}

fn pids(text: &str) -> Vec<Pid> {
    text.split_ascii_whitespace().filter_map(procfs::pid).collect()
}

/// Finds children by looking at every process, where the kernel keeps no lists of them.
fn by_parent(parent: Pid) -> Vec<Pid> {
    let is_child = |pid: &Pid| procfs::stat(*pid).is_some_and(|it| it.parent == Some(parent));
    procfs::processes().into_iter().filter(is_child).collect()
}

/// Returns the command line of a process, or nothing for one that has ended.
fn command_line(pid: Pid) -> Option<String> {
    if procfs::stat(pid)?.is_ended {
        return None;
    }
    let mut bytes = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    if bytes.is_empty() {
        let mut name = std::fs::read(format!("/proc/{pid}/comm")).ok()?;
        name.pop();
        bytes = [b"[", name.as_slice(), b"]"].concat();
    }
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_end_matches('\0').replace('\0', " ");
    let shown = haft_text::head(&text, SHOWN_BYTES);
    let dots = if shown.len() < text.len() { "…" } else { "" };
    Some(format!("{shown}{dots}"))
}
