//! A directory that is swapped for a link to the outside while everything is being used.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use haft_workspace::{ListOptions, WalkOptions};
use rustix::fs::{CWD, FileType, Mode, RenameFlags, mknodat, renameat_with};

use crate::hand::Hands;
use crate::rig::{CANARY, Rig, contents};

/// How long to try: `HAFT_RACE_SECONDS`, or a time that fits a quick run.
fn duration() -> Duration {
    let seconds = std::env::var("HAFT_RACE_SECONDS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs(seconds.unwrap_or(2))
}

/// Tells whether to go on: for the time there is, and on a busy machine until enough was done.
fn goes_on(began: Instant, is_enough: bool) -> bool {
    const PATIENCE: Duration = Duration::from_secs(90);
    began.elapsed() < duration() || (!is_enough && began.elapsed() < duration().max(PATIENCE))
}

/// Tells whether each way was gone often, and all together a thousand times.
fn is_enough(succeeded: &[u64]) -> bool {
    succeeded.iter().sum::<u64>() >= 1000 && succeeded.iter().all(|number| *number > 10)
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
        let began = Instant::now();
        while goes_on(began, is_enough(&succeeded) && swaps.load(Ordering::Relaxed) > 1000) {
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
    assert!(is_enough(&succeeded), "{succeeded:?}");
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
        let began = Instant::now();
        while goes_on(began, is_enough(&succeeded)) {
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
    assert!(is_enough(&succeeded), "{succeeded:?}");
}

#[test]
fn nothing_outside_is_ever_changed_while_directories_are_swapped_for_links() {
    let hands = Hands::in_memory();
    let rig = &hands.rig;
    rig.file("d/f", "start").file("d/g", "start").link("swapped", rig.out(""));
    for name in ["f", "g", "new", "made", "there"] {
        fs::write(rig.out(name), CANARY).unwrap();
    }
    let outside = || {
        let mut names: Vec<_> =
            fs::read_dir(rig.out("")).unwrap().map(|it| it.unwrap().file_name()).collect();
        names.sort();
        for name in ["f", "g", "new", "made", "there", "secret.txt"] {
            assert_eq!(fs::read_to_string(rig.out(name)).unwrap(), CANARY, "{name}");
        }
        names
    };
    let names = outside();
    let is_long = duration() >= Duration::from_secs(10);
    let is_enough = |succeeded: &[u64]| {
        let least = if is_long { 50 } else { 0 };
        succeeded.iter().all(|number| *number > least)
            && (!is_long || succeeded.iter().sum::<u64>() >= 1000)
    };
    let is_over = AtomicBool::new(false);
    let (d, swapped) = (rig.ws("d"), rig.ws("swapped"));
    let mut succeeded = [0_u64; 6];
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                renameat_with(CWD, &d, CWD, &swapped, RenameFlags::EXCHANGE).unwrap();
                // A place that is always a link would leave nothing to be found out.
                thread::yield_now();
            }
        });
        let began = Instant::now();
        let mut round = 0;
        while goes_on(began, is_enough(&succeeded)) {
            round += 1;
            let acts = [
                hands.write("d/f", &format!("round {round}")),
                hands.create("d/new/deep/f", "x"),
                hands.mkdir("d/made/dir"),
                hands.rename("d/g", "d/there"),
                hands.rename("d/there", "d/g"),
                hands.remove("d/new/deep/f"),
            ];
            for (number, told) in acts.iter().enumerate() {
                let is_done = ["modified", "created", "moved", "deleted"];
                succeeded[number] += u64::from(is_done.iter().any(|word| told.starts_with(word)));
            }
            // What one round made would be in the way of the next.
            for path in ["d/new", "swapped/new", "d/made", "swapped/made"] {
                if fs::symlink_metadata(rig.ws(path)).is_ok_and(|it| it.is_dir()) {
                    let _ = fs::remove_dir_all(rig.ws(path));
                }
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert_eq!(outside(), names);
    assert!(is_enough(&succeeded), "{succeeded:?}");
}

#[test]
fn a_file_that_is_swapped_for_a_link_is_never_written_through() {
    let hands = Hands::in_memory();
    let rig = &hands.rig;
    rig.file("f", "start").link("f-link", rig.out("secret.txt"));
    let is_over = AtomicBool::new(false);
    let (f, link) = (rig.ws("f"), rig.ws("f-link"));
    let wanted = if duration() >= Duration::from_secs(10) { 1000 } else { 0 };
    let mut succeeded = 0_u64;
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                renameat_with(CWD, &f, CWD, &link, RenameFlags::EXCHANGE).unwrap();
            }
        });
        let began = Instant::now();
        let mut round = 0;
        while goes_on(began, succeeded > wanted) {
            round += 1;
            succeeded +=
                u64::from(hands.write("f", &format!("round {round}")).starts_with("modified"));
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert_eq!(fs::read_to_string(rig.out("secret.txt")).unwrap(), CANARY);
    assert!(succeeded > wanted, "{succeeded}");
}
