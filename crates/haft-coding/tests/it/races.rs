//! A directory that is swapped for a link to the outside while every tool is at work.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};

use crate::rig::{CANARY, Rig};

/// How long to try: `HAFT_RACE_SECONDS`, or a time that fits a quick run.
fn duration() -> Duration {
    let seconds = std::env::var("HAFT_RACE_SECONDS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs(seconds.unwrap_or(4))
}

#[test]
fn no_tool_ever_sees_the_outside_while_directories_are_swapped_for_links() {
    let rig = Rig::new();
    rig.file("d/secret.txt", "inside\n").file("d/deep/secret.txt", "inside\n");
    rig.link("swapped", rig.out(""));
    // A name that exists outside only: to see it is to have been outside.
    fs::write(rig.out("only-outside"), CANARY).unwrap();
    fs::write(rig.out("deep/only-outside"), CANARY).unwrap();

    let is_over = AtomicBool::new(false);
    let (swaps, succeeded) = (AtomicU64::new(0), [const { AtomicU64::new(0) }; 4]);
    let (d, swapped) = (rig.ws("d"), rig.ws("swapped"));
    let tools: [(&str, &str, Vec<Value>); 4] = [
        (
            "reader",
            "read",
            vec![json!({ "path": "d/secret.txt" }), json!({ "path": "d/deep/secret.txt" })],
        ),
        (
            "reader",
            "list_dir",
            vec![json!({ "recursive": true }), json!({ "path": "d", "recursive": true })],
        ),
        ("search", "grep", vec![json!({ "pattern": "." }), json!({ "pattern": ".", "path": "d" })]),
        ("search", "find", vec![json!({}), json!({ "path": "d/deep" })]),
    ];
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                renameat_with(CWD, &d, CWD, &swapped, RenameFlags::EXCHANGE).unwrap();
                swaps.fetch_add(1, Ordering::Relaxed);
            }
        });
        let until = Instant::now() + duration();
        let users = tools.iter().zip(&succeeded).map(|((tool, action, args), succeeded)| {
            let rig = &rig;
            scope.spawn(move || {
                while Instant::now() < until {
                    for args in args {
                        let outcome = rig.call(tool, action, args);
                        let seen = format!("{outcome:?}");
                        assert!(!seen.contains(CANARY) && !seen.contains("only-outside"), "{seen}");
                        succeeded.fetch_add(u64::from(outcome.is_ok()), Ordering::Relaxed);
                    }
                }
            })
        });
        for user in users.collect::<Vec<_>>() {
            user.join().unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let succeeded: Vec<u64> = succeeded.iter().map(|it| it.load(Ordering::Relaxed)).collect();
    assert!(swaps.into_inner() > 1000);
    assert!(succeeded.iter().sum::<u64>() >= 1000, "{succeeded:?}");
    assert!(succeeded.iter().all(|number| *number > 50), "{succeeded:?}");
}
