//! Runs a check on every input that was kept for a target. For the tests of crates.

use std::fs;
use std::io;
use std::path::Path;

/// Runs a check on each file of `fuzz/corpus/<target>`; an input that breaks it is named.
pub(crate) fn replay(target: &str, check: fn(&[u8])) -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut seen = 0;
    for file in fs::read_dir(&folder)? {
        let path = file?.path();
        let input = fs::read(&path)?;
        let name = path.display().to_string();
        assert!(std::panic::catch_unwind(|| check(&input)).is_ok(), "{name} breaks the check");
        seen += 1;
    }
    assert!(seen > 0, "{} is empty", folder.display());
    Ok(())
}
