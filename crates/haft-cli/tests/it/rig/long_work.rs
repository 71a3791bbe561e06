//! A call that is under way.

use std::process::{Child, Stdio};
use std::time::Instant;

use serde_json::json;

use super::{PATIENCE, Ran, Rig, arguments, ran};

/// A search that finds `word1` in the first line of `long.txt`, takes far longer for the others than anybody waits, and
/// is under way.
pub(crate) struct LongWork {
    child: Child,
}

impl LongWork {
    /// Begins the search in JSON mode, and returns once its body runs.
    pub(crate) fn begin(rig: &Rig) -> Self {
        // Borders of words in text beyond ASCII are what takes the engine its time.
        let line = format!("{}\n", "é".repeat(70));
        rig.file("long.txt", format!("word1\n{}", line.repeat(300_000)));
        let slow = arguments("grep", &json!({ "pattern": r"\b(?:\w{1,9}){1,9}\d\b" }));
        let mut command = rig.command(&["--json", "call", "search", &slow]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let begun = Instant::now();
        while !rig.json(&["log", "--status", "running"])["data"][0].is_object() {
            assert!(begun.elapsed() < PATIENCE, "it never began");
        }
        Self { child }
    }

    /// Waits until the search ends by itself.
    pub(crate) fn wait(self) -> Ran {
        ran(self.child.wait_with_output())
    }

    /// Does what Ctrl-C does, and waits for the end.
    pub(crate) fn interrupt(self) -> Ran {
        self.signal(rustix::process::Signal::INT)
    }

    /// Sends a signal, and waits for the end.
    pub(crate) fn signal(self, signal: rustix::process::Signal) -> Ran {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
        self.wait()
    }

    /// Ends the process before it can say a word.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
