//! Inputs that fuzzing kept, run again.

use std::io;

#[path = "../../../../fuzz/checks/paths.rs"]
mod paths;
#[path = "../../../../fuzz/checks/replay.rs"]
mod replay;

#[test]
fn kept_paths_lead_to_nothing_that_is_kept() -> io::Result<()> {
    replay::replay("paths", paths::check)
}
