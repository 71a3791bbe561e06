//! A workspace, something outside of it, and a launcher.

use std::ffi::OsString;
use std::fs::File;
use std::future::pending;
use std::os::fd::OwnedFd;
use std::path::Path;

use haft_process::helper::Helper;
use haft_process::{Command, Finished, LaunchError, Launcher, SandboxLevel};
use tempfile::TempDir;

/// The levels that the helper applies.
pub(crate) const HELPED: [SandboxLevel; 3] =
    [SandboxLevel::Group, SandboxLevel::Files, SandboxLevel::FilesNet];

/// Names the helper to a copy of this program that cannot reach the one that was built.
pub(crate) const HELPER: &str = "HAFT_TEST_HELPER";

/// A workspace, something outside of it, and a launcher.
pub(crate) struct Room {
    pub(crate) launcher: Launcher,
    pub(crate) inside: TempDir,
    pub(crate) outside: TempDir,
    _scratch: TempDir,
}

impl Room {
    pub(crate) fn new() -> Self {
        let built = env!("CARGO_BIN_EXE_haft-process-helper");
        Self::with(Some(Helper::at(std::env::var_os(HELPER).unwrap_or_else(|| built.into()))))
    }

    pub(crate) fn without_helper() -> Self {
        Self::with(None)
    }

    pub(crate) fn with(helper: Option<Helper>) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("secret"), "secret").unwrap();
        Self {
            launcher: Launcher::new(helper, scratch.path()),
            inside: tempfile::tempdir().unwrap(),
            outside,
            _scratch: scratch,
        }
    }

    /// A script for bash, in the workspace, at one level exactly; `$OUT` is outside.
    pub(crate) fn bash(&self, level: SandboxLevel, script: &str) -> Command {
        self.argv(level, ["bash", "--noprofile", "--norc", "-c", script])
    }

    pub(crate) fn argv<const N: usize>(&self, level: SandboxLevel, argv: [&str; N]) -> Command {
        let mut command = Command::of(argv, open(self.inside.path()));
        command.env = vec![
            ("PATH".into(), "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin".into()),
            ("OUT".into(), self.outside.path().into()),
        ];
        command.sandbox.level = level;
        command.sandbox.at_least = level;
        command.sandbox.write = vec![open(self.inside.path())];
        command
    }

    pub(crate) fn run(&self, command: Command) -> Finished {
        self.try_run(command).unwrap()
    }

    pub(crate) fn try_run(&self, command: Command) -> Result<Finished, LaunchError> {
        block_on(self.launcher.run(command, pending()))
    }

    /// Runs a script and returns what it printed, its own and its errors' text.
    pub(crate) fn says(&self, level: SandboxLevel, script: &str) -> String {
        let finished = self.run(self.bash(level, script));
        format!("{}{}", finished.stdout.kept(), finished.stderr.kept())
    }

    /// Tells whether a script succeeds.
    pub(crate) fn does(&self, level: SandboxLevel, script: &str) -> bool {
        self.run(self.bash(level, script)).end.is_success()
    }
}

pub(crate) fn open(directory: &Path) -> OwnedFd {
    File::open(directory).unwrap().into()
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// Counts the processes whose command line holds a word.
pub(crate) fn running(word: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        Some(String::from_utf8_lossy(&line).replace('\0', " "))
    });
    lines.filter(|line| line.contains(word)).count()
}

/// A number of seconds that no other sleep of this machine lasts, for the test to know its own by.
pub(crate) fn own_sleep(number: u32) -> String {
    format!("{}", 3_000_000 + u64::from(std::process::id()) * 100 + u64::from(number))
}

/// A FIFO of which the reader learns that everybody who held its other end is gone.
pub(crate) fn fifo(room: &Room) -> OsString {
    let path = room.inside.path().join("fifo");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &path,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    path.into()
}
