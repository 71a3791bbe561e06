//! The command at a terminal.

use std::process::Command;

use super::{PATIENCE, Rig};

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
