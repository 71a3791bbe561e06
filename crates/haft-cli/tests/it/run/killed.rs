//! Runs that are killed before and after each commit of their state, and gone on with: the command as it is shipped, from
//! outside.

mod case;
mod record;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use case::{Case, Killed, Side, Task, WentOn, server};

/// Cases that are tried at one time.
const AT_A_TIME: usize = 3;

/// What was seen in some cases.
#[derive(Debug, Default, Clone, Copy)]
struct Seen {
    kills: usize,
    /// Runs that were killed before they were on record.
    unborn: usize,
    /// Calls of which the model was told that their end is not known.
    unknown: usize,
}

/// Kills a run at one place after the other, several at a time, until there is no further place.
fn everywhere(try_one: impl Fn(Killed, &mut Seen) -> bool + Sync) -> Seen {
    let (next, is_through) = (AtomicU64::new(0), AtomicBool::new(false));
    let work = || {
        let mut seen = Seen::default();
        while !is_through.load(Ordering::Relaxed) {
            let case = next.fetch_add(1, Ordering::Relaxed);
            let side = if case % 2 == 0 { Side::Before } else { Side::After };
            if !try_one(Killed { commit: case / 2 + 1, side }, &mut seen) {
                is_through.store(true, Ordering::Relaxed);
            }
        }
        seen
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_A_TIME).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|it| it.join().unwrap()).fold(Seen::default(), |all, one| Seen {
            kills: all.kills + one.kills,
            unborn: all.unborn + one.unborn,
            unknown: all.unknown + one.unknown,
        })
    })
}

/// Kills a run everywhere, and looks at what becomes of it.
fn holds_everywhere(task: Task) -> Seen {
    let server = server();
    let whole = Case::new(&server, task);
    whole.run_whole();
    let expected = whole.record();
    assert_eq!(whole.effects(), task.effects(), "{expected}");
    assert_eq!(expected.unknown(), [""; 0]);
    everywhere(|killed, seen| {
        let case = Case::new(&server, task);
        if !case.run(killed) {
            return false;
        }
        seen.kills += 1;
        if case.go_on() == WentOn::NotOnRecord {
            seen.unborn += 1;
            assert!(case.effects().is_empty(), "{killed}");
            return true;
        }
        let record = case.record();
        let unknown = record.unknown();
        seen.unknown += unknown.len();

        // What nobody knows the end of is told, what only looks is made again, and nothing else differs.
        assert_eq!(record.differing(&expected), unknown, "{killed}:\n{record}\n---\n{expected}");
        let changes = ["call bash", "call editor", "Work beneath"];
        let only_looks = |it: &&&str| !changes.iter().any(|name| it.contains(name));
        assert_eq!(unknown.iter().find(only_looks), None, "{killed}");
        assert_eq!(record.state, expected.state, "{killed}");
        if unknown.is_empty() {
            assert_eq!(case.effects(), task.effects(), "{killed}");
            assert_eq!(case.made(), whole.made(), "{killed}");
        }
        for told in unknown {
            is_true(told, &case);
        }
        for effect in task.effects() {
            let times = case.effects().iter().filter(|it| it == effect).count();
            assert!(times <= 1, "{killed}: {effect} happened {times} times");
        }
        true
    })
}

/// Checks what a model is told of a call whose end nobody knows against what is there.
fn is_true(told: &str, case: &Case) {
    let file = match told.split(' ').nth(1) {
        Some("editor") => "made.txt",
        Some("subagent") => "beneath.txt",
        _ => return,
    };
    let is_said = told.contains(&format!("changed `{file}`"));
    assert_eq!(is_said, case.made().contains_key(file), "{told}");
    let effects = case.effects();
    assert!(!told.contains("`bash`: was not made") || effects.is_empty(), "{told}: {effects:?}");
    assert!(!told.contains("`bash`: done") || effects == ["beneath"], "{told}: {effects:?}");
}

#[test]
fn o_074_a_run_of_the_command_that_is_killed_anywhere_goes_on_and_does_nothing_twice() {
    let seen = holds_everywhere(Task::Work);
    assert!(seen.kills > 40 && seen.unborn > 2 && seen.unknown > 4, "{seen:?}");
}

#[test]
fn o_074_a_run_that_is_killed_anywhere_in_a_subagent_goes_on_and_does_nothing_twice() {
    let seen = holds_everywhere(Task::HaveWorked);
    assert!(seen.kills > 60 && seen.unborn > 2 && seen.unknown > 10, "{seen:?}");
}

#[test]
fn a_run_of_the_command_that_is_killed_again_and_again_comes_to_its_end() {
    let server = server();
    let case = Case::new(&server, Task::HaveWorked);
    let later = |commit| Killed { commit, side: Side::After };
    assert!(case.run(later(12)));
    let mut kills = 1;
    while case.resume(later(4 + kills)) {
        kills += 1;
    }
    assert!(kills > 4, "{kills}");
    assert!(case.effects().len() <= 1, "{:?}", case.effects());
    assert!(case.record().state.contains("done"), "{}", case.record().state);
}

#[test]
fn a_person_is_asked_whether_a_call_of_unknown_end_is_made_again() {
    let server = server();
    for (answer, told, further) in
        [("n\n", "Do not make it again, said ada", 0), ("y\n", "exit 0", 1)]
    {
        let begun = |commit| {
            let case = Case::new(&server, Task::Work);
            assert!(case.run(Killed { commit, side: Side::After }), "no end was ever unknown");
            (case.unknown().as_deref() == Some("builtin/bash")).then_some(case)
        };
        let case = (8..).find_map(begun).unwrap();
        let before = case.effects().len();
        let Some(shown) = case.go_on_at_terminal(answer) else { return };
        assert!(shown.contains("it was started before the run was stopped"), "{shown}");
        assert!(case.record().to_string().contains(told), "{}", case.record());
        let first = case.effects().iter().filter(|it| *it == "first").count();
        assert_eq!(first, before + further, "{shown}");
    }
}
