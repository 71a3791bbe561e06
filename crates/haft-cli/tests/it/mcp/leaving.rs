//! How connections end.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::wire::{Wire, hello, reading, request, runs};
use crate::rig::Rig;

const TWO_SECONDS: Duration = Duration::from_secs(2);

#[test]
fn what_was_asked_before_the_end_is_answered_before_the_end() {
    let rig = Rig::new();
    rig.file("a.txt", "text\n");
    let mut wire = Wire::start(&rig, &[]);
    wire.line(request(1, "initialize", &hello("lines")));
    wire.line("garbage");
    wire.line(request(2, "tools/list", &json!({})));
    wire.line(request(3, "tools/call", &reading("a.txt")));
    let ended = wire.left();
    assert_eq!(ended.code, Some(0));
    let mut ids: Vec<_> = ended.rest.iter().filter_map(|it| it["id"].as_i64()).collect();
    ids.sort_unstable();
    assert_eq!((ids, ended.rest.len()), (vec![1, 2, 3], 4));
}

#[test]
fn a_client_that_goes_without_reading_holds_nobody() {
    let rig = Rig::new();
    let mut wire = Wire::start_unread(&rig, &["--preset", "full"]);
    wire.line(request(0, "initialize", &hello("lines")));
    wire.begin_sleep(1, "300.70708");
    for id in 2..40 {
        wire.send(id, "tools/list", &json!({}));
    }
    let ended = wire.left();
    assert_eq!(ended.code, Some(0));
    assert!(ended.after < TWO_SECONDS, "{:?}", ended.after);
    assert!(!runs("300.70708"), "a child outlived its server");
}

#[test]
fn a_server_that_is_told_to_stop_does_so_with_everything_it_started() {
    let rig = Rig::new();
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let mut wire = Wire::greeted(&rig, &["--preset", "full"]);
        wire.begin_sleep(1, "300.70709");
        let pid = Pid::from_raw(i32::try_from(wire.pid()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
        let ended = wire.ended();
        assert!(ended.after < TWO_SECONDS, "{:?}", ended.after);
        assert!(!runs("300.70709"), "a child outlived its server");
    }
}

#[test]
fn a_server_that_is_killed_leaves_nothing_that_the_next_one_trips_over() {
    let rig = Rig::new();
    rig.file("a.txt", "before\n");
    let mut wire = Wire::greeted(&rig, &["--preset", "full"]);
    wire.begin_sleep(1, "300.70710");
    let arguments = json!({ "action": "write", "path": "b.txt", "content": "x".repeat(4 << 20) });
    wire.send(2, "tools/call", &json!({ "name": "editor", "arguments": arguments }));
    wire.kill();
    super::wire::eventually(|| !runs("300.70710"));
    let names: Vec<_> =
        std::fs::read_dir(rig.ws("")).unwrap().map(|it| it.unwrap().file_name()).collect();
    for name in &names {
        let size = std::fs::metadata(rig.ws(name.to_str().unwrap())).unwrap().len();
        let is_whole =
            matches!((name.to_str().unwrap(), size), ("a.txt", 7) | ("b.txt", 4_194_304));
        assert!(is_whole || name.to_str().unwrap().starts_with('.'), "{name:?} has {size} bytes");
    }

    let mut wire = Wire::greeted(&rig, &["--preset", "full"]);
    let read = wire.ask("tools/call", &reading("a.txt"));
    assert!(read["result"]["content"][0]["text"].as_str().unwrap().contains("before"));
    let written = json!({ "action": "write", "path": "c.txt", "content": "after\n" });
    assert_ne!(wire.call("editor", &written)["isError"], true);
    assert_eq!(
        wire.call("bash", &json!({ "command": "cat c.txt" }))["structuredContent"]["stdout"]["text"],
        "after\n"
    );
    assert_eq!(wire.left().code, Some(0));
}

#[test]
fn several_clients_share_a_workspace() {
    let rig = Rig::new();
    rig.file("a.txt", "one\n");
    let mut first = Wire::greeted(&rig, &[]);
    let mut second = Wire::greeted(&rig, &[]);
    for wire in [&mut first, &mut second] {
        wire.send(1, "tools/call", &reading("a.txt"));
        wire.answer(&json!(1));
    }
    let edit = |from: &str, to: &str| json!({ "action": "edit", "path": "a.txt", "edits": [{ "old": from, "new": to }] });
    let edited = first.call("editor", &edit("one", "two"));
    assert_ne!(edited["isError"], true, "{edited}");
    // What the other changed has not been seen by this one.
    let refused = second.call("editor", &edit("two", "three"));
    assert_eq!(refused["isError"], true, "{refused}");
    second.send(2, "tools/call", &reading("a.txt"));
    second.answer(&json!(2));
    let edited = second.call("editor", &edit("two", "three"));
    assert_ne!(edited["isError"], true, "{edited}");
    assert_eq!(std::fs::read_to_string(rig.ws("a.txt")).unwrap(), "three\n");
}
