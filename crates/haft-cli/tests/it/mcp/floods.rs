//! Much of everything.

use std::io::Write as _;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::wire::{Wire, hello, reading, request};
use crate::rig::Rig;

/// Kibibytes that a server may grow by, whatever its client does.
const SOME: u64 = 96 * 1024;

#[test]
fn a_flood_of_notifications_costs_nothing_that_lasts() {
    let rig = Rig::new();
    let mut wire = Wire::greeted(&rig, &[]);
    wire.ask("tools/list", &json!({}));
    let before = wire.memory();
    for method in [
        "notifications/initialized",
        "notifications/roots/list_changed",
        "notifications/cancelled",
        "notifications/progress",
        "no/such",
    ] {
        let params = json!({ "requestId": 5, "progressToken": 5, "progress": 1 });
        let line = json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string();
        let lines = format!("{line}\n").repeat(1_000);
        for _ in 0..20 {
            wire.write(&lines);
        }
    }
    let unasked = wire.unasked();
    assert!(unasked.is_empty(), "{} things were said", unasked.len());
    let after = wire.memory();
    assert!(after < before + SOME / 4, "{before} KiB, then {after}");
    assert_eq!(wire.left().code, Some(0));
}

#[test]
fn a_flood_of_garbage_is_answered_and_costs_nothing_that_lasts() {
    let rig = Rig::new();
    let mut wire = Wire::greeted(&rig, &[]);
    let before = wire.memory();
    let mut input = wire.take_input();
    let writer = thread::spawn(move || {
        for _ in 0..100 {
            input.write_all("garbage\n".repeat(1_000).as_bytes()).unwrap();
        }
        input
    });
    for _ in 0..100_000 {
        assert_eq!(wire.hear()["error"]["code"], -32700);
    }
    drop(writer.join().unwrap());
    assert!(wire.memory() < before + SOME / 4, "{before} KiB, then {}", wire.memory());
    assert_eq!(wire.ended().code, Some(0));
}

#[test]
fn of_a_thousand_calls_at_once_each_is_answered() {
    let rig = Rig::new();
    rig.file("a.txt", "text\n");
    let mut wire = Wire::greeted(&rig, &[]);
    let mut input = wire.take_input();
    let writer = thread::spawn(move || {
        for id in 0..1_000 {
            let line = request(id, "tools/call", &reading("a.txt"));
            input.write_all(format!("{line}\n").as_bytes()).unwrap();
        }
        input
    });
    let mut ran = 0;
    for id in 0..1_000 {
        let answer = wire.answer(&json!(id));
        let text = answer["result"]["content"][0]["text"].as_str().unwrap().to_owned();
        if answer["result"]["isError"] == true {
            assert!(text.contains("are under way, and no more are taken"), "{text}");
        } else {
            assert!(text.contains("text"), "{text}");
            ran += 1;
        }
    }
    assert!(ran >= 256, "{ran} ran");
    drop(writer.join().unwrap());
    assert_eq!(wire.ended().code, Some(0));
}

#[test]
fn more_calls_than_there_is_room_for_are_refused_in_words() {
    let rig = Rig::new();
    let mut wire = Wire::greeted(&rig, &["--preset", "full"]);
    let sleep = json!({ "name": "bash", "arguments": { "command": "sleep 300.70707" } });
    for id in 0..300 {
        wire.send(id, "tools/call", &sleep);
    }
    for _ in 256..300 {
        let answer = wire.hear();
        assert!(answer["id"].as_i64().unwrap() < 300, "{answer}");
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("256 calls of this client are under way"), "{text}");
    }
    assert_eq!(wire.ask("ping", &json!({}))["result"], json!({}));
    let ended = wire.left();
    assert_eq!(ended.code, Some(0));
    assert!(ended.after < Duration::from_secs(10), "{:?}", ended.after);
    assert!(!super::wire::runs("300.70707"), "a child outlived its server");
}

#[test]
fn a_client_that_reads_nothing_costs_a_bounded_amount_of_memory() {
    let rig = Rig::new();
    let mut wire = Wire::start_unread(&rig, &[]);
    wire.line(request(0, "initialize", &hello("lines")));
    let mut input = wire.take_input();
    let (says, hears) = std::sync::mpsc::channel();
    let writer = thread::spawn(move || {
        for id in 1..=20_000 {
            let line = request(id, "no/such", &json!({}));
            if input.write_all(format!("{line}\n").as_bytes()).is_err() {
                break;
            }
            says.send(id).unwrap();
        }
        input
    });
    // Nothing more is taken once enough is unread.
    let mut last = 0;
    while let Ok(id) = hears.recv_timeout(Duration::from_secs(5)) {
        last = id;
    }
    assert!(last < 20_000, "everything was taken");
    assert!(wire.memory() < 2 * SOME, "{} KiB", wire.memory());
    // Once it reads, all of it comes.
    wire.read_on();
    for _ in 0..=20_000 {
        wire.hear();
    }
    drop(writer.join().unwrap());
    assert_eq!(wire.ended().code, Some(0));
}

#[test]
fn large_answers_that_nobody_reads_do_not_pile_up() {
    let rig = Rig::new();
    let mut wire = Wire::greeted(&rig, &["--preset", "full"]);
    let made = wire.call("bash", &json!({ "command": "head -c 9000000 /dev/zero | tr '\\0' y" }));
    let is_link = |it: &&Value| it["type"] == "resource_link";
    let link = made["content"].as_array().unwrap().iter().find(is_link).unwrap()["uri"].clone();
    let ended = wire.left();
    assert_eq!((ended.code, ended.rest.len()), (Some(0), 0));

    let mut wire = Wire::start_unread(&rig, &[]);
    wire.line(request(0, "initialize", &hello("lines")));
    for id in 1..=100 {
        wire.send(id, "resources/read", &json!({ "uri": link }));
    }
    let mut most = 0;
    let mut steady = 0;
    // It has come to rest when nothing more was made for a while.
    while steady < 300 {
        let memory = wire.memory();
        steady = if memory > most { 0 } else { steady + 1 };
        most = most.max(memory);
        thread::park_timeout(Duration::from_millis(10));
    }
    assert!(most < 400 * 1024, "{most} KiB");
    let ended = wire.left();
    assert_eq!(ended.code, Some(0));
    assert!(ended.after < Duration::from_secs(4), "{:?}", ended.after);
}

#[test]
fn streams_of_notifications_are_bounded() {
    let rig = Rig::new();
    let mut wire = Wire::start(&rig, &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "_meta": meta, "notifications": { "toolsListChanged": true } });
    for id in 0..100 {
        wire.send(id, "subscriptions/listen", &params);
    }
    let list = wire.ask("tools/list", &json!({ "_meta": meta }));
    assert_eq!(list["result"]["resultType"], "complete");
    let mut refused = 0;
    let mut acknowledged = 0;
    while acknowledged < 100 || refused < 84 {
        let message: Value = wire.hear_kept();
        if message["method"] == "notifications/subscriptions/acknowledged" {
            acknowledged += 1;
        } else {
            let text = message["error"]["message"].as_str().unwrap();
            assert!(text.contains("16 subscriptions"), "{message}");
            refused += 1;
        }
    }
    assert_eq!(wire.left().code, Some(0));
}
