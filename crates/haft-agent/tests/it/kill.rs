//! Runs that are killed before and after every write of their journal, and taken up again.

mod child;
mod run;

use std::collections::BTreeMap;
use std::path::Path;

use haft_agent::{Fate, Fates, open_calls};
use haft_protocol::{RunEntry, StopCause};
use haft_session::{Transcript, mend};
use haft_store::{CallFate, Store};
use haft_tool::Answer;

use child::{Frozen, Running};
use run::{Asks, Killed, effects, masked, open, run_id, task, work};

/// A person who is asked about calls whose end nobody knows.
fn refuses() -> Asks {
    Asks::new(|_| Answer::Refuse { by: "a person".to_owned(), reason: None })
}

/// Takes the run in a directory up again and works until it stops; returns the transcript.
async fn go_on(dir: &Path, asks: &Asks) -> (StopCause, Transcript) {
    let store = open(dir);
    let opened = store.runs().open_to_go_on(run_id()).unwrap();
    let mended = mend(&opened.entries);
    let known = fates(&store, &opened.entries);
    let is_new = mended.transcript.is_empty();
    let (agent, branch, options) = work(&store, opened.writer, mended.transcript, dir, None, asks);
    let end = if is_new {
        agent.turn(&branch, task(), &options).await
    } else {
        agent.go_on(&branch, &known, &options).await
    };
    let transcript = branch.turn().await.transcript.clone();
    (end.cause, transcript)
}

fn fates(store: &Store, entries: &[RunEntry]) -> Fates {
    Fates::new(open_calls(entries).into_iter().map(|open| {
        let fate = match store.fate(open.made_as).unwrap() {
            CallFate::NeverStarted => Fate::NeverStarted,
            CallFate::Waiting(_) => Fate::Waiting,
            CallFate::Started(started) => Fate::Started {
                can_be_repeated: started.can_be_repeated(),
                is_running: started.is_running,
                done: Vec::new(),
            },
            CallFate::Ended(ended) => Fate::Ended(ended.record.outcome.into()),
        };
        (open.call, fate)
    }))
}

/// Counts how often each effect happened, by its name.
fn counted(dir: &Path) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for line in effects(dir) {
        *counts.entry(line).or_default() += 1;
    }
    counts
}

#[tokio::test]
async fn o_074_a_run_that_is_killed_anywhere_goes_on_and_does_nothing_twice_that_may_not_be() {
    let whole = tempfile::tempdir().unwrap();
    Running::start(whole.path(), None).finish();
    let (cause, expected) = go_on(whole.path(), &refuses()).await;
    assert_eq!(cause, StopCause::Done, "a run that is done stays done");
    let expected = masked(&expected);
    let all = counted(whole.path());
    assert_eq!(all.values().sum::<usize>(), 4, "{all:?}");

    let (mut kills, mut unknown) = (0, 0);
    'writes: for number in 1.. {
        for frozen in [Frozen::Before, Frozen::After] {
            let dir = tempfile::tempdir().unwrap();
            let killed = Killed { number, frozen };
            if !Running::start(dir.path(), Some(killed)).kill() {
                break 'writes;
            }
            kills += 1;
            if !store_knows_the_run(dir.path()) {
                assert!(effects(dir.path()).is_empty(), "{killed:?}");
                continue;
            }
            let asks = refuses();
            let (cause, transcript) = go_on(dir.path(), &asks).await;
            assert_eq!(cause, StopCause::Done, "{killed:?}");
            for (effect, times) in counted(dir.path()) {
                let may_repeat = effect.starts_with("put") || effect.starts_with("look");
                assert!(may_repeat || times == 1, "{killed:?}: {effect} happened {times} times");
            }
            // Whoever was not asked about a call got what it came to, or made it.
            let masked = masked(&transcript);
            let asked = asks.asked();
            unknown += asked;
            let same = masked.lines().zip(expected.lines()).filter(|(a, b)| a == b).count();
            let lines = expected.lines().count();
            assert_eq!(masked.lines().count(), lines, "{killed:?}:\n{masked}\n---\n{expected}");
            assert_eq!(lines - same, asked, "{killed:?}:\n{masked}\n---\n{expected}");
        }
    }
    assert!(kills > 40, "only {kills} kills");
    assert!(unknown >= 4, "a person was asked {unknown} times only");
}

fn store_knows_the_run(dir: &Path) -> bool {
    open(dir).runs().read(run_id()).is_ok()
}

#[tokio::test]
async fn a_run_that_is_killed_again_and_again_comes_to_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let mut number = 4;
    // Long enough for one call, and for little else.
    while Running::start(dir.path(), Some(Killed { number, frozen: Frozen::After })).kill() {
        number = 7;
        assert!(effects(dir.path()).len() < 20);
    }
    for (effect, times) in counted(dir.path()) {
        let may_repeat = effect.starts_with("put") || effect.starts_with("look");
        assert!(may_repeat || times == 1, "{effect} happened {times} times");
    }
}

#[tokio::test]
async fn with_nobody_to_ask_the_model_is_told_that_an_end_is_unknown() {
    let asks = Asks::new(|_| Answer::Nobody { ways_out: Vec::new() });
    // The first write after which a call that cannot be repeated has started.
    for number in 1.. {
        let dir = tempfile::tempdir().unwrap();
        let killed = Killed { number, frozen: Frozen::After };
        assert!(Running::start(dir.path(), Some(killed)).kill(), "no call was ever unknown");
        if !store_knows_the_run(dir.path()) {
            continue;
        }
        let (_, transcript) = go_on(dir.path(), &asks).await;
        if asks.asked() == 0 {
            continue;
        }
        let masked = masked(&transcript);
        assert!(masked.contains("Whether it took effect is not known"), "{masked}");
        return;
    }
}

#[tokio::test]
async fn a_person_may_have_a_call_made_again() {
    let asks = Asks::new(|_| Answer::Approve { by: "a person".to_owned() });
    for number in 1.. {
        let dir = tempfile::tempdir().unwrap();
        let killed = Killed { number, frozen: Frozen::Before };
        assert!(Running::start(dir.path(), Some(killed)).kill(), "no call was ever unknown");
        if !store_knows_the_run(dir.path()) {
            continue;
        }
        let (cause, _) = go_on(dir.path(), &asks).await;
        assert_eq!(cause, StopCause::Done);
        if asks.asked() > 0 {
            assert_eq!(counted(dir.path()).len(), 4);
            return;
        }
    }
}
