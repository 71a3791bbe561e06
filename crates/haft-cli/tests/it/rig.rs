//! A workspace with state, configuration and a home of its own, and the `haft` command over it.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use haft::{Outcome, Status};
use serde_json::{Value, json};

/// The longest a command of these tests may take, on a slow machine that does other things too.
const PATIENCE: Duration = Duration::from_secs(100);

/// What lets root past permission bits.
const DROPPED: &str = "-dac_override,-dac_read_search";

/// A temporary folder with `ws`, where the command runs; `out`, which is outside; and `state`, `config` and `home`.
pub(crate) struct Rig {
    folder: tempfile::TempDir,
}

/// How a command ended, and what it printed.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) exit: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// How a call ended.
#[derive(Debug)]
pub(crate) struct Called {
    pub(crate) exit: i32,
    pub(crate) outcome: Outcome,
    /// What a model reads of it.
    pub(crate) text: String,
}

impl Rig {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
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
        self.json(&["log"])["data"].as_array().unwrap().len()
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

/// A search that takes far longer than anybody waits for it, and is under way.
pub(crate) struct LongWork {
    child: Child,
}

impl LongWork {
    /// Begins the search in JSON mode, and returns once its body runs.
    pub(crate) fn begin(rig: &Rig) -> Self {
        // Word borders of Unicode in text beyond ASCII are what takes the engine its time.
        rig.file("long.txt", format!("{}\n", "é".repeat(70)).repeat(300_000));
        let slow = arguments("grep", &json!({ "pattern": r"\b(?:\w{1,9}){1,9}\d\b" }));
        let mut command = rig.command(&["--json", "call", "search", &slow]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let begun = Instant::now();
        while !rig.json(&["log", "--status", "running"])["data"][0].is_object() {
            assert!(begun.elapsed() < PATIENCE, "it never began");
        }
        Self { child }
    }

    /// Does what Ctrl-C does, and waits for the end.
    pub(crate) fn interrupt(self) -> Ran {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        ran(self.child.wait_with_output())
    }

    /// Ends the process before it can say a word.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Called {
    /// Returns the data of a call that went well.
    pub(crate) fn data(&self) -> &Value {
        assert_eq!((self.exit, self.outcome.is_ok()), (0, true), "{}", self.text);
        self.outcome.structured.as_ref().unwrap()
    }

    /// Returns the kind of the failure.
    #[track_caller]
    pub(crate) fn failure(&self) -> &'static str {
        match &self.outcome.status {
            Status::Failed(failure) => failure.kind.as_str(),
            status => panic!("should have failed: {status:?}\n{}", self.text),
        }
    }

    /// Returns the control that refused.
    #[track_caller]
    pub(crate) fn control(&self) -> String {
        match &self.outcome.status {
            Status::Denied(denial) => {
                assert_eq!(self.exit, 3);
                denial.control.to_string()
            }
            status => panic!("should have been denied: {status:?}\n{}", self.text),
        }
    }

    /// Returns the notices, one a line.
    pub(crate) fn notices(&self) -> String {
        let notices = self.outcome.notices.iter().map(|it| format!("{}\n", it.text));
        notices.collect::<Vec<_>>().concat()
    }

    /// Returns what is said of things left out, one a line.
    pub(crate) fn bounds(&self) -> String {
        let bounds = self.outcome.bounds.iter().map(|it| format!("{it}\n"));
        bounds.collect::<Vec<_>>().concat()
    }
}

impl Ran {
    /// Returns everything that was printed.
    pub(crate) fn all(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }
}

/// Runs a command to its end.
pub(crate) fn run(mut command: Command) -> Ran {
    ran(command.output())
}

/// Reads a call from what the command printed in JSON mode.
#[track_caller]
pub(crate) fn called(ran: &Ran) -> Called {
    let object = one_object(ran);
    let outcome = object["data"]["outcome"].clone();
    assert!(!outcome.is_null(), "there should be an outcome: {object}");
    let outcome: Outcome = serde_json::from_value(outcome).unwrap();
    Called { exit: ran.exit, text: outcome.model_text(), outcome }
}

/// Reads the one object that standard output holds, and checks the envelope.
#[track_caller]
pub(crate) fn one_object(ran: &Ran) -> Value {
    let object: Value = serde_json::from_str(&ran.stdout)
        .unwrap_or_else(|error| panic!("standard output is no JSON: {error}\n{}", ran.all()));
    assert_eq!(ran.stdout.matches('\n').count(), 1, "{}", ran.stdout);
    assert_eq!(object["haft"], 1);
    assert_eq!(object["exit"], ran.exit);
    assert_eq!(object["ok"], ran.exit == 0);
    object
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

fn ran(output: std::io::Result<Output>) -> Ran {
    let Output { status, stdout, stderr } = output.unwrap();
    let exit = status.code().unwrap_or_else(|| panic!("ended by {status}"));
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { exit, stdout: text(stdout), stderr: text(stderr) }
}

/// Runs the command at a terminal, where somebody types. `None` where no terminal can be had, which is said.
///
/// Returns what the terminal shows, with its line ends as they are elsewhere.
pub(crate) fn at_terminal(rig: &Rig, args: &[&str], typed: &str) -> Option<String> {
    let quoted = |it: &str| format!("'{}'", it.replace('\'', "'\\''"));
    let line: Vec<String> =
        [env!("CARGO_BIN_EXE_haft")].iter().chain(args).map(|it| quoted(it)).collect();
    let mut command = Command::new("script");
    rig.prepare(&mut command);
    command.env("TERM", "xterm").args(["-qfec", &line.join(" "), "/dev/null"]);
    let mut command = assert_cmd::Command::from_std(command);
    match command.timeout(PATIENCE).write_stdin(typed).output() {
        Ok(output) => Some(String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("skipped: there is no `script` to make a terminal");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Replaces what differs from one run to the next: ids, digests, times, sizes, and the rig's folder.
pub(crate) fn settled(rig: &Rig, value: Value) -> Value {
    const VARYING: &[&str] =
        &["at", "ended_at", "run_ms", "oldest", "modified", "database_bytes", "log_bytes"];
    match value {
        Value::String(text) => settled_text(rig, &text).into(),
        Value::Array(items) => items.into_iter().map(|it| settled(rig, it)).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(key, value)| {
                let varies = VARYING.contains(&key.as_str()) && !value.is_null();
                let value = if varies { json!("…") } else { settled(rig, value) };
                (key, value)
            })
            .collect(),
        other => other,
    }
}

fn settled_text(rig: &Rig, text: &str) -> String {
    let is_made_of = |set: &str| text.chars().all(|char| set.contains(char));
    match text.len() {
        26 if is_made_of("0123456789abcdefghjkmnpqrstvwxyz") => "ID".to_owned(),
        64 if is_made_of("0123456789abcdef") => "DIGEST".to_owned(),
        _ => text.replace(&rig.folder().display().to_string(), "…"),
    }
}

/// Replaces in printed text what differs from one run to the next.
pub(crate) fn masked(rig: &Rig, text: &str) -> String {
    let mut text = settled_text(rig, text);
    for call in rig.json(&["log"])["data"].as_array().unwrap() {
        let id = call["id"].as_str().unwrap();
        text = text.replace(id, "ID").replace(&id[id.len() - 8..], "SHORT-ID");
    }
    text.lines().map(|line| masked_line(line) + "\n").collect()
}

fn masked_line(line: &str) -> String {
    let digit = |char: char| if char.is_ascii_digit() { '0' } else { char };
    let words: Vec<&str> = line.split(' ').collect();
    let mask = |(at, word): (usize, &&str)| {
        let shape: String = word.chars().map(digit).collect();
        let is_number = !shape.is_empty() && shape.chars().all(|char| matches!(char, '0' | '.'));
        match words.get(at + 1) {
            _ if shape == "0000-00-00" => "DATE".to_owned(),
            _ if shape == "00:00:00" => "TIME".to_owned(),
            Some(&("ms" | "KiB")) if is_number => "N".to_owned(),
            _ => (*word).to_owned(),
        }
    };
    words.iter().enumerate().map(mask).collect::<Vec<_>>().join(" ")
}
