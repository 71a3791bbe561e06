//! The command on the screen of a terminal, 80 columns wide.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use super::{PATIENCE, Rig};

/// What is written behind the command, once it has ended.
const OVER: &str = "[it is over]";

/// A terminal that tmux draws. It goes when this is dropped.
pub(crate) struct Screen<'a> {
    rig: &'a Rig,
}

impl<'a> Screen<'a> {
    /// Begins the command on a screen. `None` where there is no tmux, which is said.
    pub(crate) fn of(rig: &'a Rig, args: &[&str]) -> Option<Self> {
        let quoted = |it: &str| format!("'{}'", it.replace('\'', "'\\''"));
        let line: Vec<String> =
            [env!("CARGO_BIN_EXE_haft")].iter().chain(args).map(|it| quoted(it)).collect();
        let line = format!("{}; printf '\\n{OVER}'; read -r _", line.join(" "));
        let screen = Self { rig };
        let begun = screen
            .tmux()
            .args(["-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "50", &line])
            .output();
        let Ok(begun) = begun else {
            eprintln!("skipped: there is no `tmux` to draw a terminal");
            return None;
        };
        assert!(begun.status.success(), "{}", String::from_utf8_lossy(&begun.stderr));
        Some(screen)
    }

    /// Waits until a text is shown.
    pub(crate) fn shows(&self, text: &str) -> &Self {
        let began = Instant::now();
        while !self.captured(&["-p"]).contains(text) {
            assert!(began.elapsed() < PATIENCE, "no {text:?} is shown: {}", self.captured(&["-p"]));
            thread::sleep(Duration::from_millis(30));
        }
        self
    }

    /// Types a line.
    pub(crate) fn typed(&self, line: &str) -> &Self {
        assert!(self.tmux().args(["send-keys", line, "Enter"]).status().unwrap().success());
        self
    }

    /// Waits for the end, and returns what stands on the screen then: as text, and with what colours it.
    pub(crate) fn at_its_end(&self) -> (String, String) {
        self.shows(OVER);
        let before = |shown: String| {
            let lines: Vec<&str> =
                shown.lines().take_while(|it| !it.contains(OVER)).map(str::trim_end).collect();
            lines.join("\n").trim_end().to_owned()
        };
        (before(self.captured(&["-p"])), before(self.captured(&["-p", "-e"])))
    }

    fn captured(&self, how: &[&str]) -> String {
        let captured = self.tmux().arg("capture-pane").args(how).output().unwrap();
        String::from_utf8(captured.stdout).unwrap()
    }

    fn tmux(&self) -> Command {
        let mut command = Command::new("tmux");
        self.rig.prepare(&mut command);
        command.env("TMUX_TMPDIR", self.rig.folder()).args(["-u", "-L", "screen"]);
        command
    }
}

impl Drop for Screen<'_> {
    fn drop(&mut self) {
        // Ends the server of this socket, and with it what runs on its screen.
        let _ = self.tmux().arg("kill-server").output();
    }
}
