//! What goes, and what stays.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use haft_protocol::{CallId, IntentRecord, Outcome, Timestamp};
use haft_store::{GcReport, LogFilter, Retention, Store};
use haft_tool::ports::{Artifacts as _, Entry, Journal as _, NewArtifact};

use crate::support::{
    DAY_MS, attempt, call, days_ago, end, intent, listed, now, open, open_keeping, redaction,
    retention, ticket, whole,
};

fn made(days: u64, id: CallId) -> IntentRecord {
    IntentRecord { at: days_ago(days), ..intent(id) }
}

async fn keep(store: &Store, id: CallId, bytes: &[u8]) {
    let artifact = NewArtifact {
        call: id,
        title: "x".to_owned(),
        media_type: "application/octet-stream".to_owned(),
        bytes: Arc::from(bytes),
    };
    store.keep(artifact).await.unwrap();
}

fn all(store: &Store) -> Vec<CallId> {
    listed(store, &LogFilter::default())
}

/// Makes a file look as if nothing had touched it for a day.
fn age(path: &Path) {
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_millis(DAY_MS)).unwrap();
}

#[tokio::test]
async fn calls_that_are_too_old_go_with_all_that_belongs_to_them() {
    let dir = tempfile::tempdir().unwrap();
    let store = open_keeping(dir.path(), retention(10, 1_000, 1_000, 1_000));
    for (number, days) in [(1, 30), (2, 11), (3, 9), (4, 0)] {
        whole(&store, &made(days, call(number)), Outcome::ok("x")).await;
        keep(&store, call(number), &[number as u8; 10]).await;
    }
    keep(&store, call(2), &[4; 10]).await;
    let expected = GcReport {
        runs: 0,
        calls: 2,
        artifacts: 3,
        changes: 0,
        objects: 2,
        object_bytes: 20,
        orphans: 0,
    };
    assert_eq!(store.gc_preview(now()).unwrap(), expected);
    assert_eq!(all(&store).len(), 4);
    assert_eq!(store.gc(now()).unwrap(), expected);
    assert_eq!(all(&store), [call(4), call(3)]);
    assert_eq!(store.usage().unwrap().object_bytes, 20);
    assert_eq!(store.gc(now()).unwrap(), GcReport::default());
}

#[tokio::test]
async fn the_latest_calls_stay_within_the_number() {
    let store = Store::in_memory(retention(10, 3, 1_000, 1_000), redaction()).unwrap();
    for number in 1..=5 {
        whole(&store, &made(0, call(number)), Outcome::ok("x")).await;
    }
    assert_eq!(store.gc(now()).unwrap().calls, 2);
    assert_eq!(all(&store), [call(5), call(4), call(3)]);
}

#[tokio::test]
async fn calls_that_run_or_wait_for_an_answer_stay() {
    let dir = tempfile::tempdir().unwrap();
    let keeping = retention(10, 1, 1_000, 1_000);
    let store = open_keeping(dir.path(), keeping);
    for number in 1..=4 {
        store.append(Entry::Intent(&made(30, call(number)))).await.unwrap();
    }
    store.append(Entry::Started(&attempt(call(1), 1))).await.unwrap();
    store.append(Entry::Ticket(&ticket(1, call(2)))).await.unwrap();
    let mut expired = ticket(2, call(3));
    expired.expires = days_ago(20);
    store.append(Entry::Ticket(&expired)).await.unwrap();
    whole(&store, &made(30, call(5)), Outcome::ok("x")).await;
    assert_eq!(store.gc(now()).unwrap().calls, 1);
    assert_eq!(all(&store), [call(4), call(3), call(2), call(1)]);
    drop(store);

    // The process behind them is gone: only the question can still come to something.
    let store = open_keeping(dir.path(), keeping);
    assert_eq!(store.gc(now()).unwrap().calls, 3);
    assert_eq!(all(&store), [call(2)]);
}

#[tokio::test]
async fn artifacts_without_a_call_go_when_they_are_old() {
    let store = Store::in_memory(retention(10, 10, 1_000, 1_000), redaction()).unwrap();
    keep(&store, call(1), b"x").await;
    assert_eq!(store.gc(now()).unwrap().artifacts, 0);
    let later = Timestamp::from_unix_ms(now().unix_ms() + 11 * DAY_MS);
    assert_eq!(store.gc(later).unwrap().artifacts, 1);
    assert_eq!(store.usage().unwrap().objects, 0);
}

#[tokio::test]
async fn a_smaller_cap_lets_the_oldest_artifacts_go() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    for number in 1..=3 {
        whole(&store, &made(0, call(number)), Outcome::ok("x")).await;
        keep(&store, call(number), &[number as u8; 10]).await;
    }
    drop(store);
    let store = open_keeping(dir.path(), retention(10, 10, 15, 15));
    let expected = GcReport { artifacts: 2, objects: 2, object_bytes: 20, ..GcReport::default() };
    assert_eq!(store.gc_preview(now()).unwrap(), expected);
    assert_eq!(store.gc(now()).unwrap(), expected);
    assert_eq!(all(&store).len(), 3);
}

#[tokio::test]
async fn what_killed_processes_left_behind_goes_and_what_is_fresh_stays() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    keep(&store, call(1), b"kept").await;
    let objects = dir.path().join("objects");
    let digest = "ab".repeat(32);
    let orphan = |folder: &str, rest: &str| {
        std::fs::create_dir_all(objects.join(folder)).unwrap();
        let path = objects.join(folder).join(rest);
        std::fs::write(&path, "x").unwrap();
        path
    };
    let old = orphan("ab", &digest[2..]);
    let fresh = orphan("cd", &digest[2..]);
    let foreign = orphan("ab", "README");
    let staged = objects.join(".new-1");
    std::fs::write(&staged, "x").unwrap();
    let lock = dir.path().join("locks").join("00.lock");
    let lease = dir.path().join("leases").join("00.lock");
    for path in [&lock, &lease] {
        std::fs::write(path, "").unwrap();
    }
    for path in [&old, &foreign, &staged] {
        age(path);
    }
    assert_eq!(store.gc_preview(now()).unwrap().orphans, 1);
    assert_eq!(store.gc(now()).unwrap().orphans, 3);
    for path in [&old, &staged, &lock, &lease] {
        assert!(!path.exists(), "{}", path.display());
    }
    assert!(fresh.exists() && foreign.exists());
    assert_eq!(store.usage().unwrap().objects, 1);
    assert_eq!(std::fs::read_dir(dir.path().join("leases")).unwrap().count(), 1);
}

#[tokio::test]
async fn opening_tidies_up_once_a_day() {
    let dir = tempfile::tempdir().unwrap();
    let fill = async |store: &Store, first: u128| {
        for number in first..first + 3 {
            whole(store, &made(90, call(number)), Outcome::ok("x")).await;
        }
    };
    let store = open(dir.path());
    fill(&store, 1).await;
    drop(store);
    let store = open(dir.path());
    assert_eq!(store.usage().unwrap().calls, 3, "the first day is not over");
    drop(store);
    let long_ago = rusqlite::Connection::open(dir.path().join("haft.db")).unwrap();
    long_ago.execute("UPDATE facts SET value = 1 WHERE name = 'tidied_at'", []).unwrap();
    drop(long_ago);
    let store = open(dir.path());
    // An entry in line behind the clean-up.
    whole(&store, &made(0, call(50)), Outcome::ok("x")).await;
    assert_eq!(all(&store), [call(50)]);
    fill(&store, 10).await;
    drop(store);
    assert_eq!(open(dir.path()).usage().unwrap().calls, 4);
}

#[tokio::test]
async fn many_calls_go_in_steps_and_the_file_shrinks() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let text = "x".repeat(2_000);
    let calls = (0..1_200).map(|number| {
        let (store, text) = (store.clone(), text.clone());
        async move { whole(&store, &made(90, call(number)), Outcome::ok(text)).await }
    });
    futures_util::future::join_all(calls).await;
    store.append(Entry::Intent(&made(0, call(9_999)))).await.unwrap();
    end(&store, call(9_999), Outcome::ok("x")).await.unwrap();
    assert_eq!(store.gc(now()).unwrap().calls, 1_200);
    assert_eq!(store.usage().unwrap().calls, 1);
    drop(store);
    let usage = open(dir.path()).usage().unwrap();
    assert!(usage.database_bytes < 500_000, "{usage:?}");
    assert_eq!(Retention::default().days.get(), haft_protocol::limits::RETENTION_DAYS);
}
