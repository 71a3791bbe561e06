//! Runs: kept, listed, found, gone on with and forked.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::Path;

use haft_protocol::{
    CallId, ContentPart, Digest, MessageId, ModelId, Outcome, RunEntry, RunFacts, RunId, StopCause,
    Stopped, Timestamp, UsageTotal, UserMessage, limits,
};
use haft_store::{
    IdQuery, Retention, RunFilter, RunQuery, RunState, RunWriter, Runs, Store, StoreError,
};
use haft_tool::ports::{Entry, Journal as _};
use serde_json::json;

use crate::run_entries::{a_reply, an_image};
use crate::support::{
    SECRET, call, days_ago, end, in_memory, intent, now, open, open_keeping, over_both, redaction,
    run, ticket, ticket_id, whole,
};

pub(crate) fn facts(run: RunId) -> RunFacts {
    RunFacts {
        run,
        at: Timestamp::from_unix_ms(1_700_000_000_000),
        title: "fix the bug".to_owned(),
        model: ModelId::new("local", "a/model").unwrap(),
        roots: vec!["/home/me/here".to_owned()],
        preset: "edit".to_owned(),
        tools: None,
        toolset: None,
        policy: Digest::of_bytes("policy"),
        system: Digest::of_bytes("system"),
        forked_from: None,
        parent: None,
        branch: None,
        within: None,
    }
}

pub(crate) fn said(number: u128, text: &str) -> RunEntry {
    RunEntry::Said(UserMessage {
        id: MessageId::from_parts(1, number),
        at: now(),
        content: vec![ContentPart::text(text)],
        notices: Vec::new(),
    })
}

pub(crate) fn stopped(cause: StopCause) -> RunEntry {
    RunEntry::Stopped(Stopped { at: now(), cause, usage: UsageTotal::default() })
}

/// Keeps a run of these entries behind its begin, and closes it.
pub(crate) async fn kept(runs: &Runs, facts: &RunFacts, entries: &[RunEntry]) {
    let writer = runs.begin(facts).unwrap();
    append(&writer, entries).await;
    writer.close().await.unwrap();
}

pub(crate) async fn append(writer: &RunWriter, entries: &[RunEntry]) {
    for entry in entries {
        writer.append(entry).await.unwrap();
    }
}

/// Returns the entries of a run behind its begin, of which all can be read.
pub(crate) fn behind_begin(runs: &Runs, run: RunId) -> Vec<RunEntry> {
    let read = runs.read(run).unwrap();
    assert_eq!(read.unreadable, None);
    read.entries[1..].to_vec()
}

fn listed(runs: &Runs, filter: &RunFilter) -> Vec<RunId> {
    runs.list(filter).unwrap().into_iter().map(|run| run.id).collect()
}

#[tokio::test]
async fn a_run_is_gone_on_with_where_it_stopped() {
    over_both(async |store| {
        let runs = store.runs();
        let first = [said(1, "fix it"), a_reply(2, call(1)), an_image(call(1), 10)];
        kept(&runs, &facts(run(1)), &first).await;
        let opened = runs.open_to_go_on(run(1)).unwrap();
        assert_eq!(opened.entries[1..], first);
        assert_eq!(opened.unreadable, None);
        let more = [RunEntry::Resumed { at: now() }, said(3, "and now?")];
        append(&opened.writer, &more).await;
        assert_eq!(behind_begin(&runs, run(1)), [&first[..], &more].concat());
    })
    .await;
}

#[tokio::test]
async fn a_run_begins_once() {
    over_both(async |store| {
        let runs = store.runs();
        let writer = runs.begin(&facts(run(1))).unwrap();
        let again = runs.begin(&facts(run(1))).unwrap_err().to_string();
        assert!(again.starts_with("there is a run "), "{again}");
        let again = writer.append(&RunEntry::Began(facts(run(1)))).await.unwrap_err().to_string();
        assert!(again.ends_with("has begun already"), "{again}");
        assert_eq!(behind_begin(&runs, run(1)), []);
    })
    .await;
}

#[tokio::test]
async fn what_is_large_lies_in_a_file_and_comes_back_whole() {
    over_both(async |store| {
        let runs = store.runs();
        let long = "é".repeat(limits::RUN_ENTRY_INLINE_BYTES);
        let entries = [said(1, &long), an_image(call(1), 300_000), said(2, "short")];
        kept(&runs, &facts(run(1)), &entries).await;
        kept(&runs, &facts(run(2)), &entries[..1]).await;
        assert_eq!(behind_begin(&runs, run(1)), entries);
        assert_eq!(behind_begin(&runs, run(2)), entries[..1]);
        let usage = store.usage().unwrap();
        assert_eq!((usage.runs, usage.objects), (2, 2));
        assert!(usage.object_bytes > 600_000 && usage.run_bytes > 900_000, "{usage:?}");
    })
    .await;
}

#[tokio::test]
async fn what_would_not_come_back_is_refused_before_it_is_kept() {
    let runs = in_memory().runs();
    let writer = runs.begin(&facts(run(1))).unwrap();
    let deep = (0..500).fold(json!(1), |inner, _| json!([inner]));
    let mut outcome = Outcome::ok("deep");
    outcome.structured = Some(deep);
    let deep = RunEntry::Ended { call: call(1), outcome: Box::new(outcome) };
    insta::assert_snapshot!(writer.append(&deep).await.unwrap_err(), @"a run's entry `ended` would not come back as it is: its data is nested too deeply");
    let large = said(1, &"x".repeat(limits::RUN_ENTRY_BYTES));
    let large = writer.append(&large).await.unwrap_err().to_string();
    assert!(large.ends_with("it may have 67108864"), "{large}");
    assert_eq!(behind_begin(&runs, run(1)), []);
}

#[tokio::test]
async fn entries_are_not_redacted_and_what_listings_show_is() {
    over_both(async |store| {
        let runs = store.runs();
        let facts = RunFacts { title: format!("use {SECRET}\nsecond line"), ..facts(run(1)) };
        let text = format!("the key is {SECRET}");
        let entries = [said(1, &text), stopped(StopCause::Refused { text: text.clone() })];
        kept(&runs, &facts, &entries).await;
        assert_eq!(runs.read(run(1)).unwrap().entries[0], RunEntry::Began(facts));
        assert_eq!(behind_begin(&runs, run(1)), entries);
        let summary = runs.find(&RunQuery::Last).unwrap();
        assert_eq!(summary.title, "use [redacted]");
        let text = "the key is [redacted]".to_owned();
        assert_eq!(summary.state, RunState::Stopped(StopCause::Refused { text }));
    })
    .await;
}

#[tokio::test]
async fn runs_are_listed_by_their_last_entry_with_how_they_stand_and_what_they_took() {
    over_both(async |store| {
        let here = store.of_workspace([Path::new("/home/me/here")]).runs();
        let there = store.of_workspace([Path::new("/home/me/there")]).runs();
        kept(&here, &facts(run(1)), &[a_reply(1, call(1)), an_image(call(1), 1)]).await;
        let sub = RunFacts { parent: Some(call(1)), ..facts(run(2)) };
        kept(&here, &sub, &[stopped(StopCause::Done)]).await;
        let writer = there.begin(&facts(run(3))).unwrap();
        append(&writer, &[a_reply(1, call(2)), a_reply(2, call(3))]).await;
        let late = RunEntry::Resumed { at: Timestamp::from_unix_ms(now().unix_ms() + 60_000) };
        writer.append(&late).await.unwrap();

        let all = RunFilter { with_subagents: true, ..RunFilter::default() };
        assert_eq!(listed(&here, &all), [run(3), run(2), run(1)]);
        assert_eq!(listed(&here, &RunFilter::default()), [run(3), run(1)]);
        let one = RunFilter { limit: NonZeroU32::new(1), ..RunFilter::default() };
        assert_eq!(listed(&here, &one), [run(3)]);
        let root = RunFilter { root: Some("/home/me/here".into()), ..RunFilter::default() };
        assert_eq!(listed(&there, &root), [run(1)]);
        let since = RunFilter {
            since: Some(Timestamp::from_unix_ms(now().unix_ms() + 1_000)),
            ..RunFilter::default()
        };
        assert_eq!(listed(&here, &since), [run(3)]);

        assert_eq!(here.find(&RunQuery::Last).unwrap().id, run(3));
        assert_eq!(here.last_of_workspace().unwrap().unwrap().id, run(1));
        assert_eq!(store.runs().last_of_workspace().unwrap(), None);
        let runs = here.list(&all).unwrap();
        let RunState::Running { pid, .. } = runs[0].state else { panic!("{:?}", runs[0]) };
        assert_eq!(pid, std::process::id());
        assert_eq!((runs[0].usage.requests, runs[0].usage.input, runs[0].calls), (2, 20, 0));
        assert_eq!(runs[0].roots, ["/home/me/there"]);
        assert_eq!(runs[1].state, RunState::Stopped(StopCause::Done));
        assert_eq!(runs[1].parent, Some(call(1)));
        assert_eq!(runs[2].state, RunState::CutShort);
        assert_eq!((runs[2].calls, runs[2].entries), (1, 3));
        writer.close().await.unwrap();
        assert_eq!(here.find(&run(3).into()).unwrap().state, RunState::CutShort);

        // What a call began is found by that call, and by the run of it as soon as the call is on record.
        assert_eq!(here.begun_by(call(1)).unwrap().unwrap().id, run(2));
        assert_eq!(here.begun_by(call(2)).unwrap(), None);
        assert_eq!(here.beneath(run(1)).unwrap(), []);
        let mut intent = intent(call(1));
        intent.caller.run = run(1);
        store.append(Entry::Intent(&intent)).await.unwrap();
        let [sub] = here.beneath(run(1)).unwrap().try_into().unwrap();
        assert_eq!((sub.id, sub.parent_run), (run(2), Some(run(1))));
    })
    .await;
}

#[test]
fn a_title_is_one_line_and_not_endless() {
    let runs = in_memory().runs();
    for (number, (title, shown)) in [
        ("\n  one  \ntwo", "one".to_owned()),
        ("", String::new()),
        (&"é".repeat(100_000), "é".repeat(250)),
        (&format!("{}{SECRET}", "x".repeat(495)), format!("{}[reda", "x".repeat(495))),
    ]
    .into_iter()
    .enumerate()
    {
        let id = run(number as u128);
        drop(runs.begin(&RunFacts { title: title.to_owned(), ..facts(id) }).unwrap());
        assert_eq!(runs.find(&id.into()).unwrap().title, shown);
    }
}

#[tokio::test]
async fn a_run_that_stopped_before_a_model_was_asked_is_listed_and_is_not_the_last_one() {
    over_both(async |store| {
        let here = store.of_workspace([Path::new("/home/me/here")]).runs();
        kept(&here, &facts(run(1)), &[said(1, "look"), a_reply(2, call(1))]).await;
        let refused = [said(3, "look"), stopped(StopCause::Window { text: "full".to_owned() })];
        kept(&here, &facts(run(2)), &refused).await;
        assert_eq!(here.last_of_workspace().unwrap().unwrap().id, run(1));
        assert_eq!(listed(&here, &RunFilter::default()), [run(2), run(1)]);
        let asked = RunFilter { asked: true, ..RunFilter::default() };
        assert_eq!(listed(&here, &asked), [run(1)]);
        kept(&here, &facts(run(3)), &refused[..1]).await;
        assert_eq!(here.last_of_workspace().unwrap().unwrap().id, run(3), "it was cut short");
    })
    .await;
}

#[tokio::test]
async fn what_a_run_took_is_what_its_stop_says_and_more_from_then_on() {
    let runs = in_memory().runs();
    let writer = runs.begin(&facts(run(1))).unwrap();
    let usage = UsageTotal { requests: 7, input: 100, ..UsageTotal::default() };
    let stop = RunEntry::Stopped(Stopped { at: now(), cause: StopCause::Done, usage });
    append(&writer, &[a_reply(1, call(1)), stop, a_reply(2, call(2))]).await;
    let run = runs.find(&RunQuery::Last).unwrap();
    assert_eq!((run.usage.requests, run.usage.input, run.usage.output), (8, 110, 5));
    writer.close().await.unwrap();
    assert_eq!(runs.find(&RunQuery::Last).unwrap().state, RunState::CutShort);
}

#[tokio::test]
async fn a_run_is_found_by_its_id_the_begin_or_end_of_it_and_as_the_last() {
    over_both(async |store| {
        let runs = store.runs();
        let ids = [0x1111_1111_1111, 0x2222_2222_2222, 0x3333_3332_2222].map(run);
        for id in ids {
            kept(&runs, &facts(id), &[]).await;
        }
        let found = |text: &str| runs.find(&text.parse::<RunQuery>()?).map(|run| run.id);
        assert_eq!(found("LAST").unwrap(), ids[2]);
        for text in [ids[0].to_string(), ids[0].to_string().to_uppercase(), ids[0].short()] {
            assert_eq!(found(&text).unwrap(), ids[0]);
        }
        assert!(matches!(found("zzzz").unwrap_err(), StoreError::NoSuchRun { .. }));
        let StoreError::AmbiguousRun { candidates, .. } =
            found(&ids[0].to_string()[..8]).unwrap_err()
        else {
            panic!()
        };
        assert_eq!(candidates.len(), 3);
        assert!(matches!(found("a_b!").unwrap_err(), StoreError::NotARun { .. }));
        assert!(matches!(runs.read(run(9)).unwrap_err(), StoreError::NoSuchRun { .. }));
        assert!(matches!(runs.open_to_go_on(run(9)).unwrap_err(), StoreError::NoSuchRun { .. }));
    })
    .await;
}

#[tokio::test]
async fn a_fork_shares_the_first_entries_and_leaves_the_other_run_alone() {
    over_both(async |store| {
        let runs = store.runs();
        let long = "x".repeat(200_000);
        let entries =
            [said(1, &long), a_reply(2, call(1)), an_image(call(1), 10), said(3, "go on")];
        let source = runs.begin(&facts(run(1))).unwrap();
        append(&source, &entries).await;

        let fork = runs.fork(run(1), Some(3), &facts(run(2))).unwrap();
        assert_eq!(fork.entries[1..], entries[..2]);
        let RunEntry::Began(began) = &fork.entries[0] else { panic!() };
        assert_eq!((began.run, began.forked_from), (run(2), Some((run(1), 3))));
        append(&fork.writer, &[said(4, "another way")]).await;
        append(&source, &[said(5, "as before")]).await;
        let forked = behind_begin(&runs, run(2));
        assert_eq!(forked[..2], entries[..2]);
        assert_eq!(forked.len(), 3);
        assert_eq!(behind_begin(&runs, run(1)).len(), 5);
        let summary = runs.find(&run(2).into()).unwrap();
        assert_eq!(summary.forked_from, Some((run(1), 3)));
        assert_eq!((summary.entries, summary.usage.requests), (4, 0));
        assert!(summary.bytes > 200_000);

        let all = runs.fork(run(2), None, &facts(run(3))).unwrap();
        assert_eq!(all.entries[1..], forked);
        assert_eq!(behind_begin(&runs, run(3)), forked);
        let taken = runs.fork(run(2), None, &facts(run(1))).unwrap_err().to_string();
        assert!(taken.starts_with("there is a run "), "{taken}");
    })
    .await;
}

/// Makes a run whose entries were made so many days ago, with one call.
async fn old_run(store: &Store, number: u128, days: u64, text: &str) {
    let at = days_ago(days);
    let facts = RunFacts { at, ..facts(run(number)) };
    let mut entry = said(number, text);
    if let RunEntry::Said(message) = &mut entry {
        message.at = at;
    }
    kept(&store.runs(), &facts, &[entry]).await;
    let mut record = intent(call(number));
    record.caller.run = run(number);
    record.at = at;
    whole(store, &record, Outcome::ok("x")).await;
}

fn keeping(days: u32, runs: u64, run_bytes: u64) -> Retention {
    Retention {
        days: NonZeroU32::new(days).unwrap(),
        calls: NonZeroU64::new(1).unwrap(),
        runs: NonZeroU64::new(runs).unwrap(),
        run_bytes: NonZeroU64::new(run_bytes).unwrap(),
        ..Retention::default()
    }
}

fn has_call(store: &Store, id: CallId) -> bool {
    store.show(&IdQuery::from(id)).is_ok()
}

#[tokio::test]
async fn old_runs_go_with_their_calls_and_a_call_stays_as_long_as_its_run() {
    let dir = tempfile::tempdir().unwrap();
    let store = open_keeping(dir.path(), keeping(10, 100, 1_000_000_000));
    let long = "x".repeat(200_000);
    for (number, days) in [(1, 30), (2, 20), (3, 5), (4, 1)] {
        old_run(&store, number, days, &long).await;
    }
    let held = store.runs().open_to_go_on(run(2)).unwrap();
    let preview = store.gc_preview(now()).unwrap();
    let report = store.gc(now()).unwrap();
    assert_eq!(preview, report);
    assert_eq!((report.runs, report.calls, report.objects), (1, 1, 1));
    assert_eq!(listed(&store.runs(), &RunFilter::default()), [run(4), run(3), run(2)]);
    for (number, is_there) in [(1, false), (2, true), (3, true), (4, true)] {
        assert_eq!(has_call(&store, call(number)), is_there, "{number}");
    }
    assert_eq!(held.entries.len(), 2);
    assert_eq!(behind_begin(&store.runs(), run(4)).len(), 1);
    assert_eq!(store.gc(now()).unwrap().runs, 0);
}

#[tokio::test]
async fn a_run_whose_question_can_still_be_answered_stays() {
    let dir = tempfile::tempdir().unwrap();
    let store = open_keeping(dir.path(), keeping(10, 100, 1_000_000_000));
    let at = days_ago(30);
    kept(&store.runs(), &RunFacts { at, ..facts(run(1)) }, &[]).await;
    let mut record = intent(call(1));
    record.caller.run = run(1);
    record.at = at;
    store.append(Entry::Intent(&record)).await.unwrap();
    store.append(Entry::Ticket(&ticket(1, call(1)))).await.unwrap();
    assert_eq!(store.gc(now()).unwrap().runs, 0);
    let answer = Entry::Answered { ticket: ticket_id(1), answer: "no", at: now() };
    store.append(answer).await.unwrap();
    end(&store, call(1), Outcome::ok("x")).await.unwrap();
    let report = store.gc(now()).unwrap();
    assert_eq!((report.runs, report.calls), (1, 1));
}

#[tokio::test]
async fn runs_stay_within_their_number_and_their_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    for number in 1..=5 {
        old_run(&store, number, 6 - number as u64, &"x".repeat(100_000)).await;
    }
    let shared = store.runs().fork(run(1), None, &facts(run(9))).unwrap();
    drop(shared);
    drop(store);
    let store = open_keeping(dir.path(), keeping(3_000, 4, 1_000_000_000));
    assert_eq!(store.gc(now()).unwrap().runs, 2);
    assert_eq!(listed(&store.runs(), &RunFilter::default()), [run(5), run(4), run(3), run(2)]);
    drop(store);
    let store = open_keeping(dir.path(), keeping(3_000, 4, 250_000));
    assert_eq!(store.gc(now()).unwrap().runs, 2);
    assert_eq!(listed(&store.runs(), &RunFilter::default()), [run(5), run(4)]);
}

#[tokio::test]
async fn what_is_written_of_a_run_makes_room_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let store = open_keeping(dir.path(), keeping(3_000, 3, 450_000));
    for number in 1..=4 {
        old_run(&store, number, 6 - number as u64, &"x".repeat(100_000)).await;
    }
    // As many as are kept.
    assert_eq!(listed(&store.runs(), &RunFilter::default()), [run(4), run(3), run(2)]);
    // The bytes of an entry make room for themselves, and what is open stays, however much it is.
    let writer = store.runs().begin(&facts(run(9))).unwrap();
    assert_eq!(listed(&store.runs(), &RunFilter::default()), [run(4), run(3), run(9)]);
    append(&writer, &[said(1, &"x".repeat(200_000))]).await;
    append(&writer, &[said(2, &"x".repeat(100_000))]).await;
    assert_eq!(listed(&store.runs(), &RunFilter::default()), [run(9), run(4)]);
    append(&writer, &[said(3, &"x".repeat(600_000))]).await;
    assert_eq!(listed(&store.runs(), &RunFilter::default()), [run(9)]);
    assert_eq!(behind_begin(&store.runs(), run(9)).len(), 3);
}

#[tokio::test]
async fn content_that_another_run_shares_stays() {
    let dir = tempfile::tempdir().unwrap();
    let store = open_keeping(dir.path(), keeping(10, 100, 1_000_000_000));
    old_run(&store, 1, 30, &"x".repeat(200_000)).await;
    let fork = store.runs().fork(run(1), None, &RunFacts { at: now(), ..facts(run(2)) }).unwrap();
    let report = store.gc(now()).unwrap();
    assert_eq!((report.runs, report.objects), (1, 0));
    assert_eq!(behind_begin(&store.runs(), run(2)), fork.entries[1..]);
}

#[test]
fn a_store_that_only_looks_reads_runs_and_begins_none() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    drop(store.runs().begin(&facts(run(1))).unwrap());
    drop(store);
    let config = haft_store::StoreConfig {
        dir: dir.path().to_owned(),
        retention: Retention::default(),
        redaction: redaction(),
    };
    let looking = Store::open_to_look(config).unwrap();
    assert_eq!(listed(&looking.runs(), &RunFilter::default()), [run(1)]);
    assert_eq!(behind_begin(&looking.runs(), run(1)), []);
    assert!(looking.runs().begin(&facts(run(2))).is_err());
    assert!(looking.runs().open_to_go_on(run(1)).is_err());
}
