use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use haft_protocol::{
    CallId, Caller, Entrance, IntentRecord, Outcome, OutcomeRecord, RECORD_VERSION, RunId,
    Timestamp,
};
use rusqlite::Connection;

use super::{Write, Writer};
use crate::database::{self, Place};
use crate::record::Recorder;
use crate::{Redaction, StoreError};

fn writer(dir: &Path) -> Writer {
    let path = dir.join("haft.db");
    std::fs::write(&path, "").unwrap();
    let place = Place::File(path);
    Writer::new(database::open(&place).unwrap(), &place, "lease".to_owned())
}

fn intent(number: u128, bytes: usize) -> Write {
    let redaction = Redaction::new([]).unwrap();
    let record = IntentRecord {
        version: RECORD_VERSION,
        call: CallId::from_parts(1, number),
        tool: Err("none".to_owned()),
        caller: Caller {
            entrance: Entrance::Cli,
            principal: "me".into(),
            run: RunId::from_parts(1, 1),
            branch: None,
            parent: None,
        },
        at: Timestamp::default(),
        fingerprint: None,
        arguments_digest: None,
        arguments: Arc::new("x".repeat(bytes).into()),
        bindings: Vec::new(),
        effects: None,
        decision: None,
    };
    Write::Intent(Box::new(Recorder::new(&redaction).intent(&record, &[]).unwrap()))
}

fn outcome(number: u128) -> Write {
    let redaction = Redaction::new([]).unwrap();
    let record = OutcomeRecord {
        call: CallId::from_parts(1, number),
        at: Timestamp::default(),
        outcome: Outcome::ok("x"),
    };
    Write::Outcome(Recorder::new(&redaction).outcome(&record).unwrap())
}

fn append(writer: &Writer, write: Write) -> Result<(), StoreError> {
    writer.append(write).unwrap().blocking_recv().unwrap()
}

fn text(dir: &Path, result: Result<(), StoreError>) -> String {
    result.unwrap_err().to_string().replace(&dir.display().to_string(), "DIR")
}

fn calls(writer: &Writer) -> i64 {
    let count = |connection: &mut Connection| {
        connection.query_row("SELECT count(*) FROM calls", [], |row| row.get(0)).unwrap()
    };
    writer.with(count).unwrap()
}

fn limit_pages(writer: &Writer, room: i64) {
    let limit = move |connection: &mut Connection| {
        let pages: i64 =
            connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
        connection.pragma_update(None, "max_page_count", pages + room).unwrap();
    };
    writer.with(limit).unwrap();
}

#[test]
fn a_full_disk_is_told_and_leaves_no_half_of_anything() {
    let dir = tempfile::tempdir().unwrap();
    let writer = writer(dir.path());
    append(&writer, intent(1, 10)).unwrap();
    limit_pages(&writer, 1);
    let full = append(&writer, intent(2, 60_000));
    insta::assert_snapshot!(text(dir.path(), full), @"state database `DIR/haft.db` cannot grow: the disk is full; free some space");
    assert_eq!(calls(&writer), 1);
    limit_pages(&writer, 1_000);
    append(&writer, intent(2, 60_000)).unwrap();
    append(&writer, outcome(2)).unwrap();
    assert_eq!(calls(&writer), 2);
}

#[test]
fn a_failure_that_nobody_waited_for_is_told_at_the_outcome_once() {
    let dir = tempfile::tempdir().unwrap();
    let writer = writer(dir.path());
    limit_pages(&writer, 1);
    writer.append_quietly(intent(1, 60_000)).unwrap();
    assert_eq!(calls(&writer), 0);
    limit_pages(&writer, 1_000);
    let late = text(dir.path(), append(&writer, outcome(1)));
    insta::assert_snapshot!(late, @"an earlier record of this call was not kept: state database `DIR/haft.db` cannot grow: the disk is full; free some space");
    let again = text(dir.path(), append(&writer, outcome(1)));
    insta::assert_snapshot!(again, @"call 00000000010000000000000001 is not on record; its intent comes first");
}

#[test]
fn a_database_that_may_not_be_written_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let writer = writer(dir.path());
    let read_only = |connection: &mut Connection| {
        connection.pragma_update(None, "query_only", true).unwrap();
    };
    writer.with(read_only).unwrap();
    let told = text(dir.path(), append(&writer, intent(1, 10)));
    insta::assert_snapshot!(told, @"state database `DIR/haft.db` is read-only; make it writable, or choose another directory with HAFT_STATE_DIR");
}

#[test]
fn a_database_that_another_process_keeps_locked_is_told_and_recovers() {
    let dir = tempfile::tempdir().unwrap();
    let writer = writer(dir.path());
    let hurry = |connection: &mut Connection| connection.busy_timeout(Duration::ZERO).unwrap();
    writer.with(hurry).unwrap();
    let other = Connection::open(dir.path().join("haft.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let told = text(dir.path(), append(&writer, intent(1, 10)));
    insta::assert_snapshot!(told, @"state database `DIR/haft.db` was locked by another process for too long; wait for that process, or end it");
    other.execute_batch("COMMIT").unwrap();
    append(&writer, intent(1, 10)).unwrap();
}

#[test]
fn short_work_is_done_by_whoever_asks_until_there_is_a_line_and_after_what_is_in_it() {
    let dir = tempfile::tempdir().unwrap();
    let writer = writer(dir.path());
    let here = std::thread::current().id();
    let at_work = |_: &mut Connection| std::thread::current().id();
    assert_eq!(writer.at_once(at_work).unwrap(), here);
    writer.append_quietly(intent(1, 10)).unwrap();
    assert_ne!(writer.at_once(at_work).unwrap(), here);
    let count = |connection: &mut Connection| {
        connection.query_row("SELECT count(*) FROM calls", [], |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!(writer.at_once(count).unwrap(), 1);
}

#[test]
fn entries_in_line_are_written_before_the_writer_ends() {
    let dir = tempfile::tempdir().unwrap();
    let writer = writer(dir.path());
    for number in 0..2_000 {
        writer.append_quietly(intent(number, 10)).unwrap();
    }
    drop(writer);
    let count: i64 = Connection::open(dir.path().join("haft.db"))
        .unwrap()
        .query_row("SELECT count(*) FROM calls", [], |row| row.get(0))
        .unwrap();
    assert_eq!(count, 2_000);
}
