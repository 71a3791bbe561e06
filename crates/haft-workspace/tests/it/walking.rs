//! Bounds and endings of walks.

use std::fs;
use std::num::{NonZeroU64, NonZeroUsize};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use haft_workspace::{FileKind, Found, Globs, WalkEnd, WalkOptions};

use crate::rig::{Rig, contents};

fn many(rig: &Rig) {
    for directory in 0..20 {
        for file in 0..100 {
            rig.file(&format!("d{directory}/s/f{file}"), "x");
        }
    }
}

fn met(rig: &Rig, options: &WalkOptions) -> (u64, haft_workspace::WalkReport) {
    let number = AtomicU64::new(0);
    let report = rig
        .view()
        .walk(&rig.existing(".").unwrap(), options, &|| false, || {
            |_: &Found<'_>| {
                number.fetch_add(1, Ordering::Relaxed);
                ControlFlow::Continue(())
            }
        })
        .unwrap();
    (number.into_inner(), report)
}

#[test]
fn every_number_of_threads_meets_everything_once() {
    let rig = Rig::new();
    many(&rig);
    for threads in 1..=8 {
        let options = WalkOptions { threads: NonZeroUsize::new(threads), ..WalkOptions::default() };
        let (number, report) = met(&rig, &options);
        assert_eq!(number, 2040);
        assert_eq!(report.entries, 2040);
        assert_eq!(report.end, WalkEnd::Complete);
    }
}

#[test]
fn a_walk_stops_at_its_bounds_and_says_which() {
    let rig = Rig::new();
    many(&rig);
    let options = WalkOptions { entries: NonZeroU64::new(500), ..WalkOptions::default() };
    let (number, report) = met(&rig, &options);
    assert_eq!((report.end, report.entries), (WalkEnd::Entries, 500));
    assert_eq!(number, 500);

    let options = WalkOptions { entries: NonZeroU64::new(2040), ..WalkOptions::default() };
    assert_eq!(met(&rig, &options).1.end, WalkEnd::Complete);

    let options = WalkOptions { deadline: Some(Instant::now()), ..WalkOptions::default() };
    let (number, report) = met(&rig, &options);
    assert_eq!((number, report.end), (0, WalkEnd::Deadline));

    let options = WalkOptions { depth: NonZeroUsize::new(2), ..WalkOptions::default() };
    let (number, report) = met(&rig, &options);
    assert_eq!((number, report.end), (40, WalkEnd::Complete));
    assert_eq!(report.skipped.too_deep, 0);
}

#[test]
fn a_visitor_or_a_cancellation_ends_a_walk() {
    let rig = Rig::new();
    many(&rig);
    let place = rig.existing(".").unwrap();
    let number = AtomicU64::new(0);
    let visit = |_: &Found<'_>| {
        if number.fetch_add(1, Ordering::Relaxed) == 100 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let report = rig.view().walk(&place, &WalkOptions::default(), &|| false, || visit).unwrap();
    assert_eq!(report.end, WalkEnd::Satisfied);
    assert!(number.load(Ordering::Relaxed) < 200);

    let asked = AtomicU64::new(0);
    let is_called_off = || asked.fetch_add(1, Ordering::Relaxed) > 300;
    let ignore = |_: &Found<'_>| ControlFlow::Continue(());
    let report =
        rig.view().walk(&place, &WalkOptions::default(), &is_called_off, || ignore).unwrap();
    assert_eq!(report.end, WalkEnd::Cancelled);
    assert!(report.entries < 1000);
}

#[test]
fn a_panic_in_a_visitor_comes_out_and_leaves_no_thread_waiting() {
    let rig = Rig::new();
    many(&rig);
    let place = rig.existing(".").unwrap();
    let view = rig.view();
    let walked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let visit = |found: &Found<'_>| -> ControlFlow<()> {
            assert!(found.kind() == FileKind::Directory, "a file");
            ControlFlow::Continue(())
        };
        view.walk(&place, &WalkOptions::default(), &|| false, || visit)
    }));
    assert!(walked.is_err());
}

#[test]
fn links_are_met_and_not_followed() {
    let rig = Rig::new();
    rig.file("a/x.txt", "text").link("a/loop", "..").link("farm", "a").link("out", rig.out(""));
    rig.link("file", "a/x.txt").link("dangling", "gone");
    let (met, _) = rig.walk(".", &WalkOptions::default());
    assert_eq!(met, ["a/", "a/loop", "a/x.txt", "dangling", "farm", "file", "out"]);
    let (texts, _) = contents(&rig.view(), &rig.existing(".").unwrap(), &WalkOptions::default());
    assert_eq!(texts, ["a/x.txt: text"]);
    // A link that is named leads to where it leads.
    assert_eq!(rig.walk("farm", &WalkOptions::default()).0, ["loop", "x.txt"]);
}

#[test]
fn patterns_choose_by_name_or_by_path() {
    let rig = Rig::new();
    for path in ["a.rs", "src/b.rs", "src/c.md", "target/d.rs", "src/deep/e.rs"] {
        rig.file(path, "");
    }
    let check = |only: &[&str], without: &[&str], expect: &[&str]| {
        let options = WalkOptions {
            only: Some(Globs::new(only).unwrap()),
            without: Some(Globs::new(without).unwrap()),
            ..WalkOptions::default()
        };
        assert_eq!(rig.walk(".", &options).0, expect, "{only:?} without {without:?}");
    };
    check(&["*.rs"], &[], &["a.rs", "src/b.rs", "src/deep/e.rs", "target/d.rs"]);
    check(&["*.rs"], &["target"], &["a.rs", "src/b.rs", "src/deep/e.rs"]);
    check(&["/*.rs"], &[], &["a.rs"]);
    check(&["deep/"], &[], &["src/deep/"]);
    check(&["src/*.rs"], &[], &["src/b.rs"]);
    check(&["src/**/*.rs"], &[], &["src/b.rs", "src/deep/e.rs"]);
    check(&["*.rs", "*.md"], &["src/deep/**", "/a.rs"], &["src/b.rs", "src/c.md", "target/d.rs"]);
    check(&["a.rs"], &["a.rs"], &[]);
    let (met, _) = rig.walk(
        "src",
        &WalkOptions { only: Some(Globs::new(&["deep/*.rs"]).unwrap()), ..WalkOptions::default() },
    );
    assert_eq!(met, ["deep/e.rs"]);
}

#[test]
fn deep_trees_end_at_the_limit_and_say_so() {
    let rig = Rig::new();
    let levels = haft_protocol::limits::WALK_DEPTH + 20;
    // No path of the system is as long as this tree is deep: build it from the inside.
    let mut inner = tempfile::tempdir_in(rig.folder.path()).unwrap().keep();
    for _ in 0..levels {
        let outer = tempfile::tempdir_in(rig.folder.path()).unwrap().keep();
        fs::rename(&inner, outer.join("a-name-that-is-long-enough")).unwrap();
        inner = outer;
    }
    fs::rename(&inner, rig.ws("deep")).unwrap();
    let (number, report) = met(&rig, &WalkOptions::default());
    assert_eq!(number as usize, haft_protocol::limits::WALK_DEPTH);
    assert_eq!(report.skipped.too_deep, 1);
    assert_eq!(report.end, WalkEnd::Complete);
}

#[test]
fn an_entry_can_be_looked_at_and_opened() {
    let rig = Rig::new();
    rig.file("a.txt", "twelve bytes");
    let ignore = |found: &Found<'_>| {
        let metadata = found.metadata().unwrap();
        assert_eq!((metadata.len, metadata.kind), (12, FileKind::File));
        assert_eq!(found.open().unwrap().metadata(), &metadata);
        assert_eq!(found.name(), "a.txt");
        assert!(
            Instant::now().duration_since(Instant::now()) < Duration::from_secs(1)
                && !found.is_over()
        );
        ControlFlow::Continue(())
    };
    rig.view()
        .walk(&rig.existing(".").unwrap(), &WalkOptions::default(), &|| false, || ignore)
        .unwrap();
}
