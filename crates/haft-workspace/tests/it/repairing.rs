//! Changes that end in the middle.

use std::fs;

use haft_protocol::EffectState;
use haft_workspace::{Step, repair};

use crate::hand::Hands;

const STEPS: [Step; 9] = [
    Step::Kept,
    Step::Announced,
    Step::DirectoryMade,
    Step::FileMade,
    Step::FileWritten,
    Step::Compared,
    Step::Done,
    Step::Synced,
    Step::Settled,
];

/// Ends a change at each of its steps, as if the process ended there, puts things in order and looks.
fn ended_everywhere(act: impl Fn(&Hands), check: impl Fn(&Hands, Step, bool)) {
    for step in STEPS {
        let hands = Hands::new();
        hands.rig.file("a", "one").file("b", "other").file("d/x", "deep").dir("empty");
        hands.watch(move |now| assert!(now != step, "the process ends here"));
        act(&hands);
        hands.watch_no_more();
        let repaired = repair(&hands.rig.workspace, &hands.effects).unwrap();
        assert_eq!(hands.leftovers(), Vec::<String>::new(), "{step:?}");
        for record in hands.effects.records() {
            assert_ne!(record.state, EffectState::Announced, "{step:?}");
        }
        check(&hands, step, repaired.iter().any(|it| it.happened));
        // Whatever happened can be taken back, and then everything is as it was.
        if let Some(record) = hands.effects.records().pop() {
            let told = hands.undo(record.call);
            assert!(!told.contains("stays"), "{step:?}: {told}");
        }
        assert_eq!(
            (hands.text("a"), hands.text("b")),
            ("one".to_owned(), "other".to_owned()),
            "{step:?}"
        );
        assert_eq!(hands.text("d/x"), "deep");
        assert!(hands.rig.ws("empty").is_dir());
        let names = fs::read_dir(hands.rig.ws("")).unwrap().count();
        assert_eq!(names, 4, "{step:?}");
    }
}

#[test]
fn a_write_that_ends_anywhere_leaves_the_old_file_or_the_new_one() {
    ended_everywhere(
        |hands| drop(hands.write("a", "two")),
        |hands, step, happened| {
            let text = hands.text("a");
            assert!(text == "one" || text == "two", "{step:?}");
            let is_open = !matches!(step, Step::Kept | Step::Settled | Step::DirectoryMade);
            assert_eq!(happened, is_open && text == "two", "{step:?}");
        },
    );
}

#[test]
fn a_new_file_that_ends_anywhere_is_there_whole_or_not_at_all() {
    ended_everywhere(
        |hands| drop(hands.create("n/m/f", "new")),
        |hands, step, _| {
            let path = hands.rig.ws("n/m/f");
            assert!(!path.exists() || fs::read(path).unwrap() == b"new", "{step:?}");
        },
    );
}

#[test]
fn a_move_that_ends_anywhere_leaves_the_thing_in_one_place() {
    ended_everywhere(
        |hands| drop(hands.rename("d", "n/d")),
        |hands, step, _| {
            let places = [hands.rig.ws("d/x").exists(), hands.rig.ws("n/d/x").exists()];
            assert!(places[0] != places[1], "{step:?}");
        },
    );
    ended_everywhere(
        |hands| drop(hands.rename_onto("a", "b")),
        |hands, step, _| {
            let b = hands.text("b");
            assert!(b == "other" || b == "one", "{step:?}");
        },
    );
}

#[test]
fn a_removal_that_ends_anywhere_can_be_taken_back() {
    ended_everywhere(|hands| drop(hands.remove("a")), |_, _, _| {});
    ended_everywhere(|hands| drop(hands.remove("empty")), |_, _, _| {});
}

#[test]
fn what_was_cut_short_is_said() {
    let hands = Hands::new();
    hands.rig.file("a", "one");
    for (step, expect) in [
        (
            Step::FileWritten,
            "had not happened, and what stood there before stands there; an unfinished file was removed",
        ),
        (Step::Done, "had happened, whole"),
    ] {
        hands.watch(move |now| assert!(now != step, "the process ends here"));
        hands.write("a", "two");
        hands.watch_no_more();
        let repaired = repair(&hands.rig.workspace, &hands.effects).unwrap();
        let said: Vec<String> = repaired.iter().map(|it| it.notice().text).collect();
        assert_eq!(said.len(), 1);
        assert!(said[0].starts_with("a change of `a` by call "), "{said:?}");
        assert!(said[0].ends_with(expect), "{said:?}");
    }
    assert_eq!(repair(&hands.rig.workspace, &hands.effects).unwrap(), []);
}

#[test]
fn an_undo_that_ends_anywhere_can_be_done_again() {
    for step in STEPS {
        let hands = Hands::new();
        hands.rig.file("a", "one").file("b", "other");
        hands.rename_onto("a", "b");
        let call = hands.latest();
        hands.watch(move |now| assert!(now != step, "the process ends here"));
        hands.undo(call);
        hands.watch_no_more();
        repair(&hands.rig.workspace, &hands.effects).unwrap();
        hands.undo(call);
        assert_eq!(
            (hands.text("a"), hands.text("b")),
            ("one".to_owned(), "other".to_owned()),
            "{step:?}"
        );
        assert_eq!(hands.leftovers(), Vec::<String>::new());
    }
}
