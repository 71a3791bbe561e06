//! What the system tells about processes.

use rustix::process::Pid;

/// What is told about one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stat {
    /// Whether it has ended and waits to be reaped.
    pub(crate) is_ended: bool,
    pub(crate) parent: Option<Pid>,
    pub(crate) session: Option<Pid>,
}

/// Returns the ids of all processes.
pub(crate) fn processes() -> Vec<Pid> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| pid(entry.file_name().to_str()?)).collect()
}

/// Reads the id of a process, if the text is one.
pub(crate) fn pid(text: &str) -> Option<Pid> {
    // An id of 0 stands for a process of another namespace, or for the kernel's own.
    text.parse().ok().filter(|raw: &i32| *raw > 0).and_then(Pid::from_raw)
}

/// Returns what is told about a process.
pub(crate) fn stat(pid: Pid) -> Option<Stat> {
    read(&std::fs::read(format!("/proc/{pid}/stat")).ok()?)
}

fn read(text: &[u8]) -> Option<Stat> {
    // The name stands in parentheses and may hold anything, parentheses too.
    let end = text.iter().rposition(|byte| *byte == b')')?;
    let rest = String::from_utf8_lossy(text.get(end + 1..)?).into_owned();
    let mut fields = rest.split_ascii_whitespace();
    let is_ended = matches!(fields.next()?, "Z" | "X");
    let parent = pid(fields.next()?);
    let _group = fields.next()?;
    Some(Stat { is_ended, parent, session: pid(fields.next()?) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let stat = read(b"7 (a) Z 1 (b)) S 12 34 56 0 -1").unwrap();
        let pid = |raw| Pid::from_raw(raw);
        assert_eq!(stat, Stat { is_ended: false, parent: pid(12), session: pid(56) });
    }

    #[test]
    fn the_kernels_own_have_no_session() {
        let stat = read(b"2 (kthreadd) S 0 0 0 0 -1").unwrap();
        assert_eq!((stat.parent, stat.session), (None, None));
        assert_eq!(read(b"2 (x"), None);
    }
}
