//! The helper as a program of its own, for those that cannot ask for it first in their `main`.

use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    haft_process::helper::run_if_requested();
    let _ =
        writeln!(std::io::stderr(), "this program is started by haft to run commands, not by hand");
    ExitCode::from(2)
}
