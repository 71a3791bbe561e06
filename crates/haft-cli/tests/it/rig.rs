//! A workspace with state, configuration and a home of its own, and the `haft` command over it.

mod long_work;
mod overheard;
mod ran;
mod screen;
mod scripted;
mod settled;
mod terminal;

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

pub(crate) use long_work::LongWork;
pub(crate) use overheard::Overheard;
pub(crate) use ran::{Called, Ran, called, one_object, ran, run};
pub(crate) use screen::Screen;
pub(crate) use scripted::{Says, Scripted};
pub(crate) use settled::{masked, settled};
pub(crate) use terminal::{at_terminal, at_terminal_after, at_terminal_typing, at_terminal_when};

/// The longest a command of these tests may take, on a slow machine that does other things too.
const PATIENCE: Duration = Duration::from_secs(100);

/// What lets root past permission bits.
const DROPPED: &str = "-dac_override,-dac_read_search";

/// A temporary folder with `ws`, where the command runs; `out`, which is outside; and `state`, `config` and `home`.
pub(crate) struct Rig {
    folder: tempfile::TempDir,
}

impl Rig {
    pub(crate) fn new() -> Self {
        Self::at(tempfile::tempdir().unwrap())
    }

    /// Makes one in memory, where that can be had: what a test has many of costs less there.
    pub(crate) fn in_memory() -> Self {
        Self::at(tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap())
    }

    fn at(folder: tempfile::TempDir) -> Self {
        for name in ["ws", "out", "config", "home"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn ws(&self, path: &str) -> PathBuf {
        self.folder.path().join("ws").join(path)
    }

    pub(crate) fn out(&self, path: &str) -> PathBuf {
        self.folder.path().join("out").join(path)
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    /// Writes a file of the workspace, with the directories above it.
    pub(crate) fn file(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        write(&self.ws(path), content.as_ref());
        self
    }

    /// Writes a file outside the workspace.
    pub(crate) fn outside(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        write(&self.out(path), content.as_ref());
        self
    }

    pub(crate) fn dir(&self, path: &str) -> &Self {
        fs::create_dir_all(self.ws(path)).unwrap();
        self
    }

    pub(crate) fn link(&self, path: &str, target: impl AsRef<Path>) -> &Self {
        symlink(target, self.ws(path)).unwrap();
        self
    }

    pub(crate) fn fifo(&self, path: &str) -> &Self {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        mknodat(CWD, self.ws(path), FileType::Fifo, Mode::RWXU, 0).unwrap();
        self
    }

    pub(crate) fn socket(&self, path: &str) -> &Self {
        drop(UnixListener::bind(self.ws(path)).unwrap());
        self
    }

    /// Writes the user's configuration.
    pub(crate) fn config(&self, text: &str) -> &Self {
        write(&self.folder.path().join("config/config.toml"), text.as_bytes());
        self
    }

    /// Writes the project's own configuration, which nobody trusts yet.
    pub(crate) fn project(&self, text: &str) -> &Self {
        self.file(".haft/config.toml", text)
    }

    /// Makes the command, in the workspace, with nothing of the surrounding environment and nobody at the keyboard.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_haft"));
        self.prepare(&mut command);
        command.args(args);
        command
    }

    /// Gives a command its place and its environment.
    pub(crate) fn prepare(&self, command: &mut Command) {
        command
            .current_dir(self.ws(""))
            .env_clear()
            .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
            .env("HOME", self.folder.path().join("home"))
            .env("USER", "ada")
            .env("TZ", "UTC")
            .env("HAFT_STATE_DIR", self.state())
            .env("HAFT_CONFIG_DIR", self.folder.path().join("config"))
            .stdin(Stdio::null());
    }

    /// Runs the command.
    pub(crate) fn haft(&self, args: &[&str]) -> Ran {
        run(self.command(args))
    }

    /// Runs the command with something on standard input.
    pub(crate) fn haft_given(&self, stdin: impl Into<Vec<u8>>, args: &[&str]) -> Ran {
        let mut command = assert_cmd::Command::from_std(self.command(args));
        ran(command.timeout(PATIENCE).write_stdin(stdin).output())
    }

    /// Runs the command in JSON mode and returns the one object it prints.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let ran = self.haft(&[&["--json"], args].concat());
        one_object(&ran)
    }

    /// Makes a call.
    pub(crate) fn call(&self, tool: &str, action: &str, args: &Value) -> Called {
        self.call_with(&[], tool, action, args)
    }

    /// Makes a call under further options of the command line.
    pub(crate) fn call_with(
        &self,
        options: &[&str],
        tool: &str,
        action: &str,
        args: &Value,
    ) -> Called {
        let arguments = arguments(action, args);
        called(&self.haft(&[options, &["--json", "call", tool, &arguments]].concat()))
    }

    pub(crate) fn read(&self, args: &Value) -> Called {
        self.call("reader", "read", args)
    }

    pub(crate) fn list_dir(&self, args: &Value) -> Called {
        self.call("reader", "list_dir", args)
    }

    pub(crate) fn grep(&self, args: &Value) -> Called {
        self.call("search", "grep", args)
    }

    pub(crate) fn find(&self, args: &Value) -> Called {
        self.call("search", "find", args)
    }

    /// Returns the paths that a search for files finds.
    pub(crate) fn found(&self, args: &Value) -> Vec<String> {
        let called = self.find(args);
        let entries = called.data()["entries"].as_array().unwrap().clone();
        entries.iter().map(|entry| entry["path"].as_str().unwrap().to_owned()).collect()
    }

    /// Returns how many calls are on record.
    pub(crate) fn recorded(&self) -> usize {
        self.json(&["log", "--all"])["data"].as_array().unwrap().len()
    }

    /// Makes the command for a user whom permission bits bind, as they bind everybody but root. `None` where this
    /// cannot be had, which is said.
    pub(crate) fn bound_by_permissions(&self, args: &[&str]) -> Option<Command> {
        if !rustix::process::geteuid().is_root() {
            return Some(self.command(args));
        }
        let mut command = Command::new("setpriv");
        command.args(["--bounding-set", DROPPED, "--inh-caps", DROPPED, "--"]);
        self.prepare(&mut command);
        let locked = self.folder.path().join("locked");
        fs::write(&locked, "").unwrap();
        lock(&locked);
        let mut probe = Command::new("setpriv");
        probe.args(["--bounding-set", DROPPED, "--inh-caps", DROPPED, "--", "cat"]).arg(&locked);
        let is_bound = probe.output().is_ok_and(|it| {
            !it.status.success() && String::from_utf8_lossy(&it.stderr).contains("cat:")
        });
        if !is_bound {
            eprintln!("skipped: root cannot give up its way around permission bits here");
            return None;
        }
        command.arg(env!("CARGO_BIN_EXE_haft")).args(args);
        Some(command)
    }
}

/// Writes the arguments of a call.
pub(crate) fn arguments(action: &str, args: &Value) -> String {
    let mut arguments = json!({ "action": action });
    arguments.as_object_mut().unwrap().extend(args.as_object().unwrap().clone());
    arguments.to_string()
}

/// Takes every permission from a file or directory.
pub(crate) fn lock(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
}

fn write(path: &Path, content: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}
