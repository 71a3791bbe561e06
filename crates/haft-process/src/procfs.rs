//! What the system tells about processes.

use std::io;

use rustix::process::Pid;

/// What is told about one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stat {
    /// Whether it has ended and waits to be reaped.
    pub(crate) is_ended: bool,
    pub(crate) parent: Option<Pid>,
}

/// The largest number that a process can have.
const LARGEST: i32 = 4 * 1024 * 1024;

/// Returns the ids of all processes.
pub(crate) fn processes() -> io::Result<Vec<Pid>> {
    let mut pids = Vec::new();
    for entry in std::fs::read_dir("/proc")? {
        pids.extend(entry?.file_name().to_str().and_then(pid));
    }
    Ok(pids)
}

/// Returns every id that a process can have, to be tried where the system's list cannot be read: a process without
/// descriptors can do that still.
pub(crate) fn possible() -> impl Iterator<Item = Pid> {
    (1..=LARGEST).filter_map(Pid::from_raw)
}

/// Reads the id of a process, if the text is one.
pub(crate) fn pid(text: &str) -> Option<Pid> {
    // An id of 0 stands for a process of another namespace, or for the kernel's own.
    text.parse().ok().filter(|raw: &i32| *raw > 0).and_then(Pid::from_raw)
}

/// Returns what is told about a process, or nothing for one that is gone.
///
/// # Errors
///
/// Fails when there may be one that could not be asked for, for want of descriptors or memory.
pub(crate) fn stat(pid: Pid) -> io::Result<Option<Stat>> {
    Ok(contents(pid, "stat")?.and_then(|text| read(&text)))
}

/// Reads a file about a process, with the same answers as [`stat`].
pub(crate) fn contents(pid: Pid, file: &str) -> io::Result<Option<Vec<u8>>> {
    match std::fs::read(format!("/proc/{pid}/{file}")) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if is_want(&error) => Err(error),
        Err(_) => Ok(None),
    }
}

/// Tells an error that says nothing about the file that was to be opened.
fn is_want(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE | libc::ENOMEM))
}

fn read(text: &[u8]) -> Option<Stat> {
    // The name stands in parentheses and may hold anything, parentheses too.
    let end = text.iter().rposition(|byte| *byte == b')')?;
    let rest = String::from_utf8_lossy(text.get(end + 1..)?).into_owned();
    let mut fields = rest.split_ascii_whitespace();
    let is_ended = matches!(fields.next()?, "Z" | "X");
    Some(Stat { is_ended, parent: pid(fields.next()?) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let stat = read(b"7 (a) Z 1 (b)) S 12 34 56 0 -1").unwrap();
        assert_eq!(stat, Stat { is_ended: false, parent: Pid::from_raw(12) });
    }

    #[test]
    fn the_kernels_own_have_no_parent() {
        let stat = read(b"2 (kthreadd) S 0 0 0 0 -1").unwrap();
        assert_eq!(stat.parent, None);
        assert_eq!(read(b"2 (x"), None);
    }
}
