//! The helper: this very program, started again to run one command.
//!
//! A launcher starts `PROGRAM __exec` with a socket as its standard input and sends an order over it. The helper is a
//! fresh process with one thread, which is what confining a child safely takes: it becomes the leader of a session
//! without a terminal and the parent of every orphan among its descendants, starts the command confined, and does not
//! end before nothing of it is left. When the launcher is gone, so is everything it ran.

#[cfg(target_os = "linux")]
mod linux;

use std::path::{Path, PathBuf};

/// The argument that asks for the helper.
pub(crate) const REQUEST: &str = "__exec";

/// The argument after it that asks for the trials of the self-test.
pub(crate) const PROBE: &str = "probe";

/// A program that acts as the helper when it is asked to.
///
/// To have one is to know that [`run_if_requested`] comes first in its `main`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Helper {
    program: PathBuf,
}

/// Acts as the helper and does not return, if this process was started as one; else returns the helper that it can be.
///
/// Call this first in `main`, before threads and runtimes start:
///
/// ```no_run
/// let helper = haft_process::helper::run_if_requested();
/// let launcher = haft_process::Launcher::new(Some(helper), "/tmp");
/// ```
pub fn run_if_requested() -> Helper {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == REQUEST) {
        let rest: Vec<_> = arguments.collect();
        act(&rest);
    }
    Helper { program: PathBuf::from("/proc/self/exe") }
}

impl Helper {
    /// Names a program that calls [`run_if_requested`] first, such as `haft` or `haft-process-helper`.
    pub fn at(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into() }
    }

    /// Returns the program.
    pub fn program(&self) -> &Path {
        &self.program
    }
}

#[cfg(target_os = "linux")]
fn act(rest: &[std::ffi::OsString]) -> ! {
    let code = match rest {
        [] => linux::serve(),
        [first, directory] if first == PROBE => linux::probe(Path::new(directory)),
        _ => linux::misused(),
    };
    std::process::exit(code)
}

#[cfg(not(target_os = "linux"))]
fn act(_: &[std::ffi::OsString]) -> ! {
    std::process::exit(2)
}

#[cfg(target_os = "linux")]
pub(crate) use linux::ATTEMPTS;
