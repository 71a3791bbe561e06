//! Inputs that fuzzing kept, run again.

use std::io;

#[path = "../../../../fuzz/checks/replay.rs"]
mod replay;
#[path = "../../../../fuzz/checks/shell.rs"]
mod shell;

#[test]
fn kept_texts_are_allowed_only_where_they_were_read_whole() -> io::Result<()> {
    replay::replay("shell", shell::check)
}
