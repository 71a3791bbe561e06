//! What becomes of records that are only in the database's log of latest writes.

use std::path::{Path, PathBuf};

use haft_protocol::Outcome;
use haft_store::Store;

use crate::child::Running;
use crate::support::{call, intent, open, whole};

fn log(dir: &Path) -> PathBuf {
    dir.join("haft.db-wal")
}

fn damaged(store: &Store) -> Option<PathBuf> {
    store.usage().unwrap().damaged_log
}

async fn record(dir: &Path, numbers: std::ops::Range<u128>) {
    let store = open(dir);
    for number in numbers {
        whole(&store, &intent(call(number)), Outcome::ok("x")).await;
    }
}

#[tokio::test]
async fn the_first_records_reach_the_database_itself() {
    let temp = tempfile::tempdir().unwrap();
    record(temp.path(), 0..1).await;
    assert_eq!(std::fs::metadata(log(temp.path())).unwrap().len(), 0);
    std::fs::remove_file(log(temp.path())).unwrap();
    assert_eq!(open(temp.path()).usage().unwrap().calls, 1);
}

#[tokio::test]
async fn an_orderly_end_leaves_little_in_the_log_and_a_sound_one_is_no_damage() {
    let temp = tempfile::tempdir().unwrap();
    for round in 0..20_u128 {
        record(temp.path(), round * 10..round * 10 + 5).await;
        assert!(std::fs::metadata(log(temp.path())).unwrap().len() <= 256 * 1024);
        assert_eq!(damaged(&open(temp.path())), None);
    }
}

#[tokio::test]
async fn a_damaged_log_is_kept_and_told_and_the_state_works_on() {
    // The first byte, the salt, the first frame, and one in the middle.
    for at in [0, 17, 40, 32 + 4 * 4_120 + 100] {
        let temp = tempfile::tempdir().unwrap();
        record(temp.path(), 0..1).await;
        record(temp.path(), 1..4).await;
        let mut bytes = std::fs::read(log(temp.path())).unwrap();
        bytes[at] ^= 0x55;
        std::fs::write(log(temp.path()), &bytes).unwrap();

        let store = open(temp.path());
        let kept = damaged(&store).unwrap();
        assert_eq!(std::fs::read(&kept).unwrap(), bytes, "{at}");
        assert!(store.usage().unwrap().calls >= 1);
        whole(&store, &intent(call(9)), Outcome::ok("x")).await;
        drop(store);
        assert_eq!(damaged(&open(temp.path())).as_ref(), Some(&kept));
        std::fs::remove_file(&kept).unwrap();
        assert_eq!(damaged(&open(temp.path())), None);
    }
}

#[tokio::test]
async fn a_missing_log_is_told() {
    let temp = tempfile::tempdir().unwrap();
    record(temp.path(), 0..1).await;
    record(temp.path(), 1..4).await;
    std::fs::remove_file(log(temp.path())).unwrap();
    assert!(damaged(&open(temp.path())).is_some());
}

#[test]
fn a_log_that_had_everything_and_is_gone_is_told() {
    let temp = tempfile::tempdir().unwrap();
    let mut child = Running::start("start", temp.path());
    child.line();
    child.kill();
    for file in ["haft.db-wal", "haft.db-shm"] {
        std::fs::remove_file(temp.path().join(file)).unwrap();
    }
    assert!(damaged(&open(temp.path())).is_some());
}
