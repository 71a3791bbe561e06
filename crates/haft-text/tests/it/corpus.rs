//! Inputs that fuzzing kept, run again.

use std::io;

#[path = "../../../../fuzz/checks/edit.rs"]
pub(crate) mod edit;
#[path = "../../../../fuzz/checks/replay.rs"]
mod replay;

#[test]
fn kept_edits_change_what_they_were_meant_to() -> io::Result<()> {
    replay::replay("edit", edit::check)
}
