//! Inputs that fuzzing kept, run again.

use std::fs;
use std::path::Path;

#[path = "../../../../fuzz/checks/names.rs"]
mod names;

#[test]
fn kept_names_read_back_and_are_spelled_apart() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/names");
    let mut seen = 0;
    for file in fs::read_dir(folder).unwrap() {
        names::check(&fs::read(file.unwrap().path()).unwrap());
        seen += 1;
    }
    assert!(seen >= 6, "the corpus holds {seen} inputs");
}
