//! What the journal keeps, in both forms of the store.

use std::sync::Arc;

use haft_protocol::{
    Access, BindingRecord, Change, ChangeKind, ContentPart, Control, Decision, DecisionRecord,
    Denial, ErrorKind, Evidence, Failure, ImageType, LogicalPath, NoticeKind, Outcome,
    OutcomeRecord, Status, limits,
};
use haft_store::{CallStatus, IdQuery, LogFilter, Redaction, Retention, Store};
use haft_tool::ports::{Entry, Journal as _};
use serde_json::json;

use crate::support::{
    SECRET, attempt, begin, call, end, in_memory, intent, now, open, over_both, reading, start,
    status, ticket, ticket_id, whole, with_arguments,
};

#[tokio::test]
async fn a_call_is_on_record_as_it_went() {
    over_both(async |store| {
        let mut record = intent(call(1));
        record.bindings = vec![BindingRecord {
            slot: "path".to_owned(),
            given: "./a.txt".to_owned(),
            path: LogicalPath::new("a.txt"),
            access: Access::Write,
        }];
        record.decision =
            Some(DecisionRecord { decision: Decision::Allow, because: "preset edit".into() });
        let mut outcome = Outcome::ok("done\nin two lines");
        outcome.structured = Some(json!({ "lines": 3 }));
        outcome.changes = vec![Change {
            path: LogicalPath::new("a.txt"),
            kind: ChangeKind::Modified,
            evidence: Evidence::Recorded,
            before: None,
            after: None,
            not_restorable: None,
        }];
        outcome.notice(NoticeKind::Remark, "a remark");
        outcome.usage.run_ms = Some(7);
        whole(&store, &record, outcome.clone()).await;

        let detail = store.show(&IdQuery::from(call(1))).unwrap();
        assert_eq!(detail.intent, record);
        assert_eq!(detail.outcome.unwrap().outcome, outcome);
        assert_eq!(detail.attempts.len(), 1);
        assert_eq!(detail.summary.status, CallStatus::Ok);
        assert_eq!(detail.summary.head.as_deref(), Some("done"));
        assert_eq!(detail.summary.run_ms, Some(7));
        assert_eq!(detail.summary.tool, "builtin/edit");
    })
    .await;
}

#[tokio::test]
async fn a_private_key_spread_over_the_parts_of_an_outcome_is_taken_out() {
    over_both(async |store| {
        let mut outcome = Outcome::ok("1\t-----BEGIN PRIVATE KEY-----");
        outcome.content.push(ContentPart::text("2\tKEYa\n3\t-----END PRIVATE KEY-----\n4\tplain"));
        outcome.structured = Some(json!({ "lines": [
            { "number": 1, "text": "-----BEGIN PRIVATE KEY-----" }, { "number": 2, "text": "KEYa" },
        ] }));
        whole(&store, &intent(call(1)), outcome).await;
        let kept = store.show(&IdQuery::from(call(1))).unwrap().outcome.unwrap().outcome;
        assert_eq!(
            kept.content,
            [ContentPart::text("1\t[redacted]"), ContentPart::text("[redacted]\n4\tplain"),]
        );
        let lines = json!({ "lines": [
            { "number": 1, "text": "[redacted]" }, { "number": 2, "text": "[redacted]" },
        ] });
        assert_eq!(kept.structured, Some(lines));
    })
    .await;
}

#[tokio::test]
async fn the_status_follows_the_call() {
    over_both(async |store| {
        begin(&store, call(1)).await;
        assert_eq!(status(&store, call(1)), CallStatus::Pending);
        store.append(Entry::Ticket(&ticket(1, call(1)))).await.unwrap();
        assert_eq!(status(&store, call(1)), CallStatus::Waiting);
        let answered =
            Entry::Answered { ticket: ticket_id(1), answer: "approved by me", at: now() };
        store.append(answered).await.unwrap();
        assert_eq!(status(&store, call(1)), CallStatus::Pending);
        begin(&store, call(1)).await;
        start(&store, call(1)).await;
        assert_eq!(status(&store, call(1)), CallStatus::Running);
        end(&store, call(1), Outcome::new(Status::TimedOut { after_ms: 5 })).await.unwrap();
        assert_eq!(status(&store, call(1)), CallStatus::TimedOut);
    })
    .await;
}

#[tokio::test]
async fn endings_keep_their_kind_and_one_line() {
    over_both(async |store| {
        let failed =
            Outcome::from(Failure::new(ErrorKind::NotFound, "no file `a`\nlook elsewhere"));
        let denied = Outcome::from(Denial::new(Control::Policy, "rule 3 says no"));
        for (number, outcome) in [(1, failed), (2, denied), (3, Outcome::new(Status::Cancelled))] {
            begin(&store, call(number)).await;
            end(&store, call(number), outcome).await.unwrap();
        }
        let ends: Vec<_> = store
            .log(&LogFilter::default())
            .unwrap()
            .into_iter()
            .map(|call| {
                (call.status.as_str(), call.kind.unwrap_or_default(), call.head.unwrap_or_default())
            })
            .collect();
        insta::allow_duplicates! {
            insta::assert_debug_snapshot!(ends, @r#"
            [
                (
                    "cancelled",
                    "",
                    "",
                ),
                (
                    "denied",
                    "policy",
                    "rule 3 says no",
                ),
                (
                    "failed",
                    "not_found",
                    "no file `a`",
                ),
            ]
            "#);
        }
    })
    .await;
}

#[tokio::test]
async fn an_intent_is_replaced_until_the_call_starts() {
    over_both(async |store| {
        begin(&store, call(1)).await;
        let again = with_arguments(call(1), json!({ "path": "b.txt" }));
        store.append(Entry::Intent(&again)).await.unwrap();
        assert_eq!(
            *store.show(&IdQuery::Last).unwrap().intent.arguments,
            json!({ "path": "b.txt" })
        );
        start(&store, call(1)).await;
        let error = store.append(Entry::Intent(&again)).await.unwrap_err();
        assert!(error.to_string().ends_with("has started already"), "{error}");
    })
    .await;
}

#[tokio::test]
async fn a_ticket_is_answered_once() {
    over_both(async |store| {
        begin(&store, call(1)).await;
        store.append(Entry::Ticket(&ticket(1, call(1)))).await.unwrap();
        let answer = |text| Entry::Answered { ticket: ticket_id(1), answer: text, at: now() };
        store.append(answer("approved by me")).await.unwrap();
        let second = store.append(answer("refused")).await.unwrap_err().to_string();
        assert!(second.contains("was answered already (approved by me)"), "{second}");
        let unknown = Entry::Answered { ticket: ticket_id(2), answer: "yes", at: now() };
        let unknown = store.append(unknown).await.unwrap_err().to_string();
        assert!(unknown.ends_with("is not on record"), "{unknown}");
        let detail = store.show(&IdQuery::Last).unwrap();
        assert_eq!(detail.tickets.len(), 1);
        assert_eq!(detail.tickets[0].answer.as_deref(), Some("approved by me"));
        assert_eq!(detail.tickets[0].record, ticket_as_asked(&detail.tickets[0].record));
    })
    .await;
}

fn ticket_as_asked(kept: &haft_protocol::TicketRecord) -> haft_protocol::TicketRecord {
    haft_protocol::TicketRecord { expires: kept.expires, ..ticket(1, call(1)) }
}

#[tokio::test]
async fn only_one_of_many_answers_counts() {
    over_both(async |store| {
        begin(&store, call(1)).await;
        store.append(Entry::Ticket(&ticket(1, call(1)))).await.unwrap();
        let answers = (0..16).map(|_| {
            store.append(Entry::Answered { ticket: ticket_id(1), answer: "yes", at: now() })
        });
        let answers = futures_util::future::join_all(answers).await;
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
    })
    .await;
}

#[tokio::test]
async fn what_cannot_follow_the_record_is_refused_and_leaves_nothing() {
    over_both(async |store| {
        let unknown = store.append(Entry::Started(&attempt(call(1), 1))).await.unwrap_err();
        assert!(unknown.to_string().contains("is not on record"), "{unknown}");
        let unknown = end(&store, call(1), Outcome::ok("x")).await.unwrap_err();
        assert!(unknown.to_string().contains("is not on record"), "{unknown}");

        begin(&store, call(1)).await;
        start(&store, call(1)).await;
        let twice = store.append(Entry::Started(&attempt(call(1), 1))).await.unwrap_err();
        assert!(twice.to_string().contains("contradicts what is on record"), "{twice}");
        let late = store.append(Entry::Ticket(&ticket(1, call(1)))).await.unwrap_err();
        assert!(late.to_string().contains("has started already"), "{late}");
        store.append(Entry::Started(&attempt(call(1), 2))).await.unwrap();
        end(&store, call(1), Outcome::ok("first")).await.unwrap();
        let twice = end(&store, call(1), Outcome::ok("second")).await.unwrap_err();
        assert!(twice.to_string().contains("has ended already (ok)"), "{twice}");

        let detail = store.show(&IdQuery::Last).unwrap();
        assert_eq!((detail.attempts.len(), detail.tickets.len()), (2, 0));
        assert_eq!(detail.outcome.unwrap().outcome, Outcome::ok("first"));
    })
    .await;
}

#[tokio::test]
async fn a_refused_entry_does_not_take_its_neighbours_with_it() {
    over_both(async |store| {
        begin(&store, call(0)).await;
        let entries: Vec<_> = (0..100)
            .map(|number| OutcomeRecord {
                call: call(number % 50),
                at: now(),
                outcome: Outcome::ok("x"),
            })
            .collect();
        for number in 1..50 {
            begin(&store, call(number)).await;
        }
        let appended = entries.iter().map(|record| store.append(Entry::Outcome(record)));
        let appended = futures_util::future::join_all(appended).await;
        assert_eq!(appended.iter().filter(|result| result.is_ok()).count(), 50);
        let ended = LogFilter { status: Some(CallStatus::Ok), ..LogFilter::default() };
        assert_eq!(store.log(&ended).unwrap().len(), 50);
    })
    .await;
}

#[tokio::test]
async fn the_begin_of_a_reading_call_is_in_line_before_its_outcome() {
    over_both(async |store| {
        for number in 0..100 {
            whole(&store, &reading(call(number)), Outcome::ok("text")).await;
        }
        let detail = store.show(&IdQuery::from(call(99))).unwrap();
        assert_eq!(detail.attempts.len(), 1);
        assert_eq!(store.usage().unwrap().calls, 100);
    })
    .await;
}

#[tokio::test]
async fn the_lost_begin_of_a_reading_call_is_told_at_its_outcome() {
    over_both(async |store| {
        whole(&store, &reading(call(1)), Outcome::ok("text")).await;
        // The id is taken: nobody waits for this intent, and it cannot be kept.
        store.append(Entry::Intent(&reading(call(1)))).await.unwrap();
        store.append(Entry::Started(&attempt(call(1), 1))).await.unwrap();
        let error = end(&store, call(1), Outcome::ok("other")).await.unwrap_err().to_string();
        assert!(error.contains("an earlier record of this call was not kept"), "{error}");
        assert_eq!(
            store.show(&IdQuery::Last).unwrap().outcome.unwrap().outcome,
            Outcome::ok("text")
        );
    })
    .await;
}

#[tokio::test]
async fn what_is_in_line_is_written_when_the_store_is_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    for number in 0..500 {
        store.append(Entry::Intent(&reading(call(number)))).await.unwrap();
    }
    drop(store);
    assert_eq!(open(dir.path()).usage().unwrap().calls, 500);
}

#[tokio::test]
async fn o_050_secrets_are_in_no_record() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let mut record = with_arguments(
        call(1),
        json!({ "password": "hunter2", "command": format!("curl -u me:{SECRET} https://me:hunter2@host"), SECRET: 1 }),
    );
    record.caller.principal = format!("client {SECRET}").into();
    record.decision = Some(DecisionRecord { decision: Decision::Ask, because: SECRET.into() });
    record.bindings = vec![BindingRecord {
        slot: "path".to_owned(),
        given: SECRET.to_owned(),
        path: LogicalPath::new(SECRET),
        access: Access::Read,
    }];
    let mut asked = ticket(1, call(1));
    asked.because = format!("asks about {SECRET}");
    asked.bindings = record.bindings.clone();
    store.append(Entry::Intent(&record)).await.unwrap();
    store.append(Entry::Ticket(&asked)).await.unwrap();
    let answer = format!("no, {SECRET}");
    store
        .append(Entry::Answered { ticket: ticket_id(1), answer: &answer, at: now() })
        .await
        .unwrap();
    let mut outcome = Outcome::from(Failure::new(ErrorKind::Upstream, SECRET).hint(SECRET));
    outcome.content.push(ContentPart::text(format!("token={SECRET}\npassword=hunter2")));
    outcome.structured = Some(json!({ "env": { "API_KEY": "hunter2", "x": SECRET } }));
    outcome.notice(NoticeKind::Remark, SECRET);
    end(&store, call(1), outcome).await.unwrap();

    let unknown = haft_protocol::IntentRecord {
        tool: Err(format!("tool {SECRET}")),
        arguments: json!(format!("{{\"password\": \"hunter2\", \"x\": \"{SECRET}")).into(),
        ..intent(call(2))
    };
    store.append(Entry::Intent(&unknown)).await.unwrap();
    drop(store);

    let mut files = 0;
    for entry in std::fs::read_dir(dir.path()).unwrap().flatten() {
        let Ok(bytes) = std::fs::read(entry.path()) else { continue };
        files += 1;
        for secret in [SECRET, "hunter2"] {
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "`{secret}` is in {}", entry.path().display());
        }
    }
    assert!(files > 0);
    let kept = open(dir.path()).show(&IdQuery::from(call(1))).unwrap();
    assert_eq!(kept.intent.arguments_digest, record.arguments_digest);
    insta::assert_snapshot!(kept.intent.arguments, @r#"{"password":"[redacted]","command":"curl -u me:[redacted] https://me:[redacted]@host","[redacted]":1}"#);
}

#[tokio::test]
async fn arguments_can_be_left_out_of_records() {
    let redaction = Redaction::new([]).unwrap().without_arguments();
    let store = Store::in_memory(Retention::default(), redaction).unwrap();
    let mut record = with_arguments(call(1), json!({ "path": "./a.txt" }));
    record.bindings = vec![BindingRecord {
        slot: "path".to_owned(),
        given: "./a.txt".to_owned(),
        path: LogicalPath::new("a.txt"),
        access: Access::Read,
    }];
    store.append(Entry::Intent(&record)).await.unwrap();
    let kept = store.show(&IdQuery::from(call(1))).unwrap().intent;
    assert_eq!(*kept.arguments, "[not recorded]");
    assert_eq!(
        (&*kept.bindings[0].given, kept.bindings[0].path.as_str()),
        ("[not recorded]", "a.txt")
    );
    assert_eq!(kept.arguments_digest, record.arguments_digest);
}

#[tokio::test]
async fn long_texts_are_cut_and_images_are_left_out() {
    over_both(async |store| {
        let long = "x".repeat(limits::RECORD_TEXT_BYTES * 4);
        let mut outcome = Outcome::ok(long.clone());
        outcome.content.push(ContentPart::Image { media_type: ImageType::Png, data: Arc::from(&b"\x89PNG"[..]) });
        outcome.structured = Some(json!({ "text": long }));
        begin(&store, call(1)).await;
        end(&store, call(1), outcome).await.unwrap();
        let kept = store.show(&IdQuery::Last).unwrap().outcome.unwrap().outcome;
        let text = kept.content[0].as_text().unwrap();
        assert!(text.starts_with("xxx") && text.len() < limits::RECORD_TEXT_BYTES + 200);
        insta::allow_duplicates! {
            insta::assert_snapshot!(text.trim_start_matches('x'), @"
            
            [… the first part of 65536 bytes, sha256 1f8745f0d2d1387ec1af2211a3cf417b2e9e885e853472649c1d979d0e9370e3]
            ");
            insta::assert_snapshot!(kept.content[1].as_text().unwrap(), @"[image/png, 4 bytes, sha256 0f4636c78f65d3639ece5a064b5ae753e3408614a14fb18ab4d7540d2c248543; not kept in the record]");
        }
        assert!(kept.structured.unwrap()["text"].as_str().unwrap().len() < limits::RECORD_TEXT_BYTES + 200);
    })
    .await;
}

#[tokio::test]
async fn a_secret_at_the_cut_is_not_kept_in_part() {
    over_both(async |store| {
        let mut number = 0;
        for before in (limits::RECORD_TEXT_BYTES - SECRET.len() - 2)..=limits::RECORD_TEXT_BYTES {
            let text =
                format!("{}{SECRET}{}", "x".repeat(before), "y".repeat(limits::RECORD_TEXT_BYTES));
            number += 1;
            begin(&store, call(number)).await;
            end(&store, call(number), Outcome::ok(text)).await.unwrap();
            let kept = store.show(&IdQuery::from(call(number))).unwrap().outcome.unwrap().outcome;
            assert!(!kept.content[0].as_text().unwrap().contains("SEC"), "after {before} bytes");
        }
        // Redaction makes room, and what moves up into it may have been cut by the window.
        let key =
            format!("-----BEGIN PRIVATE KEY-----{}-----END PRIVATE KEY-----", "k".repeat(12_000));
        let fill = limits::RECORD_TEXT_BYTES + 4 * 1024 - key.len() - 4;
        begin(&store, call(500)).await;
        end(
            &store,
            call(500),
            Outcome::ok(format!("{key}{}{SECRET}{}", "x".repeat(fill), "y".repeat(90_000))),
        )
        .await
        .unwrap();
        let kept = store.show(&IdQuery::from(call(500))).unwrap().outcome.unwrap().outcome;
        assert!(!kept.content[0].as_text().unwrap().contains("SEC"));
    })
    .await;
}

#[tokio::test]
async fn records_of_any_size_and_depth_are_kept_in_bounds() {
    let store = in_memory();
    let mut deep = json!("leaf");
    for _ in 0..3_000 {
        deep = serde_json::Value::Array(vec![deep]);
    }
    let mut record = with_arguments(call(1), deep);
    store.append(Entry::Intent(&record)).await.unwrap();
    std::mem::forget(std::mem::take(&mut record.arguments));

    let wide = json!((0..300_000).collect::<Vec<u32>>());
    store.append(Entry::Intent(&with_arguments(call(2), wide))).await.unwrap();
    let heavy = json!(vec!["y".repeat(100_000); 50]);
    store.append(Entry::Intent(&with_arguments(call(3), heavy))).await.unwrap();

    let mut outcome = Outcome::ok("x");
    outcome.content = vec![ContentPart::text("part"); 1_000];
    outcome.changes = vec![
        Change {
            path: LogicalPath::new("a"),
            kind: ChangeKind::Created,
            evidence: Evidence::Observed,
            before: None,
            after: None,
            not_restorable: None,
        };
        20_000
    ];
    end(&store, call(3), outcome).await.unwrap();

    let size = |number| {
        store.show(&IdQuery::from(call(number))).unwrap().intent.arguments.to_string().len()
    };
    assert!(size(1) < 1_000, "{}", size(1));
    assert!(size(2) < 1_000_000, "{}", size(2));
    assert!(size(3) < limits::RECORD_BYTES + 50_000, "{}", size(3));
    let kept = store.show(&IdQuery::from(call(3))).unwrap().outcome.unwrap().outcome;
    assert_eq!(kept.changes.len(), limits::RECORD_CHANGES);
    let notices: Vec<_> = kept.notices.iter().map(|notice| notice.text.as_str()).collect();
    insta::assert_debug_snapshot!(notices, @r#"
    [
        "744 of 1000 parts are not in the record",
        "10000 of 20000 changes are not in the record",
    ]
    "#);
}

#[tokio::test]
async fn two_stores_on_one_directory_see_each_others_calls() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (open(dir.path()), open(dir.path()));
    let both = [&one, &two];
    for number in 0..40 {
        let store = both[number as usize % 2];
        whole(store, &intent(call(number)), Outcome::ok("x")).await;
    }
    for store in both {
        assert_eq!(store.usage().unwrap().calls, 40);
    }
    begin(&one, call(100)).await;
    start(&one, call(100)).await;
    assert_eq!(status(&two, call(100)), CallStatus::Running);
    drop(one);
    assert_eq!(status(&two, call(100)), CallStatus::Unknown);
}
