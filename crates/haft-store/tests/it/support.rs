//! Records to write, and stores to write them to.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::Path;

use haft_protocol::{
    AttemptRecord, BranchId, CallId, Caller, Capabilities, Capability, Digest, Entrance,
    IntentRecord, Outcome, OutcomeRecord, RECORD_VERSION, RunId, TicketId, TicketRecord, Timestamp,
};
use haft_store::{CallStatus, IdQuery, LogFilter, Redaction, Retention, Store, StoreConfig};
use haft_tool::SystemClock;
use haft_tool::ports::{Clock as _, Entry, Journal as _, PortError};
use serde_json::{Value, json};

/// A secret that a face has handed in.
pub(crate) const SECRET: &str = "SECRETabc";

pub(crate) const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

pub(crate) fn now() -> Timestamp {
    SystemClock.now()
}

pub(crate) fn days_ago(days: u64) -> Timestamp {
    Timestamp::from_unix_ms(now().unix_ms() - days * DAY_MS)
}

/// Returns the id of the `number`th call.
pub(crate) fn call(number: u128) -> CallId {
    CallId::from_parts(1_700_000_000_000, number)
}

pub(crate) fn run(number: u128) -> RunId {
    RunId::from_parts(1_700_000_000_000, number)
}

pub(crate) fn ticket_id(number: u128) -> TicketId {
    TicketId::from_parts(1_700_000_000_000, number)
}

pub(crate) fn redaction() -> Redaction {
    Redaction::new([SECRET.to_owned()]).unwrap()
}

pub(crate) fn open(dir: &Path) -> Store {
    open_keeping(dir, Retention::default())
}

pub(crate) fn open_keeping(dir: &Path, retention: Retention) -> Store {
    Store::open(StoreConfig { dir: dir.to_owned(), retention, redaction: redaction() }).unwrap()
}

pub(crate) fn in_memory() -> Store {
    Store::in_memory(Retention::default(), redaction()).unwrap()
}

/// Runs a check over both forms of a store.
pub(crate) async fn over_both(check: impl AsyncFn(Store)) {
    let dir = tempfile::tempdir().unwrap();
    check(open(dir.path())).await;
    check(in_memory()).await;
}

pub(crate) fn retention(days: u32, calls: u64, total: u64, each: u64) -> Retention {
    Retention {
        days: NonZeroU32::new(days).unwrap(),
        calls: NonZeroU64::new(calls).unwrap(),
        artifact_bytes_total: NonZeroU64::new(total).unwrap(),
        artifact_bytes_each: NonZeroU64::new(each).unwrap(),
        ..Retention::default()
    }
}

pub(crate) fn writing() -> Capabilities {
    Capabilities::builder().effect(Capability::WriteFiles).build().unwrap()
}

pub(crate) fn intent(id: CallId) -> IntentRecord {
    IntentRecord {
        version: RECORD_VERSION,
        call: id,
        tool: Ok("builtin/edit".parse().unwrap()),
        caller: Caller {
            entrance: Entrance::Model,
            principal: "a model".into(),
            run: run(1),
            branch: Some(BranchId::from_parts(1, 1)),
            parent: None,
        },
        at: now(),
        fingerprint: Some(Digest::of_bytes("descriptor")),
        arguments_digest: Some(Digest::of_bytes("arguments")),
        arguments: json!({ "path": "a.txt" }).into(),
        bindings: Vec::new(),
        effects: Some(writing()),
        decision: None,
    }
}

pub(crate) fn reading(id: CallId) -> IntentRecord {
    IntentRecord {
        tool: Ok("builtin/read".parse().unwrap()),
        effects: Some(Capabilities::read_only()),
        ..intent(id)
    }
}

pub(crate) fn with_arguments(id: CallId, arguments: Value) -> IntentRecord {
    IntentRecord { arguments: arguments.into(), ..intent(id) }
}

pub(crate) fn attempt(id: CallId, attempt: u32) -> AttemptRecord {
    AttemptRecord { call: id, attempt, at: now(), must_last: false }
}

pub(crate) fn ticket(number: u128, id: CallId) -> TicketRecord {
    TicketRecord {
        version: RECORD_VERSION,
        ticket: ticket_id(number),
        call: id,
        tool: "builtin/edit".parse().unwrap(),
        fingerprint: Digest::of_bytes("descriptor"),
        arguments_digest: Digest::of_bytes("arguments"),
        bindings: Vec::new(),
        because: "rule 3 asks".to_owned(),
        expires: Timestamp::from_unix_ms(now().unix_ms() + DAY_MS),
    }
}

pub(crate) async fn begin(store: &Store, id: CallId) {
    store.append(Entry::Intent(&intent(id))).await.unwrap();
}

pub(crate) async fn start(store: &Store, id: CallId) {
    store.append(Entry::Started(&attempt(id, 1))).await.unwrap();
}

pub(crate) async fn end(store: &Store, id: CallId, outcome: Outcome) -> Result<(), PortError> {
    store.append(Entry::Outcome(&OutcomeRecord { call: id, at: now(), outcome })).await
}

/// Records a whole call.
pub(crate) async fn whole(store: &Store, intent: &IntentRecord, outcome: Outcome) {
    store.append(Entry::Intent(intent)).await.unwrap();
    store.append(Entry::Started(&attempt(intent.call, 1))).await.unwrap();
    end(store, intent.call, outcome).await.unwrap();
}

pub(crate) fn status(store: &Store, id: CallId) -> CallStatus {
    store.show(&IdQuery::from(id)).unwrap().summary.status
}

pub(crate) fn listed(store: &Store, filter: &LogFilter) -> Vec<CallId> {
    store.log(filter).unwrap().into_iter().map(|summary| summary.id).collect()
}
