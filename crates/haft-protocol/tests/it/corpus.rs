//! Inputs that fuzzing kept, run again.

use std::io;

#[path = "../../../../fuzz/checks/names.rs"]
mod names;
#[path = "../../../../fuzz/checks/replay.rs"]
mod replay;

#[test]
fn kept_names_read_back_and_are_spelled_apart() -> io::Result<()> {
    replay::replay("names", names::check)
}
