//! What counts as seen.

use haft_protocol::LogicalPath;
use haft_text::LineHash;
use serde_json::json;

use crate::rig::Rig;

fn lines(text: &str) -> Vec<LineHash> {
    text.lines().map(LineHash::of).collect()
}

#[test]
fn lines_that_were_shown_are_seen_and_no_others() {
    let rig = Rig::new();
    rig.file("a.txt", "one\r\ntwo\r\nthree\r\nfour\r\n");
    rig.read(&json!({ "path": "a.txt", "offset": 2, "limit": 2 }));
    let (ledger, path) = (rig.ledger(), LogicalPath::new("a.txt"));
    assert!(ledger.covers(&path, &lines("two\nthree")));
    assert!(!ledger.covers(&path, &lines("one")));
    assert!(!ledger.covers(&path, &lines("three\nfour")));
}

#[test]
fn a_line_that_was_cut_is_not_seen() {
    let rig = Rig::new();
    let long = "x".repeat(5_000);
    rig.file("a.txt", format!("one\n{long}\nthree\n"));
    rig.read(&json!({ "path": "a.txt" }));
    let (ledger, path) = (rig.ledger(), LogicalPath::new("a.txt"));
    assert!(ledger.covers(&path, &lines("one")) && ledger.covers(&path, &lines("three")));
    assert!(!ledger.covers(&path, &lines(&long)));
    assert!(!ledger.covers_all(&path, &lines(&format!("one\n{long}\nthree"))));
}

#[test]
fn a_file_read_in_pieces_is_seen_as_a_whole() {
    let rig = Rig::new();
    let text: String =
        (1..=30).fold(String::new(), |text, number| text + &format!("line {number}\n"));
    rig.file("a.txt", &text);
    rig.read(&json!({ "path": "a.txt", "limit": 20 }));
    assert!(!rig.ledger().covers_all(&LogicalPath::new("a.txt"), &lines(&text)));
    rig.read(&json!({ "path": "a.txt", "offset": 21 }));
    assert!(rig.ledger().covers_all(&LogicalPath::new("a.txt"), &lines(&text)));
}

#[test]
fn a_read_that_failed_shows_nothing() {
    let rig = Rig::new();
    rig.file("a.txt", "one\n");
    rig.read(&json!({ "path": "a.txt", "offset": 9 }));
    assert!(!rig.ledger().knows(&LogicalPath::new("a.txt")));
}
