//! A directory that is swapped for a link to the outside while everything is being used.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use haft_workspace::{ListOptions, WalkOptions};
use rustix::fs::{CWD, FileType, Mode, RenameFlags, mknodat, renameat_with};

use crate::rig::{CANARY, Rig, contents};

/// How long to try: `HAFT_RACE_SECONDS`, or a time that fits a quick run.
fn duration() -> Duration {
    let seconds = std::env::var("HAFT_RACE_SECONDS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs(seconds.unwrap_or(2))
}

#[test]
fn nothing_outside_is_ever_seen_while_directories_are_swapped_for_links() {
    let rig = Rig::new();
    rig.file("d/secret.txt", "inside").file("d/deep/secret.txt", "inside");
    rig.link("swapped", rig.out(""));
    // Names that exist outside only: to see one is to have been outside.
    fs::write(rig.out("only-outside"), CANARY).unwrap();
    fs::write(rig.out("deep/only-outside"), CANARY).unwrap();

    let is_over = AtomicBool::new(false);
    let swaps = AtomicU64::new(0);
    let (d, swapped) = (rig.ws("d"), rig.ws("swapped"));
    let mut succeeded = [0_u64; 5];
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                renameat_with(CWD, &d, CWD, &swapped, RenameFlags::EXCHANGE).unwrap();
                swaps.fetch_add(1, Ordering::Relaxed);
            }
        });
        let root = rig.existing(".").unwrap();
        let until = Instant::now() + duration();
        while Instant::now() < until {
            for path in ["d/secret.txt", "d/deep/secret.txt"] {
                if let Ok(text) = rig.read(path) {
                    assert_eq!(text, "inside");
                    succeeded[0] += 1;
                }
            }
            assert!(rig.existing("d/only-outside").is_err());
            if let Ok(place) = rig.existing("d")
                && let Ok(listing) =
                    rig.view().list(&place, &ListOptions::tree(), &|| false, |_| true)
            {
                assert!(listing.entries.iter().all(|it| !it.path.as_str().contains("only")));
                succeeded[1] += u64::from(!listing.entries.is_empty());
            }
            let (texts, _) = contents(&rig.view(), &root, &WalkOptions::default());
            assert!(texts.iter().all(|text| text.ends_with("inside")), "{texts:?}");
            succeeded[2] += u64::from(!texts.is_empty());
            let (names, _) = rig.walk(".", &WalkOptions::default());
            assert!(names.iter().all(|name| !name.contains("only")), "{names:?}");
            succeeded[3] += u64::from(names.iter().any(|name| name.ends_with("secret.txt")));
            if let Ok(place) = rig.any("d/new/file") {
                assert!(place.logical().as_str().ends_with("d/new/file"));
                succeeded[4] += 1;
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert!(swaps.into_inner() > 1000);
    assert!(succeeded.iter().sum::<u64>() >= 1000, "{succeeded:?}");
    assert!(succeeded.iter().all(|number| *number > 10), "{succeeded:?}");
}

#[test]
fn a_file_that_is_swapped_for_a_link_or_a_pipe_is_read_or_refused() {
    let rig = Rig::new();
    rig.file("f", "inside").file("g", "inside").link("f-link", rig.out("secret.txt"));
    mknodat(CWD, rig.ws("g-pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let is_over = AtomicBool::new(false);
    let mut succeeded = [0_u64; 3];
    thread::scope(|scope| {
        scope.spawn(|| {
            let pairs = [(rig.ws("f"), rig.ws("f-link")), (rig.ws("g"), rig.ws("g-pipe"))];
            while !is_over.load(Ordering::Relaxed) {
                for (one, two) in &pairs {
                    renameat_with(CWD, one, CWD, two, RenameFlags::EXCHANGE).unwrap();
                }
            }
        });
        let root = rig.existing(".").unwrap();
        let until = Instant::now() + duration();
        while Instant::now() < until {
            for (number, path) in ["f", "g"].iter().enumerate() {
                if let Ok(text) = rig.read(path) {
                    assert_eq!(text, "inside");
                    succeeded[number] += 1;
                }
            }
            let (texts, _) = contents(&rig.view(), &root, &WalkOptions::default());
            assert!(texts.iter().all(|text| text.ends_with("inside")), "{texts:?}");
            succeeded[2] += texts.len() as u64;
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert!(succeeded.iter().sum::<u64>() >= 1000, "{succeeded:?}");
    assert!(succeeded.iter().all(|number| *number > 10), "{succeeded:?}");
}
