//! The command and everything that came of it.
//!
//! The helper is the parent of orphans among its descendants, so whatever the command started is found by going down
//! from the helper, however it detached itself; and a helper without children has no descendants at all. Signals go to
//! children only: nobody but the helper can reap them, so their ids mean nothing else.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions};

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
    children: Children,
    status: Option<Status>,
    told: HashSet<Pid>,
}

impl Family {
    pub(super) fn of(main: Pid, children: Children) -> Self {
        Self { main, children, status: None, told: HashSet::new() }
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
                self.kill();
                pause = Duration::from_micros(200);
            } else {
                // There are some, whatever the list says.
                return u32::try_from(self.children.now().len()).unwrap_or(u32::MAX).max(1);
            }
            thread::sleep(pause);
        }
    }

    /// Asks every child that was not asked yet to end.
    fn ask(&mut self) {
        for child in self.children.now() {
            if self.told.insert(child) {
                let _ = rustix::process::kill_process(child, Signal::TERM);
                let _ = rustix::process::kill_process(child, Signal::CONT);
            }
        }
    }

    fn kill(&mut self) {
        for child in self.children.now() {
            let _ = rustix::process::kill_process(child, Signal::KILL);
        }
    }

    /// Names what is running beneath the helper.
    pub(super) fn left_behind(&mut self) -> LeftBehind {
        let mut left = LeftBehind::default();
        let mut found = self.children.now();
        let mut next = 0;
        while let Some(pid) = found.get(next).copied() {
            next += 1;
            if next > COUNTED {
                break;
            }
            let command = command_line(pid);
            if matches!(command, Ok(None)) {
                continue;
            }
            found.extend(children_of(pid));
            match command {
                Ok(Some(command)) if left.processes.len() < NAMED => {
                    let pid = pid.as_raw_nonzero().get().unsigned_abs();
                    left.processes.push(Process { pid, command });
                }
                // What cannot be named is there all the same.
                _ => left.more += 1,
            }
        }
        left
    }
}

/// The children of this process, for as long as it has one thread.
///
/// A command at level `group` can take away every descriptor that the helper does not hold already, so the kernel's list
/// is opened before the command is started, and there are ways to do without.
#[derive(Debug)]
pub(super) struct Children(Option<File>);

impl Children {
    pub(super) fn open() -> Self {
        let own = rustix::process::getpid();
        Self(File::open(format!("/proc/self/task/{own}/children")).ok())
    }

    /// Returns those that there are now.
    fn now(&mut self) -> Vec<Pid> {
        self.listed()
            .or_else(|_| by_parent(rustix::process::getpid()))
            .unwrap_or_else(|_| by_trial())
    }

    fn listed(&mut self) -> io::Result<Vec<Pid>> {
        let list = self.0.as_mut().ok_or(io::ErrorKind::Unsupported)?;
        list.seek(SeekFrom::Start(0))?;
        let mut text = String::new();
        list.read_to_string(&mut text)?;
        Ok(pids(&text))
    }
}

fn children_of(pid: Pid) -> Vec<Pid> {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let lists =
        threads.flatten().map(|thread| std::fs::read_to_string(thread.path().join("children")));
    match lists.collect::<Result<Vec<_>, _>>() {
        Ok(lists) => lists.iter().flat_map(|text| pids(text)).collect(),
        Err(_) => by_parent(pid).unwrap_or_default(),
    }
}

fn pids(text: &str) -> Vec<Pid> {
    text.split_ascii_whitespace().filter_map(procfs::pid).collect()
}

/// Finds children by looking at every process, where the kernel keeps no lists of them.
fn by_parent(parent: Pid) -> io::Result<Vec<Pid>> {
    let mut children = Vec::new();
    for pid in procfs::processes()? {
        if procfs::stat(pid)?.is_some_and(|it| it.parent == Some(parent)) {
            children.push(pid);
        }
    }
    Ok(children)
}

/// Finds the children of this process by asking the kernel, number by number, whether it may wait for that one.
fn by_trial() -> Vec<Pid> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let is_child = |pid: &Pid| rustix::process::waitid(WaitId::Pid(*pid), options).is_ok();
    procfs::possible().filter(is_child).collect()
}

/// Returns the command line of a process, or nothing for one that has ended.
fn command_line(pid: Pid) -> io::Result<Option<String>> {
    if procfs::stat(pid)?.is_none_or(|it| it.is_ended) {
        return Ok(None);
    }
    let Some(mut bytes) = procfs::contents(pid, "cmdline")? else { return Ok(None) };
    if bytes.is_empty() {
        let Some(mut name) = procfs::contents(pid, "comm")? else { return Ok(None) };
        name.pop();
        bytes = [b"[", name.as_slice(), b"]"].concat();
    }
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_end_matches('\0').replace('\0', " ");
    let shown = haft_text::head(&text, SHOWN_BYTES);
    let dots = if shown.len() < text.len() { "…" } else { "" };
    Ok(Some(format!("{shown}{dots}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_finds_the_same_children() {
        let mut child = std::process::Command::new("sleep").arg("100").spawn().unwrap();
        let pid = Pid::from_child(&child);
        let own = rustix::process::getpid();
        assert!(by_parent(own).unwrap().contains(&pid));
        assert!(by_trial().contains(&pid));
        assert!(!by_trial().contains(&own));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!by_trial().contains(&pid));
    }
}
