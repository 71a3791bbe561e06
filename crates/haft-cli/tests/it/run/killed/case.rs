//! One run that is killed, and what it leaves.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use serde_json::{Value, json};

use super::record::Record;
use crate::rig::{Rig, Says, Scripted, at_terminal, run};

/// What every command of a case is begun with: nothing is asked but about calls whose end nobody knows.
const FREELY: [&str; 2] = ["--preset", "full"];

/// What a run is for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Task {
    /// Looks, and has effects that may not happen twice.
    Work,
    /// Has others work and look.
    HaveWorked,
}

impl Task {
    fn text(self) -> &'static str {
        match self {
            Self::Work => "Do it.",
            Self::HaveWorked => "Have it done.",
        }
    }

    /// Returns the effects that happen where nothing goes wrong, in order.
    pub(super) fn effects(self) -> &'static [&'static str] {
        match self {
            Self::Work => &["first", "second"],
            Self::HaveWorked => &["beneath"],
        }
    }
}

/// Where a process is killed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Killed {
    /// At which commit of its life, from 1.
    pub(super) commit: u64,
    pub(super) side: Side,
}

/// The two sides of a commit.
#[derive(Debug, Clone, Copy)]
pub(super) enum Side {
    Before,
    After,
}

impl fmt::Display for Killed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = match self.side {
            Side::Before => "before",
            Side::After => "after",
        };
        write!(f, "{} {side}", self.commit)
    }
}

/// Makes the model that works on all runs, each of which it knows by what was said in it.
pub(super) fn server() -> Scripted {
    Scripted::answering(says)
}

fn says(request: &Value) -> Says {
    let messages = request["messages"].as_array().unwrap();
    let is_told = |text: &str| {
        messages.iter().any(|it| it["role"] == "user" && it["content"].to_string().contains(text))
    };
    let effect = |name: &str| ("bash", json!({ "command": format!("echo {name} >> effects") }));
    let read = || ("reader", json!({ "action": "read", "path": "src/a.txt" }));
    let write =
        |path: &str| ("editor", json!({ "action": "write", "path": path, "content": "made\n" }));
    let place = messages.iter().filter(|it| it["role"] == "assistant").count();
    let (calls, last): (Vec<Vec<_>>, &[&str]) = if is_told(Task::Work.text()) {
        (vec![vec![read(), effect("first"), write("made.txt")], vec![effect("second")]], END)
    } else if is_told(Task::HaveWorked.text()) {
        let work = json!({ "instruction": "Work beneath." });
        let look = json!({ "instruction": "Look beneath.", "preset": "read-only" });
        (vec![vec![("subagent", work)], vec![("subagent", look)]], END)
    } else if is_told("Work beneath.") {
        (vec![vec![effect("beneath"), write("beneath.txt")]], &["Worked."])
    } else {
        (vec![vec![read()]], &["Looked."])
    };
    calls.into_iter().nth(place).map_or(Says::Text(last), |calls| Says::Calls("", calls))
}

/// The last words of a run.
const END: &[&str] = &["All is ", "done."];

/// A workspace in which a run is worked on.
pub(super) struct Case {
    rig: Rig,
    task: Task,
}

/// How a run went on.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum WentOn {
    /// To its end.
    Done,
    /// It was killed before it was on record.
    NotOnRecord,
}

impl Case {
    pub(super) fn new(server: &Scripted, task: Task) -> Self {
        let rig = Rig::in_memory();
        rig.file("src/a.txt", "one\ntwo\nthree\n").config(&server.config());
        Self { rig, task }
    }

    /// Begins the run and lets it come to its end.
    pub(super) fn run_whole(&self) {
        let ran = run(self.command(&["run", "--subagents", self.task.text()]));
        assert_eq!(ran.exit, 0, "{}", ran.all());
    }

    /// Begins the run; tells whether it was killed.
    pub(super) fn run(&self, killed: Killed) -> bool {
        is_killed(self.command(&["run", "--subagents", self.task.text()]), killed)
    }

    /// Goes on with the run; tells whether it was killed.
    pub(super) fn resume(&self, killed: Killed) -> bool {
        is_killed(self.command(&["resume", "--subagents"]), killed)
    }

    /// Goes on with the run until its end.
    pub(super) fn go_on(&self) -> WentOn {
        let mut ran = run(self.command(&["resume", "--subagents"]));
        if ran.exit == 2 && ran.stderr.contains("no run of this workspace is on record") {
            return WentOn::NotOnRecord;
        }
        if ran.exit == 2 && ran.stderr.contains("ended before its task was on record") {
            ran = run(self.command(&["resume", "--subagents", "last", self.task.text()]));
        }
        if ran.exit == 2 && ran.stderr.contains("the model is done with run") {
            return WentOn::Done;
        }
        assert_eq!(ran.exit, 0, "{}", ran.all());
        assert_eq!(ran.stdout.lines().last(), Some("All is done."), "{}", ran.all());
        WentOn::Done
    }

    /// Goes on with the run at a terminal, where a person answers the questions. `None` where there is no terminal.
    pub(super) fn go_on_at_terminal(&self, answer: &str) -> Option<String> {
        at_terminal(&self.rig, &[&FREELY[..], &["resume"]].concat(), answer)
    }

    /// Returns the tool of the last call whose end nobody knows.
    pub(super) fn unknown(&self) -> Option<String> {
        let calls = self.rig.json(&["log"])["data"].clone();
        let last = calls.as_array().unwrap().iter().find(|it| it["status"] == "unknown")?;
        Some(last["tool"].as_str().unwrap().to_owned())
    }

    fn command(&self, args: &[&str]) -> Command {
        self.rig.command(&[&FREELY, args].concat())
    }

    /// Returns what is on record of the run.
    pub(super) fn record(&self) -> Record {
        Record::of(&self.rig.json(&["show", "last-run"])["data"])
    }

    /// Returns the names of the effects that happened, in order.
    pub(super) fn effects(&self) -> Vec<String> {
        let text = fs::read_to_string(self.rig.ws("effects")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Returns what the run made, beside the effects.
    pub(super) fn made(&self) -> BTreeMap<String, String> {
        let names = ["made.txt", "beneath.txt", "src/a.txt"];
        let read = |name: &&str| fs::read_to_string(self.rig.ws(name)).ok();
        names.iter().filter_map(|name| Some(((*name).to_owned(), read(name)?))).collect()
    }
}

/// Runs a command that is killed at a commit, by a library that is loaded into it before anything else. Tells whether it
/// came to that.
fn is_killed(mut command: Command, killed: Killed) -> bool {
    command.env("LD_PRELOAD", library()).env("KILLED_AT_COMMIT", killed.to_string());
    let output = command.output().unwrap();
    if output.status.signal() == Some(9) {
        return true;
    }
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{killed}: {}: {said}", output.status);
    false
}

/// Returns the library, built once for this process.
fn library() -> PathBuf {
    static BUILT: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
        let folder = tempfile::tempdir().unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/run/killed/at_commit.c");
        // There is a compiler: SQLite is built with it.
        let mut command = Command::new("cc");
        command.args(["-shared", "-fPIC", "-O1", "-o"]).arg(folder.path().join("at_commit.so"));
        let built = command.arg(source).output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        folder
    });
    BUILT.path().join("at_commit.so")
}
