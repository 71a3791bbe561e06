//! What is left when a process is killed.

use haft_protocol::Outcome;
use haft_store::{CallStatus, IdQuery, LogFilter};

use crate::child::{Running, number_of};
use crate::support::{call, intent, open, status, whole};

#[tokio::test]
async fn everything_that_was_confirmed_survives_a_kill() {
    let dir = tempfile::tempdir().unwrap();
    for round in 0..5_u128 {
        let mut child = Running::start(&format!("write {}", round * 1_000_000 + 1), dir.path());
        let mut said: Vec<String> = (0..50 + round * 37).map(|_| child.line()).collect();
        said.extend(child.kill());

        let store = open(dir.path());
        for line in said {
            let detail = store.show(&IdQuery::from(number_of(&line))).unwrap();
            match line.split_once(' ').unwrap() {
                ("started", _) => assert_eq!(detail.summary.status, CallStatus::Unknown, "{line}"),
                ("ended", number) => {
                    let outcome = detail.outcome.unwrap().outcome;
                    assert_eq!(outcome, Outcome::ok(format!("outcome {number}")));
                }
                _ => panic!("{line}"),
            }
        }
        let sound: String = rusqlite::Connection::open(dir.path().join("haft.db"))
            .unwrap()
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .unwrap();
        assert_eq!(sound, "ok");
        let running = LogFilter { status: Some(CallStatus::Running), ..LogFilter::default() };
        assert_eq!(store.log(&running).unwrap(), []);
        let next = call(round + 900_000_000);
        whole(&store, &intent(next), Outcome::ok("life goes on")).await;
        assert_eq!(status(&store, next), CallStatus::Ok);
    }
}

#[test]
fn a_started_call_runs_while_its_process_lives_and_is_unknown_after() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let mut child = Running::start("start", dir.path());
    assert_eq!(child.line(), "started");
    assert_eq!(status(&store, call(1)), CallStatus::Running);
    child.kill();
    assert_eq!(status(&store, call(1)), CallStatus::Unknown);
    let unknown = LogFilter { status: Some(CallStatus::Unknown), ..LogFilter::default() };
    assert_eq!(store.log(&unknown).unwrap().len(), 1);
}

#[test]
fn o_098_processes_that_share_a_directory_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let children: Vec<_> = (0..3)
        .map(|number| Running::start(&format!("share {} 150", number * 10_000), dir.path()))
        .collect();
    children.into_iter().for_each(Running::wait);
    let ended = LogFilter {
        status: Some(CallStatus::Ok),
        limit: std::num::NonZeroU32::new(1_000),
        ..LogFilter::default()
    };
    assert_eq!(open(dir.path()).log(&ended).unwrap().len(), 450);
}
