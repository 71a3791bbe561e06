//! What became of a call, for whoever goes on with a run.

use std::sync::Arc;

use haft_protocol::{
    Capabilities, Capability, ContentPart, ImageType, IntentRecord, NoticeKind, Outcome, RunEntry,
};
use haft_store::{CallFate, EndedCall, Store};
use haft_tool::ports::{Artifacts as _, Entry, Journal as _, NewArtifact};
use serde_json::json;

use crate::runs::{append, facts};
use crate::support::{
    SECRET, attempt, begin, call, days_ago, end, in_memory, intent, now, open, open_keeping,
    over_both, reading, retention, run, start, ticket, ticket_id, whole,
};

fn ended(store: &Store, number: u128) -> EndedCall {
    match store.fate(call(number)).unwrap() {
        CallFate::Ended(ended) => *ended,
        fate => panic!("{fate:?}"),
    }
}

#[tokio::test]
async fn a_call_that_never_started_is_known_for_one() {
    over_both(async |store| {
        assert_eq!(store.fate(call(1)).unwrap(), CallFate::NeverStarted);
        begin(&store, call(1)).await;
        assert_eq!(store.fate(call(1)).unwrap(), CallFate::NeverStarted);
        let mut late = ticket(1, call(1));
        late.expires = days_ago(1);
        store.append(Entry::Ticket(&late)).await.unwrap();
        assert_eq!(store.fate(call(1)).unwrap(), CallFate::NeverStarted);
    })
    .await;
}

#[tokio::test]
async fn a_question_that_can_be_answered_is_handed_out() {
    over_both(async |store| {
        begin(&store, call(1)).await;
        let asked = ticket(1, call(1));
        store.append(Entry::Ticket(&asked)).await.unwrap();
        assert_eq!(store.fate(call(1)).unwrap(), CallFate::Waiting(Box::new(asked)));
        let answer = Entry::Answered { ticket: ticket_id(1), answer: "yes", at: now() };
        store.append(answer).await.unwrap();
        assert_eq!(store.fate(call(1)).unwrap(), CallFate::NeverStarted);
    })
    .await;
}

#[tokio::test]
async fn a_start_without_end_says_whether_the_call_can_be_repeated() {
    let dir = tempfile::tempdir().unwrap();
    let idempotent =
        Capabilities::builder().effect(Capability::WriteFiles).idempotent().build().unwrap();
    let store = open(dir.path());
    let idempotent = IntentRecord { effects: Some(idempotent), ..intent(call(3)) };
    let unknown = IntentRecord { effects: None, ..intent(call(4)) };
    for record in [intent(call(1)), reading(call(2)), idempotent, unknown] {
        store.append(Entry::Intent(&record)).await.unwrap();
        store.append(Entry::Started(&attempt(record.call, 1))).await.unwrap();
    }
    store.append(Entry::Started(&attempt(call(3), 2))).await.unwrap();
    let started = |store: &Store, number| match store.fate(call(number)).unwrap() {
        CallFate::Started(started) => started,
        fate => panic!("{fate:?}"),
    };
    assert!(started(&store, 2).is_running && !started(&store, 2).can_be_repeated());
    drop(store);
    let store = open(dir.path());
    for (number, repeats) in [(1, false), (2, true), (3, true), (4, false)] {
        let started = started(&store, number);
        assert!(!started.is_running);
        assert_eq!(started.can_be_repeated(), repeats, "{number}");
    }
    assert_eq!(started(&store, 3).attempts, 2);
}

/// An outcome that the journal does not keep as it is.
fn rich() -> Outcome {
    let mut outcome = Outcome::ok(format!("the key is {SECRET}"));
    outcome.content.push(ContentPart::text("x".repeat(100_000)));
    let data: Arc<[u8]> = [7; 1_000].into();
    outcome.content.push(ContentPart::Image { media_type: ImageType::Png, data });
    outcome.notice(NoticeKind::Remark, "a remark");
    outcome
}

#[tokio::test]
async fn the_outcome_of_a_call_of_a_run_is_whole_until_the_run_has_it() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let writer = store.runs().begin(&facts(run(1))).unwrap();
    whole(&store, &intent(call(1)), rich()).await;
    // Gone between the journal's entry and the run's.
    drop((writer, store));
    let store = open(dir.path());
    let kept = ended(&store, 1);
    assert_eq!((kept.record.outcome, kept.left_out), (rich(), Vec::new()));

    let opened = store.runs().open_to_go_on(run(1)).unwrap();
    let entry = RunEntry::Ended { call: call(1), outcome: Box::new(rich()) };
    append(&opened.writer, &[entry]).await;
    let kept = ended(&store, 1);
    assert_ne!(kept.record.outcome, rich());
    insta::assert_snapshot!(kept.left_out.join("\n"), @"the outcome is what the journal keeps: without secrets, images and the ends of long texts");
}

#[tokio::test]
async fn the_outcome_of_a_call_that_was_made_again_goes_with_the_entry_of_the_first() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let writer = store.runs().begin(&facts(run(1))).unwrap();
    whole(&store, &intent(call(2)), rich()).await;
    let made_again = json!({ "entry": "made_again", "call": call(1), "made_as": call(2) });
    rusqlite::Connection::open(dir.path().join("haft.db"))
        .unwrap()
        .execute(
            "INSERT INTO run_entries (run, seq, at, version, kind, json, bytes)
             VALUES (1, 1, 1, 1, 'made_again', ?1, octet_length(?1))",
            [made_again.to_string()],
        )
        .unwrap();
    let end = |id| RunEntry::Ended { call: id, outcome: Box::new(Outcome::ok("x")) };
    append(&writer, &[end(call(3))]).await;
    assert_eq!(ended(&store, 2).left_out, [""; 0]);
    append(&writer, &[end(call(1))]).await;
    assert_eq!(ended(&store, 2).left_out.len(), 1);
}

#[tokio::test]
async fn no_secret_of_a_call_is_kept_for_a_run_that_is_not_there() {
    over_both(async |store| {
        let _writer = store.runs().begin(&facts(run(2))).unwrap();
        whole(&store, &intent(call(1)), rich()).await;
        let mut nested = intent(call(2));
        nested.caller.run = run(2);
        nested.caller.parent = Some(call(1));
        whole(&store, &nested, rich()).await;
        for number in [1, 2] {
            assert_eq!(ended(&store, number).left_out.len(), 1, "{number}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_plain_outcome_is_whole() {
    over_both(async |store| {
        whole(&store, &intent(call(1)), Outcome::ok("plain")).await;
        let kept = ended(&store, 1);
        assert_eq!(kept.record.outcome, Outcome::ok("plain"));
        assert_eq!(kept.left_out, [""; 0]);
    })
    .await;
}

#[tokio::test]
async fn artifacts_that_are_gone_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    begin(&store, call(1)).await;
    start(&store, call(1)).await;
    let artifact = NewArtifact {
        call: call(1),
        title: "all of it".to_owned(),
        media_type: "text/plain".to_owned(),
        bytes: Arc::from(&b"all of it"[..]),
    };
    let id = store.keep(artifact).await.unwrap();
    let part = |id| ContentPart::Artifact {
        id,
        title: "all of it".to_owned(),
        media_type: "text/plain".to_owned(),
        bytes: 9,
    };
    let mut outcome = Outcome::ok("some of it");
    outcome.content.push(part(id));
    end(&store, call(1), outcome).await.unwrap();
    assert_eq!(ended(&store, 1).left_out, [""; 0]);
    drop(store);
    let store = open_keeping(dir.path(), retention(10, 10, 5, 5));
    store.gc(now()).unwrap();
    assert_eq!(ended(&store, 1).left_out, [format!("artifact {id} made room for later ones")]);

    let store = in_memory();
    let mut outcome = Outcome::ok("some of it");
    outcome.content.push(part(id));
    whole(&store, &intent(call(1)), outcome).await;
    assert_eq!(ended(&store, 1).left_out, [format!("artifact {id} is not on record")]);
}
