//! Processes keep each other out of what they write.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use haft_tool::Claim;
use haft_tool::ports::{Exclusion, Held};

use crate::child::{Running, claim};
use crate::support::{in_memory, open};

/// Holds if that is possible at once.
fn try_hold(exclusion: &Arc<dyn Exclusion>, claims: &[Claim]) -> Option<Held> {
    exclusion.hold(claims).now_or_never().map(Result::unwrap)
}

fn lock_files(dir: &Path) -> usize {
    std::fs::read_dir(dir.join("locks")).unwrap().count()
}

#[tokio::test]
async fn another_process_is_kept_out_of_what_conflicts_and_of_nothing_else() {
    for (theirs, ours, together) in [
        ("write a", "write a", false),
        ("write a", "write b", true),
        ("write a", "read a", true),
        ("write a", "tree 10", false),
        ("write a", "tree 1", false),
        ("write a", "tree 99", true),
        ("tree 10", "write a", false),
        ("tree 1", "write a", false),
        ("tree 1", "tree 10", false),
        ("tree 10", "tree 1", false),
        ("tree 10", "tree 10", false),
        ("tree 99", "write a", true),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let exclusion = open(dir.path()).exclusion();
        let mut child = Running::start(&format!("hold {theirs}"), dir.path());
        assert_eq!(child.line(), "holding");
        let held = try_hold(&exclusion, &[claim(ours)]);
        assert_eq!(held.is_some(), together, "{theirs}, {ours}");
        child.say("let go");
        assert_eq!(child.line(), "released");
        drop(held);
        exclusion.hold(&[claim(ours)]).await.unwrap();
    }
}

#[tokio::test]
async fn o_098_whoever_waits_is_let_in_when_the_holder_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let exclusion = open(dir.path()).exclusion();
    let mut child = Running::start("hold write a", dir.path());
    child.line();
    let claims = [claim("write a")];
    let mut waiting = exclusion.hold(&claims);
    assert!(futures_util::poll!(&mut waiting).is_pending());
    child.kill();
    tokio::time::timeout(Duration::from_secs(5), waiting).await.unwrap().unwrap();
}

#[test]
fn counting_in_several_processes_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("count");
    std::fs::write(&file, "0").unwrap();
    let role = format!("count {}", file.display());
    let children: Vec<_> =
        (0..3).map(|_| Running::start(&role, &dir.path().join("state"))).collect();
    children.into_iter().for_each(Running::wait);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "300");
}

#[tokio::test]
async fn claims_that_only_read_take_no_lock() {
    let dir = tempfile::tempdir().unwrap();
    let exclusion = open(dir.path()).exclusion();
    let _held = exclusion.hold(&[claim("read a")]).await.unwrap();
    let _none = exclusion.hold(&[]).await.unwrap();
    assert_eq!(lock_files(dir.path()), 0);
}

#[tokio::test]
async fn locks_are_let_go_by_dropping_and_by_giving_up() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (open(dir.path()).exclusion(), open(dir.path()).exclusion());
    let held = one.hold(&[claim("write a"), claim("write b")]).await.unwrap();
    let claims = [claim("write b"), claim("write c")];
    {
        let mut waiting = two.hold(&claims);
        assert!(futures_util::poll!(&mut waiting).is_pending());
    }
    assert!(try_hold(&one, &[claim("write c")]).is_some());
    drop(held);
    assert!(try_hold(&two, &claims).is_some());
}

#[tokio::test]
async fn calls_of_one_process_share_its_locks() {
    let dir = tempfile::tempdir().unwrap();
    let (ours, theirs) = (open(dir.path()).exclusion(), open(dir.path()).exclusion());
    let outer = try_hold(&ours, &[claim("tree 1")]).unwrap();
    let inner = try_hold(&ours, &[claim("write a")]).unwrap();
    assert!(try_hold(&theirs, &[claim("write b")]).is_none());
    drop(outer);
    assert!(try_hold(&theirs, &[claim("write a")]).is_none());
    drop(inner);
    assert!(try_hold(&theirs, &[claim("write a")]).is_some());
}

#[tokio::test]
async fn a_wider_lock_waits_for_the_narrower_ones_of_its_own_process() {
    let dir = tempfile::tempdir().unwrap();
    let ours = open(dir.path()).exclusion();
    let narrow = try_hold(&ours, &[claim("write a")]).unwrap();
    let claims = [claim("tree 10")];
    let mut wide = ours.hold(&claims);
    assert!(futures_util::poll!(&mut wide).is_pending());
    drop(narrow);
    tokio::time::timeout(Duration::from_secs(5), wide).await.unwrap().unwrap();
}

#[tokio::test]
async fn lock_files_that_nobody_holds_do_not_pile_up() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let exclusion = store.exclusion();
    for number in 0..50 {
        let _held = exclusion.hold(&[claim(&format!("write {number}"))]).await.unwrap();
    }
    assert!(lock_files(dir.path()) <= 2, "only directories are left");
    let held = exclusion.hold(&[claim("write a")]).await.unwrap();
    store.gc(crate::support::now()).unwrap();
    assert_eq!(lock_files(dir.path()), 3, "what is held stays");
    drop(held);
    store.gc(crate::support::now()).unwrap();
    assert_eq!(lock_files(dir.path()), 0);
}

#[tokio::test]
async fn a_store_in_memory_says_that_it_keeps_nobody_out() {
    assert!(in_memory().exclusion().is_none());
    let dir = tempfile::tempdir().unwrap();
    assert!(!open(dir.path()).exclusion().is_none());
}
