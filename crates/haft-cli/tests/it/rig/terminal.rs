//! The command at a terminal.

use std::process::Command;
use std::time::Duration;

use super::{PATIENCE, Rig};

/// Runs the command at a terminal, where somebody types. `None` where no terminal can be had, which is said.
///
/// Returns what the terminal shows, with its line ends as they are elsewhere.
pub(crate) fn at_terminal(rig: &Rig, args: &[&str], typed: &str) -> Option<String> {
    at_terminal_after(rig, args, Duration::ZERO, typed)
}

/// Runs the command as [`at_terminal`] does, where somebody thinks before they type.
pub(crate) fn at_terminal_after(
    rig: &Rig,
    args: &[&str],
    thinking: Duration,
    typed: &str,
) -> Option<String> {
    let quoted = |it: &str| format!("'{}'", it.replace('\'', "'\\''"));
    let line: Vec<String> =
        [env!("CARGO_BIN_EXE_haft")].iter().chain(args).map(|it| quoted(it)).collect();
    let mut command = Command::new("sh");
    rig.prepare(&mut command);
    let thinking = thinking.as_secs_f32();
    let typing = format!("{{ sleep {thinking}; cat; }} | exec script -qfec \"$1\" /dev/null");
    command.env("TERM", "xterm").args(["-c", &typing, "sh", &line.join(" ")]);
    let mut command = assert_cmd::Command::from_std(command);
    let output = command.timeout(PATIENCE).write_stdin(typed).output().unwrap();
    if output.status.code() == Some(127) {
        eprintln!("skipped: there is no `script` to make a terminal");
        return None;
    }
    Some(String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n"))
}
