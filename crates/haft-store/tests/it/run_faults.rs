//! Runs that something happens to: a kill, a second process, a damaged entry.

use std::path::Path;

use haft_protocol::{RunEntry, StopCause};
use haft_store::{RunQuery, RunState, Runs, StoreError};
use rusqlite::Connection;

use crate::child::Running;
use crate::run_entries::{a_reply, an_image};
use crate::runs::{append, behind_begin, facts, kept, said, stopped};
use crate::support::{call, open, run};

fn database(dir: &Path) -> Connection {
    let connection = Connection::open(dir.join("haft.db")).unwrap();
    connection.busy_timeout(std::time::Duration::from_secs(5)).unwrap();
    connection
}

#[test]
fn every_entry_that_was_confirmed_survives_a_kill_and_the_run_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for round in 0..4_u128 {
        let mut child = Running::start(&format!("run {round}"), dir.path());
        let mut said_by: Vec<String> = (0..20 + round * 17).map(|_| child.line()).collect();
        said_by.extend(child.kill());

        let runs = open(dir.path()).runs();
        assert_eq!(runs.find(&run(round).into()).unwrap().state, RunState::CutShort);
        let opened = runs.open_to_go_on(run(round)).unwrap();
        assert_eq!(opened.unreadable, None);
        let kept = opened.entries.len() - 1;
        // The one that was on its way may be there as well.
        assert!((said_by.len()..=said_by.len() + 1).contains(&kept), "{kept}");
        for (number, entry) in opened.entries[1..].iter().enumerate() {
            assert_eq!(text_of(entry), text(number as u128));
        }
        runtime.block_on(opened.writer.append(&said(9, "on"))).unwrap();
        assert_eq!(behind_begin(&runs, run(round)).len(), kept + 1);
    }
}

/// Returns the text of the entry of a number; some are too large for the database.
pub(crate) fn text(number: u128) -> String {
    let times = if number % 7 == 3 { 60_000 } else { 1 };
    format!("{number} ").repeat(times)
}

fn text_of(entry: &RunEntry) -> &str {
    let RunEntry::Said(message) = entry else { panic!("{entry:?}") };
    message.content[0].as_text().unwrap()
}

#[test]
fn o_098_a_run_is_open_in_one_process_and_free_when_that_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let runs = open(dir.path()).runs();
    let mut child = Running::start("hold-run 1", dir.path());
    let pid = child.line();
    let error = runs.open_to_go_on(run(1)).unwrap_err();
    let told = error.to_string().replace(&pid, "PID").replace(&run(1).to_string(), "RUN");
    insta::assert_snapshot!(told, @"run RUN is open in process PID; end that first, or go on from a copy with `haft fork RUN`");
    let StoreError::RunInUse { since, .. } = error else { panic!("{error}") };
    assert!(since.is_some());
    let RunState::Running { pid: found, .. } = runs.find(&RunQuery::Last).unwrap().state else {
        panic!()
    };
    assert_eq!(found.to_string(), pid);
    // What others do not need to wait for.
    assert_eq!(runs.read(run(1)).unwrap().entries.len(), 1);
    drop(runs.fork(run(1), None, &facts(run(2))).unwrap());

    child.kill();
    let opened = runs.open_to_go_on(run(1)).unwrap();
    let told = runs.open_to_go_on(run(1)).unwrap_err().to_string();
    assert!(told.contains("is open in this process already"), "{told}");
    drop(opened);
    drop(runs.open_to_go_on(run(1)).unwrap());
}

#[tokio::test]
async fn o_098_a_run_that_was_taken_over_takes_nothing_from_the_one_before() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let before = store.runs().begin(&facts(run(1))).unwrap();
    // Somebody removes the sign of life of a process that is there.
    for lease in std::fs::read_dir(dir.path().join("leases")).unwrap() {
        std::fs::remove_file(lease.unwrap().path()).unwrap();
    }
    let after = open(dir.path()).runs().open_to_go_on(run(1)).unwrap().writer;
    append(&after, &[said(1, "after")]).await;
    for entry in [said(2, "before"), said(3, &"before".repeat(100_000))] {
        let told = before.append(&entry).await.unwrap_err().to_string();
        assert!(told.contains("another process took it over"), "{told}");
    }
    drop(before);
    append(&after, &[said(4, "after")]).await;
    assert_eq!(behind_begin(&store.runs(), run(1)).len(), 2);
}

#[test]
fn o_098_twenty_runs_in_each_of_two_processes_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let children: Vec<_> = (0..2)
        .map(|number| Running::start(&format!("many-runs {}", number * 100), dir.path()))
        .collect();
    children.into_iter().for_each(Running::wait);
    let runs = open(dir.path()).runs();
    for process in [0, 100] {
        for number in process..process + 20 {
            let entries = behind_begin(&runs, run(number));
            let texts: Vec<_> = entries.iter().map(text_of).collect();
            let expected: Vec<_> = (0..15).map(text).collect();
            assert_eq!(texts, expected, "{number}");
        }
    }
}

/// Adds two entries to a run with a damaged one, and looks what there is then.
async fn goes_on(runs: &Runs, number: u128, readable: &[RunEntry], problem: &str) {
    let read = runs.read(run(number)).unwrap();
    assert_eq!(read.entries[1..], *readable, "{number}");
    assert!(read.unreadable.unwrap().to_string().contains(problem), "{problem}");
    let opened = runs.open_to_go_on(run(number)).unwrap();
    assert_eq!(opened.entries[1..], *readable);
    assert_eq!(opened.unreadable.unwrap().entry, readable.len() as u64 + 2);
    let more = [said(8, "one"), said(9, "two")];
    append(&opened.writer, &more).await;
    drop(opened.writer);
    let again = runs.open_to_go_on(run(number)).unwrap();
    assert_eq!(again.unreadable, None, "it is told once");
    assert_eq!(again.entries[1..], [readable, &more].concat());
}

#[tokio::test]
async fn o_097_an_entry_cut_at_any_byte_is_set_aside_and_takes_nothing_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let runs = open(dir.path()).runs();
    let database = database(dir.path());
    let first = said(1, "fix it");
    let last = a_reply(2, call(1));
    let bytes = serde_json::to_string(&last).unwrap().len() as u32;
    for cut in 0..bytes {
        let number = u128::from(cut);
        kept(&runs, &facts(run(number)), &[first.clone(), last.clone()]).await;
        database
            .execute(
                "UPDATE run_entries SET json = CAST(substr(CAST(json AS BLOB), 1, ?2) AS TEXT)
                 WHERE seq = 2 AND run = (SELECT seq FROM runs WHERE id = ?1)",
                rusqlite::params![run(number).to_string(), cut],
            )
            .unwrap();
        goes_on(&runs, number, std::slice::from_ref(&first), "is damaged").await;
    }
}

#[tokio::test]
async fn o_097_entries_of_a_later_haft_and_lost_files_are_set_aside_with_what_stands_behind() {
    let dir = tempfile::tempdir().unwrap();
    let runs = open(dir.path()).runs();
    let database = database(dir.path());
    let entries = [said(1, "fix it"), an_image(call(1), 200_000), stopped(StopCause::Done)];
    let changes = [
        ("version = 99", "has form 99, and this haft knows forms up to 1"),
        ("version = 0", "has form 0"),
        (
            "kind = 'dreamt', digest = NULL, json = '{\"entry\":\"dreamt\"}', bytes = 18",
            "is of a kind that this haft does not know, `dreamt`",
        ),
        ("digest = NULL", "is empty"),
        ("digest = 'no digest'", "lies in a file that is gone or was changed"),
        ("digest = NULL, json = '{\"entry\":\"began\"}', bytes = 17", "cannot be read"),
        ("digest = NULL, json = '[]', kind = x'ff', bytes = 2", "is of a kind"),
    ];
    for (number, (change, problem)) in changes.into_iter().enumerate() {
        let number = number as u128;
        kept(&runs, &facts(run(number)), &entries).await;
        let strict = database.execute(
            &format!("UPDATE run_entries SET {change} WHERE seq = 2 AND run = (SELECT seq FROM runs WHERE id = ?1)"),
            [run(number).to_string()],
        );
        if strict.is_err() {
            // The table takes no bytes where text belongs.
            assert!(change.contains("x'ff'"));
            continue;
        }
        goes_on(&runs, number, &entries[..1], problem).await;
    }
    insta::assert_snapshot!(haft_store::UnreadableEntry { entry: 3, problem: "is empty".to_owned(), behind: 1 }, @"entry 3 of the run is empty; it and the one behind it are left out");
}

#[tokio::test]
async fn o_097_a_file_that_is_cut_is_known_for_one() {
    let dir = tempfile::tempdir().unwrap();
    let runs = open(dir.path()).runs();
    kept(&runs, &facts(run(1)), &[said(1, "fix it"), an_image(call(1), 200_000)]).await;
    let mut folders = std::fs::read_dir(dir.path().join("objects")).unwrap();
    let folder = folders.next().unwrap().unwrap().path();
    let file = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    std::fs::File::options().write(true).open(file).unwrap().set_len(1_000).unwrap();
    goes_on(&runs, 1, &[said_first(&runs)], "lies in a file that is gone or was changed").await;
}

fn said_first(runs: &Runs) -> RunEntry {
    runs.read(run(1)).unwrap().entries[1].clone()
}

#[tokio::test]
async fn a_run_without_a_readable_begin_is_not_gone_on_with() {
    let dir = tempfile::tempdir().unwrap();
    let runs = open(dir.path()).runs();
    kept(&runs, &facts(run(1)), &[said(1, "fix it")]).await;
    database(dir.path()).execute("UPDATE run_entries SET json = '{' WHERE seq = 0", []).unwrap();
    assert_eq!(runs.read(run(1)).unwrap().entries, []);
    for error in [
        runs.open_to_go_on(run(1)).unwrap_err(),
        runs.fork(run(1), None, &facts(run(2))).unwrap_err(),
    ] {
        assert!(matches!(error, StoreError::RunUnreadable { .. }), "{error}");
    }
    let free = runs.open_to_go_on(run(1)).unwrap_err();
    assert!(matches!(free, StoreError::RunUnreadable { .. }), "nobody has it open: {free}");
}
