//! Listing, showing, counting.

use std::num::NonZeroU32;
use std::path::Path;

use haft_protocol::{Caller, IntentRecord, Outcome, Timestamp};
use haft_store::{CallStatus, IdQuery, LogFilter, Store, StoreError};
use haft_tool::ports::{Entry, Journal as _};
use serde_json::json;

use crate::support::{
    DAY_MS, begin, call, days_ago, end, in_memory, intent, listed, now, open, over_both, reading,
    run, start, status, ticket, ticket_id, whole, with_arguments,
};

/// Three calls: an edit of run 1 that ended well, a read of run 2 a week ago, an edit of run 1 that runs.
async fn three() -> Store {
    let store = in_memory();
    whole(
        &store,
        &with_arguments(call(1), json!({ "path": "Notes \"a_b\".txt" })),
        Outcome::ok("100% done"),
    )
    .await;
    let old = IntentRecord {
        at: days_ago(7),
        caller: Caller { run: run(2), parent: Some(call(1)), ..intent(call(2)).caller },
        ..reading(call(2))
    };
    whole(&store, &old, Outcome::ok("nothing")).await;
    begin(&store, call(3)).await;
    start(&store, call(3)).await;
    store
}

#[tokio::test]
async fn calls_are_listed_by_the_workspace_they_were_made_in() {
    let store = three().await;
    let (here, there) = (Path::new("/home/me/here"), Path::new("/home/me/there"));
    whole(&store.of_workspace([here]), &reading(call(4)), Outcome::ok("here")).await;
    whole(&store.of_workspace([there, here]), &reading(call(5)), Outcome::ok("there")).await;
    let listed = |root: Option<&Path>| {
        let filter = LogFilter { root: root.map(Path::to_owned), ..LogFilter::default() };
        let calls = store.log(&filter).unwrap();
        calls.into_iter().map(|it| (it.id, it.roots.join(" "))).collect::<Vec<_>>()
    };
    let (of_here, of_there) = ("/home/me/here", "/home/me/there /home/me/here");
    assert_eq!(listed(Some(here)), [(call(4), of_here.to_owned())]);
    assert_eq!(listed(Some(there)), [(call(5), of_there.to_owned())]);
    assert_eq!(listed(Some(Path::new("/home/me"))), []);
    let all = listed(None);
    assert_eq!(all.len(), 5);
    assert_eq!(all[4], (call(1), String::new()), "of this one nobody said where it was made");
    assert_eq!(store.show(&call(5).into()).unwrap().summary.roots.join(" "), of_there);
}

#[tokio::test]
async fn arguments_are_listed_whole_or_by_their_begin() {
    let store = three().await;
    let long = IntentRecord {
        arguments: json!({ "text": "é".repeat(3_000) }).into(),
        ..reading(call(4))
    };
    whole(&store, &long, Outcome::ok("")).await;
    let calls =
        store.log(&LogFilter { limit: NonZeroU32::new(2), ..LogFilter::default() }).unwrap();
    assert_eq!(calls[0].arguments, None);
    let head = calls[0].arguments_head.as_deref().unwrap();
    assert!(head.starts_with(r#"{"text":"éé"#) && head.chars().count() == 200, "{head}");
    assert_eq!(calls[1].arguments.as_ref(), Some(&*intent(call(3)).arguments));
    assert_eq!(calls[1].arguments_head, None);
}

#[tokio::test]
async fn calls_are_listed_latest_first_and_narrowed_by_each_filter() {
    let store = three().await;
    let all = LogFilter::default;
    let text = |text: &str| LogFilter { text: Some(text.to_owned()), ..all() };
    let tool = |tool: &str| LogFilter { tool: Some(tool.to_owned()), ..all() };
    for (filter, expected) in [
        (all(), vec![3, 2, 1]),
        (LogFilter { limit: NonZeroU32::new(2), ..all() }, vec![3, 2]),
        (tool("builtin/edit"), vec![3, 1]),
        (tool("read"), vec![2]),
        (tool("ead"), vec![]),
        (LogFilter { status: Some(CallStatus::Ok), ..all() }, vec![2, 1]),
        (LogFilter { status: Some(CallStatus::Running), ..all() }, vec![3]),
        (LogFilter { status: Some(CallStatus::Unknown), ..all() }, vec![]),
        (LogFilter { since: Some(days_ago(1)), ..all() }, vec![3, 1]),
        (LogFilter { run: Some(run(2)), ..all() }, vec![2]),
        (text("NOTES \"a_b\""), vec![1]),
        (text("a_b"), vec![1]),
        (text("axb"), vec![]),
        (text("100% d"), vec![1]),
        (text("100%d"), vec![]),
        (text("builtin/read"), vec![2]),
        (text(""), vec![3, 2, 1]),
    ] {
        let expected: Vec<_> = expected.into_iter().map(call).collect();
        assert_eq!(listed(&store, &filter), expected, "{filter:?}");
    }
}

#[tokio::test]
async fn a_call_is_shown_by_its_id_the_begin_or_end_of_it_and_as_the_last() {
    over_both(async |store| {
        for number in [0x1111_1111_1111, 0x2222_2222_2222, 0x3333_3332_2222] {
            begin(&store, call(number)).await;
        }
        let shown =
            |text: &str| store.show(&text.parse::<IdQuery>()?).map(|detail| detail.summary.id);
        let first = call(0x1111_1111_1111);
        assert_eq!(shown("last").unwrap(), call(0x3333_3332_2222));
        assert_eq!(shown(&first.to_string()).unwrap(), first);
        assert_eq!(shown(&first.to_string().to_uppercase()).unwrap(), first);
        assert_eq!(shown(&first.short()).unwrap(), first);
        assert!(matches!(shown("zzzz").unwrap_err(), StoreError::NoSuchCall { .. }));
        let ambiguous = shown(&first.to_string()[..8]).unwrap_err();
        let StoreError::AmbiguousCall { candidates, .. } = &ambiguous else {
            panic!("{ambiguous}")
        };
        assert_eq!(candidates.len(), 3);
        let tail = call(0x2222_2222_2222).to_string();
        let StoreError::AmbiguousCall { candidates, .. } = shown(&tail[22..]).unwrap_err() else {
            panic!()
        };
        assert_eq!(candidates, [call(0x3333_3332_2222).to_string(), tail]);
    })
    .await;
}

#[test]
fn what_cannot_be_an_id_is_refused_with_what_would_be_right() {
    for text in ["", "abc", "a%_b", "not an id", &"a".repeat(27)] {
        let error = text.parse::<IdQuery>().unwrap_err();
        assert!(matches!(error, StoreError::NotAnId { .. }), "{error}");
    }
    insta::assert_snapshot!("abc".parse::<IdQuery>().unwrap_err(), @"`abc` is not a call: expected `last`, an id, or at least 4 characters of its begin or end");
    insta::assert_snapshot!("done".parse::<CallStatus>().unwrap_err(), @"`done` is not a status: expected one of pending, waiting, running, unknown, not_started, ok, failed, denied, cancelled, timed_out");
}

#[tokio::test]
async fn an_empty_store_has_no_last_call() {
    over_both(async |store| {
        assert!(matches!(store.show(&IdQuery::Last), Err(StoreError::NoSuchCall { .. })));
    })
    .await;
}

#[tokio::test]
async fn a_call_is_shown_with_the_calls_it_made() {
    let store = three().await;
    let detail = store.show(&IdQuery::from(call(1))).unwrap();
    assert_eq!(detail.children.len(), 1);
    assert_eq!(detail.children[0].id, call(2));
    assert_eq!(store.show(&IdQuery::from(call(2))).unwrap().summary.parent, Some(call(1)));
}

#[tokio::test]
async fn open_tickets_are_those_that_an_answer_can_still_reach() {
    over_both(async |store| {
        for number in 1..=4 {
            begin(&store, call(number)).await;
        }
        let mut expired = ticket(1, call(1));
        expired.expires = days_ago(1);
        for ticket in [expired, ticket(2, call(2)), ticket(3, call(3)), ticket(4, call(4))] {
            store.append(Entry::Ticket(&ticket)).await.unwrap();
        }
        let answer = Entry::Answered { ticket: ticket_id(2), answer: "yes", at: now() };
        store.append(answer).await.unwrap();
        end(&store, call(3), Outcome::ok("x")).await.unwrap();
        let open: Vec<_> = store.open_tickets().unwrap().into_iter().map(|it| it.ticket).collect();
        assert_eq!(open, [ticket_id(4)]);
        assert_eq!(status(&store, call(1)), CallStatus::Pending);
        assert_eq!(status(&store, call(4)), CallStatus::Waiting);
    })
    .await;
}

#[tokio::test]
async fn a_question_outlives_its_process_and_a_call_before_its_start_does_not() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    for number in 1..=3 {
        begin(&store, call(number)).await;
    }
    store.append(Entry::Ticket(&ticket(1, call(1)))).await.unwrap();
    let mut expired = ticket(2, call(2));
    expired.expires = Timestamp::from_unix_ms(now().unix_ms() - DAY_MS);
    store.append(Entry::Ticket(&expired)).await.unwrap();
    drop(store);
    let store = open(dir.path());
    assert_eq!(status(&store, call(1)), CallStatus::Waiting);
    assert_eq!(status(&store, call(2)), CallStatus::NotStarted);
    assert_eq!(status(&store, call(3)), CallStatus::NotStarted);
    let answer = Entry::Answered { ticket: ticket_id(1), answer: "yes", at: now() };
    store.append(answer).await.unwrap();
    assert_eq!(status(&store, call(1)), CallStatus::Pending);
}

#[tokio::test]
async fn usage_counts_what_there_is() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let empty = store.usage().unwrap();
    assert_eq!((empty.calls, empty.oldest, empty.objects), (0, None, 0));
    let record = intent(call(1));
    whole(&store, &record, Outcome::ok("x")).await;
    let used = store.usage().unwrap();
    assert_eq!((used.calls, used.oldest), (1, Some(record.at)));
    assert!(used.database_bytes + used.log_bytes > 4_096);
    assert_eq!(used.dir.unwrap(), dir.path().canonicalize().unwrap());
    assert!(in_memory().usage().unwrap().database_bytes > 0);
}
