//! The command at a terminal.

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super::{PATIENCE, Rig};

/// How the questions end that are put at a terminal.
const QUESTION: &str = "N] ";

/// Runs the command at a terminal, where somebody types a line at each question. `None` where no terminal can be had,
/// which is said.
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
    let typed: Vec<&str> = typed.split_inclusive('\n').collect();
    at_terminal_typing(rig, args, thinking, &typed)
}

/// Runs the command as [`at_terminal`] does, where somebody types one of these at each question, all of it at once.
pub(crate) fn at_terminal_typing(
    rig: &Rig,
    args: &[&str],
    thinking: Duration,
    typed: &[&str],
) -> Option<String> {
    let typed: Vec<(&str, &str)> = typed.iter().map(|it| (QUESTION, *it)).collect();
    at_terminal_when(rig, args, thinking, &typed)
}

/// Runs the command as [`at_terminal`] does, where somebody types the second of each of these when the first is shown.
pub(crate) fn at_terminal_when(
    rig: &Rig,
    args: &[&str],
    thinking: Duration,
    typed: &[(&str, &str)],
) -> Option<String> {
    let quoted = |it: &str| format!("'{}'", it.replace('\'', "'\\''"));
    let line: Vec<String> =
        [env!("CARGO_BIN_EXE_haft")].iter().chain(args).map(|it| quoted(it)).collect();
    let mut command = Command::new("sh");
    rig.prepare(&mut command);
    command.env("TERM", "xterm").args([
        "-c",
        "exec script -qfec \"$1\" /dev/null",
        "sh",
        &line.join(" "),
    ]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut keys = child.stdin.take().unwrap();
    let mut screen = child.stdout.take().unwrap();
    let (sender, pieces) = mpsc::channel();
    let reading = thread::spawn(move || {
        let mut piece = [0; 4096];
        while let Ok(read @ 1..) = screen.read(&mut piece) {
            let _ = sender.send(piece[..read].to_vec());
        }
    });
    let (begun, mut shown, mut seen) = (Instant::now(), Vec::new(), 0);
    let mut typed = typed.iter().peekable();
    loop {
        match pieces.recv_timeout(PATIENCE.saturating_sub(begun.elapsed())) {
            Ok(piece) => shown.extend(piece),
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                child.kill().unwrap();
                panic!("it never ended: {}", String::from_utf8_lossy(&shown));
            }
        }
        let new = String::from_utf8_lossy(&shown[seen..]);
        if let Some((_, line)) = typed.next_if(|(when, _)| new.contains(when)) {
            seen = shown.len();
            thread::sleep(thinking);
            // It may have ended meanwhile.
            let _ = keys.write_all(line.as_bytes());
        }
    }
    reading.join().unwrap();
    if child.wait().unwrap().code() == Some(127) {
        eprintln!("skipped: there is no `script` to make a terminal");
        return None;
    }
    Some(String::from_utf8_lossy(&shown).replace("\r\n", "\n"))
}
