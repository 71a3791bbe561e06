//! A directory that is swapped for a link to the outside while every tool is at work.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
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

/// What is in a folder, path by path.
fn tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut tree = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            tree.extend(self::tree(&path));
            tree.insert(path, Vec::new());
        } else {
            let content = fs::read(&path).unwrap();
            tree.insert(path, content);
        }
    }
    tree
}

#[test]
fn the_editor_never_changes_the_outside_while_directories_are_swapped_for_links() {
    /// How often the editor has to succeed, and how long that may take on a slow machine.
    const SUCCESSES: u64 = 1_000;
    const PATIENCE: Duration = Duration::from_secs(90);
    let rig = Rig::editing();
    rig.file("d/edited", "one\n").file("d/written", "").dir("d/deep").link("swapped", rig.out(""));
    // What the editor would find there, if it came there.
    fs::write(rig.out("edited"), "one\n").unwrap();
    fs::write(rig.out("written"), CANARY).unwrap();
    let outside = tree(&rig.out(""));

    let is_over = AtomicBool::new(false);
    let (swaps, succeeded) = (AtomicU64::new(0), AtomicU64::new(0));
    let (d, swapped) = (rig.ws("d"), rig.ws("swapped"));
    // Each does and undoes something of its own.
    let works: [[(&str, Value); 2]; 4] = [
        [
            ("edit", json!({ "path": "d/edited", "old": "one", "new": "two" })),
            ("edit", json!({ "path": "d/edited", "old": "two", "new": "one" })),
        ],
        [
            ("write", json!({ "path": "d/made", "content": "made" })),
            ("delete", json!({ "path": "d/made" })),
        ],
        [("mkdir", json!({ "path": "d/deep/a/b" })), ("delete", json!({ "path": "d/deep/a/b" }))],
        [
            ("move", json!({ "path": "d/written", "to": "d/deep/moved" })),
            ("move", json!({ "path": "d/deep/moved", "to": "d/written" })),
        ],
    ];
    for path in ["d/edited", "d/written"] {
        rig.read(&json!({ "path": path }));
    }
    let began = Instant::now();
    let is_enough = || {
        let enough = succeeded.load(Ordering::Relaxed) >= SUCCESSES;
        (enough && began.elapsed() >= duration()) || began.elapsed() >= PATIENCE
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                renameat_with(CWD, &d, CWD, &swapped, RenameFlags::EXCHANGE).unwrap();
                swaps.fetch_add(1, Ordering::Relaxed);
            }
        });
        let workers = works.iter().map(|work| {
            let (rig, succeeded, is_enough) = (&rig, &succeeded, &is_enough);
            scope.spawn(move || {
                while !is_enough() {
                    for (action, args) in work {
                        let outcome = rig.call("editor", action, args);
                        succeeded.fetch_add(u64::from(outcome.is_ok()), Ordering::Relaxed);
                    }
                }
            })
        });
        for worker in workers.collect::<Vec<_>>() {
            worker.join().unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert_eq!(tree(&rig.out("")), outside);
    assert!(swaps.into_inner() > 1000);
    assert!(succeeded.into_inner() >= SUCCESSES);
}

#[test]
fn undo_never_changes_the_outside_while_directories_are_swapped_for_links() {
    /// How often it has to succeed, and how long that may take on a slow machine.
    const SUCCESSES: u64 = 1_000;
    const PATIENCE: Duration = Duration::from_secs(90);
    let rig = Rig::editing();
    rig.file("d/edited", "one\n").file("d/deleted", "one\n").file("d/moved", "one\n");
    rig.link("d/link", "edited").dir("d/deep").link("swapped", rig.out(""));
    // What undo would change there, if it came there: before and after what is taken back.
    for path in ["edited", "moved", "made", "deep/moved"] {
        fs::write(rig.out(path), if path == "edited" { "two\n" } else { "one\n" }).unwrap();
    }
    fs::create_dir_all(rig.out("deep/a/b")).unwrap();
    let outside = tree(&rig.out(""));

    let is_over = AtomicBool::new(false);
    let (swaps, succeeded) = (AtomicU64::new(0), AtomicU64::new(0));
    let (d, swapped) = (rig.ws("d"), rig.ws("swapped"));
    let works: [(&str, Value, Value); 6] = [
        ("edit", json!({ "path": "d/edited", "old": "one", "new": "two" }), json!(["d/edited"])),
        ("write", json!({ "path": "d/made", "content": "one\n" }), json!(["d/made"])),
        ("delete", json!({ "path": "d/deleted" }), json!(["d/deleted"])),
        ("delete", json!({ "path": "d/link" }), json!(["d/link"])),
        (
            "move",
            json!({ "path": "d/moved", "to": "d/deep/moved" }),
            json!(["d/moved", "d/deep/moved"]),
        ),
        ("mkdir", json!({ "path": "d/deep/a/b" }), json!(["d/deep/a", "d/deep/a/b"])),
    ];
    rig.read(&json!({ "path": "d/edited" }));
    let began = Instant::now();
    let is_enough = || {
        let enough = succeeded.load(Ordering::Relaxed) >= SUCCESSES;
        (enough && began.elapsed() >= duration()) || began.elapsed() >= PATIENCE
    };
    // Tells whether everything is as it was before the call that is taken back.
    let is_back = |outcome: &haft_protocol::Outcome| {
        let steps = outcome.structured.as_ref().and_then(|it| it["steps"].as_array());
        steps.is_some_and(|steps| steps.iter().all(|step| step["result"] != "stays"))
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                renameat_with(CWD, &d, CWD, &swapped, RenameFlags::EXCHANGE).unwrap();
                let swaps = swaps.fetch_add(1, Ordering::Relaxed);
                // Steps of every length fall between two swaps.
                (0..swaps % 64 * 500).for_each(|_| std::hint::spin_loop());
            }
        });
        let workers = works.iter().map(|(action, args, paths)| {
            let (rig, succeeded, is_enough) = (&rig, &succeeded, &is_enough);
            scope.spawn(move || {
                while !is_enough() {
                    let handle = rig.start("editor", action, args);
                    let call = handle.id().to_string();
                    if !rig.outcome(handle).is_ok() {
                        continue;
                    }
                    let undo = json!({ "call": call, "paths": paths });
                    while !is_enough() {
                        if is_back(&rig.undo(undo.clone())) {
                            succeeded.fetch_add(1, Ordering::Relaxed);
                            break;
                        }
                    }
                }
            })
        });
        for worker in workers.collect::<Vec<_>>() {
            worker.join().unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert_eq!(tree(&rig.out("")), outside);
    assert!(swaps.into_inner() > 1000);
    assert!(succeeded.into_inner() >= SUCCESSES);
}
