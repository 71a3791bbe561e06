//! Names that a reader cannot tell apart, and names that are not text.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use haft_workspace::{ListOptions, PathError};

use crate::rig::Rig;

#[test]
fn the_exact_name_always_wins() {
    let rig = Rig::new();
    rig.file("shot 3.00\u{202f}PM.png", "narrow").file("shot 3.00 PM.png", "plain");
    for (path, text) in [("shot 3.00\u{202f}PM.png", "narrow"), ("shot 3.00 PM.png", "plain")] {
        assert_eq!(rig.read(path).unwrap(), text);
        assert_eq!(rig.existing(path).unwrap().folded(), None);
    }
}

#[test]
fn one_name_that_differs_only_in_spaces_or_accents_is_used_and_named() {
    let rig = Rig::new();
    rig.file("shot 3.00\u{202f}PM.png", "narrow")
        .file("v\u{a0}1/cafe\u{301}.txt", "decomposed")
        .link("l", "v 1");
    assert_eq!(rig.read("shot 3.00 PM.png").unwrap(), "narrow");
    assert_eq!(rig.read("shot 3.00\u{a0}PM.png").unwrap(), "narrow");
    assert_eq!(rig.read("v 1/caf\u{e9}.txt").unwrap(), "decomposed");
    let place = rig.existing("shot 3.00 PM.png").unwrap();
    assert_eq!(place.logical().as_str(), "shot 3.00\u{202f}PM.png");
    insta::assert_snapshot!(place.notice().unwrap(), @"`shot 3.00 PM.png` does not exist; used `shot 3.00<U+202F>PM.png`, the one name that differs only in spaces or accents");
    // What may come to be means the same place as what is read.
    assert_eq!(rig.any("v 1/new.txt").unwrap().logical().as_str(), "v\u{a0}1/new.txt");
    // A link says exactly what it says.
    assert!(matches!(rig.existing("l"), Err(PathError::NotFound { .. })));
}

#[test]
fn several_such_names_are_listed_and_none_is_used() {
    let rig = Rig::new();
    rig.file("a\u{202f}b", "1").file("a\u{a0}b", "2");
    assert!(matches!(rig.existing("a b"), Err(PathError::Ambiguous { .. })));
    insta::assert_snapshot!(rig.verdict("a b"), @"`a b` does not exist, and `a<U+00A0>b`, `a<U+202F>b` differ from it only in spaces or accents");
}

#[test]
fn folding_does_not_lead_around_protection() {
    let rig = Rig::new();
    rig.file("my\u{a0}key/.env", "SECRET").file("the\u{a0}server.pem", "SECRET");
    assert!(matches!(rig.existing("my key/.env"), Err(PathError::Protected { .. })));
    assert!(matches!(rig.existing("the server.pem"), Err(PathError::Protected { .. })));
}

#[test]
fn names_that_are_not_text_are_shown_with_escapes_and_found_by_them() {
    let rig = Rig::new();
    fs::write(rig.ws("").join(OsStr::from_bytes(b"caf\xe9.txt")), "latin").unwrap();
    rig.file("two\nlines", "newline");
    let listing = rig.list(".", &ListOptions::children());
    let shown: Vec<&str> = listing.entries.iter().map(|entry| entry.path.as_str()).collect();
    assert_eq!(shown, [r"caf\xe9.txt", r"two\nlines"]);
    assert_eq!(listing.report.escaped, 1);
    assert_eq!(rig.read(r"caf\xe9.txt").unwrap(), "latin");
    assert_eq!(rig.read(r"two\nlines").unwrap(), "newline");
    assert_eq!(rig.read("two\nlines").unwrap(), "newline");
}
