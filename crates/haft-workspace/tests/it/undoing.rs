//! Taking changes back.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use haft_tool::ports::Effects as _;

use crate::hand::Hands;

#[test]
fn each_kind_of_change_is_taken_back() {
    let hands = Hands::new();
    hands.rig.file("a", "one").file("d/x", "deep").link("l", "a");
    fs::set_permissions(hands.rig.ws("a"), fs::Permissions::from_mode(0o751)).unwrap();
    hands.write("a", "two");
    assert_eq!(hands.undo_latest(), "a: put back");
    assert_eq!(hands.text("a"), "one");
    assert_eq!(fs::metadata(hands.rig.ws("a")).unwrap().mode() & 0o777, 0o751);

    hands.create("n/m/f", "new");
    assert_eq!(hands.undo_latest(), "n/m/f: removed\nn/m: removed\nn: removed");
    assert!(!hands.rig.ws("n").exists());

    hands.remove("a");
    assert_eq!(hands.undo_latest(), "a: put back");
    assert_eq!(hands.text("a"), "one");
    assert_eq!(fs::metadata(hands.rig.ws("a")).unwrap().mode() & 0o777, 0o751);

    hands.remove("l");
    assert_eq!(hands.undo_latest(), "l: put back");
    assert_eq!(fs::read_link(hands.rig.ws("l")).unwrap().to_str(), Some("a"));

    hands.rename("d", "e/d");
    assert_eq!(hands.undo_latest(), "e/d: moved back to d\ne: removed");
    assert_eq!(hands.text("d/x"), "deep");

    hands.rig.file("b", "other");
    hands.rename_onto("a", "b");
    assert_eq!(hands.undo_latest(), "b: moved back to a\nb: put back");
    assert_eq!((hands.text("a"), hands.text("b")), ("one".to_owned(), "other".to_owned()));

    hands.rig.dir("empty");
    hands.remove("empty");
    assert_eq!(hands.undo_latest(), "empty: put back");
    assert!(hands.rig.ws("empty").is_dir());
}

#[test]
fn taking_back_is_a_change_that_can_be_taken_back() {
    let hands = Hands::new();
    hands.rig.file("a", "one");
    hands.write("a", "two");
    let write = hands.latest();
    hands.undo_latest();
    assert_eq!(hands.text("a"), "one");
    assert_eq!(hands.undo(write), "a: as before");
    assert_eq!(hands.undo_latest(), "a: put back");
    assert_eq!(hands.text("a"), "two");
    hands.undo_latest();
    assert_eq!(hands.text("a"), "one");
}

#[test]
fn what_a_person_changed_since_stays_or_is_kept_beside_it() {
    let hands = Hands::new();
    let lines = |middle: &str, last: &str| format!("first\n{middle}\nthird\nfourth\n{last}\n");
    hands.rig.file("a", &lines("second", "fifth"));
    hands.write("a", &lines("SECOND", "fifth"));
    let write = hands.latest();
    fs::write(hands.rig.ws("a"), lines("SECOND", "theirs")).unwrap();
    assert_eq!(hands.undo(write), "a: taken out");
    assert_eq!(hands.text("a"), lines("second", "theirs"));

    hands.write("a", &lines("2", "theirs"));
    let write = hands.latest();
    fs::write(hands.rig.ws("a"), lines("zwei", "theirs")).unwrap();
    assert_eq!(
        hands.undo(write),
        "a: stays: it was changed since in the same lines, the first of them line 2"
    );
    assert_eq!(hands.text("a"), lines("zwei", "theirs"));
}

#[test]
fn a_conflict_is_never_overwritten() {
    let hands = Hands::new();
    hands.rig.file("a", "one").file("bin", "a\0b").file("gone", "text");
    hands.create("new", "mine");
    let create = hands.latest();
    fs::write(hands.rig.ws("new"), "theirs").unwrap();
    assert_eq!(hands.undo(create), "new: stays: it was changed since");
    assert_eq!(hands.text("new"), "theirs");

    hands.remove("a");
    let remove = hands.latest();
    fs::write(hands.rig.ws("a"), "theirs").unwrap();
    assert_eq!(hands.undo(remove), "a: stays: something stands there again");

    hands.write("bin", "a\0c");
    let write = hands.latest();
    fs::write(hands.rig.ws("bin"), "d\0c").unwrap();
    assert_eq!(
        hands.undo(write),
        "bin: stays: it was changed since in a way that cannot be told apart"
    );

    hands.write("gone", "changed");
    let write = hands.latest();
    fs::remove_file(hands.rig.ws("gone")).unwrap();
    assert_eq!(hands.undo(write), "gone: stays: it is gone");

    hands.create("d/mine", "x");
    let create = hands.latest();
    fs::write(hands.rig.ws("d/theirs"), "y").unwrap();
    assert_eq!(
        hands.undo(create),
        "d/mine: removed\nd: stays: it is not empty: 1 thing in it stays"
    );
    assert_eq!(hands.text("d/theirs"), "y");
}

#[test]
fn o_019_only_what_the_call_changed_is_touched() {
    let hands = Hands::new();
    hands
        .rig
        .file("a.rs", "one")
        .file("out/big", "untracked")
        .file(".env", "S=1")
        .file("user.rs", "theirs");
    hands.write("a.rs", "two");
    let write = hands.latest();
    fs::write(hands.rig.ws("user.rs"), "changed by hand").unwrap();
    let facts = |path: &str| {
        let facts = fs::metadata(hands.rig.ws(path)).unwrap();
        (facts.ino(), facts.mtime_nsec(), facts.ctime_nsec(), fs::read(hands.rig.ws(path)).unwrap())
    };
    let others = ["out/big", ".env", "user.rs"];
    let before: Vec<_> = others.iter().map(|path| facts(path)).collect();
    assert_eq!(hands.undo(write), "a.rs: put back");
    assert_eq!(others.iter().map(|path| facts(path)).collect::<Vec<_>>(), before);
    assert_eq!(hands.text("a.rs"), "one");
}

#[test]
fn what_is_no_longer_kept_says_so() {
    let hands = Hands::new();
    hands.rig.file("a", "one").file("b", "12345");
    hands.write("a", "two");
    hands.effects.forget(haft_protocol::Digest::of_bytes("one"));
    assert_eq!(
        hands.undo_latest(),
        "a: stays: it cannot be brought back: what it held is no longer kept"
    );
    hands.effects.keep_at_most(4);
    hands.write("b", "1");
    assert_eq!(
        hands.undo_latest(),
        "b: stays: it cannot be brought back: its 5 bytes are more than is kept"
    );
    assert_eq!((hands.text("a"), hands.text("b")), ("two".to_owned(), "1".to_owned()));
}

#[test]
fn only_named_paths_are_taken_back() {
    let hands = Hands::new();
    hands.create("d/f", "x");
    let told = hands.undo_at(hands.latest(), &["d/f".to_owned()]);
    assert_eq!(told, "d/f: removed\nd: stays: it was not named among the paths to be taken back");
    assert!(hands.rig.ws("d").is_dir());
}

#[test]
fn a_mode_that_changed_since_stays() {
    let hands = Hands::new();
    hands.rig.file("a", "one");
    hands.write("a", "two");
    let write = hands.latest();
    fs::set_permissions(hands.rig.ws("a"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(hands.undo(write), "a: taken out");
    assert_eq!(hands.text("a"), "one");
    assert_eq!(fs::metadata(hands.rig.ws("a")).unwrap().mode() & 0o777, 0o755);
}

#[test]
fn a_file_under_a_name_that_nothing_new_is_given_comes_back() {
    let hands = Hands::new();
    hands.rig.file("nul", "old").file("aux.c", "code");
    hands.remove("nul");
    assert_eq!(hands.undo_latest(), "nul: put back");
    hands.rename("aux.c", "fine.c");
    assert_eq!(hands.undo_latest(), "fine.c: moved back to aux.c");
    assert!(hands.effects.cut_short().unwrap().is_empty());
}

#[test]
fn a_file_that_became_a_link_to_somewhere_is_left_alone() {
    let hands = Hands::new();
    hands.rig.file("a", "one").file("b", "theirs");
    hands.write("a", "two");
    let write = hands.latest();
    fs::remove_file(hands.rig.ws("a")).unwrap();
    hands.rig.link("a", "b");
    assert_eq!(hands.undo(write), "a: stays: something else stands there now");
    fs::remove_file(hands.rig.ws("a")).unwrap();
    hands.rig.link("a", hands.rig.out("secret.txt"));
    assert_eq!(hands.undo(write), "a: stays: something else stands there now");
    assert_eq!(fs::read_to_string(hands.rig.out("secret.txt")).unwrap(), crate::rig::CANARY);
    assert_eq!(hands.text("b"), "theirs");
}

#[test]
fn another_directory_in_the_place_of_one_that_was_moved_stays() {
    let hands = Hands::new();
    hands.rig.file("d/x", "deep");
    hands.rename("d", "e");
    let moved = hands.latest();
    let born = |path: &str| fs::metadata(hands.rig.ws(path)).unwrap().created().ok();
    let Some(old) = born("e") else { return };
    let later = old + std::time::Duration::from_secs(1);
    fs::remove_dir_all(hands.rig.ws("e")).unwrap();
    // Until the clock of the file system has moved on for sure.
    while !hands.rig.ws("e").exists() || born("e").unwrap() < later {
        let _ = fs::remove_dir_all(hands.rig.ws("e"));
        hands.rig.file("e/theirs", "y");
    }
    assert_eq!(hands.undo(moved), "e: stays: another directory stands there now");
    assert_eq!(hands.text("e/theirs"), "y");
}

#[test]
fn a_directory_that_was_made_again_is_known_for_the_one_it_stands_for() {
    let hands = Hands::new();
    let undo = |call| {
        hands.undo(call);
        hands.latest()
    };
    let born = |path: &str| fs::metadata(hands.rig.ws(path)).unwrap().created().ok();
    hands.mkdir("a");
    let made = hands.latest();
    let Some(old) = born("a") else { return };
    hands.rename("a", "b");
    let moved_back = undo(hands.latest());
    let later = old + std::time::Duration::from_millis(40);
    let mut gone = undo(made);
    // Gone and made again, until it is younger than the move by far.
    while !hands.rig.ws("a").exists() || born("a").unwrap() < later {
        let made_again = undo(gone);
        if born("a").unwrap() < later {
            gone = undo(made_again);
        }
    }
    assert_eq!(hands.undo(moved_back), "a: moved back to b");
    assert!(hands.rig.ws("b").is_dir());
}
