//! Turns that somebody interrupts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use haft_agent::Watcher;
use haft_model::{
    Account, AccountLimits, ChatModel, Guarded, ModelError, ModelErrorKind, RetryLimits,
};
use haft_protocol::{RunEntry, StopCause};
use haft_testkit::{Line, ScriptedModel, echo, pure_tool};
use haft_tool::{FunctionTool, Output, Tool, blocking};
use proptest::prelude::*;
use serde_json::json;
use std::sync::atomic::AtomicUsize;

use crate::rig::Work;

/// How long an interrupted turn may go on.
const SOON: Duration = Duration::from_secs(2);

fn tool<F, R>(name: &str, body: F) -> Arc<dyn Tool>
where
    F: Fn(haft_tool::Call) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Output, haft_protocol::Failure>> + Send + 'static,
{
    FunctionTool::new(name.parse().unwrap(), "Takes its time.", json!({"type": "object"}))
        .unwrap()
        .body(move |call, _| body(call))
        .unwrap()
}

/// Interrupts a turn when something has begun, and checks that it ends soon and leaves nothing open.
async fn interrupted(work: &Work, begun: impl Future<Output = ()>) {
    let turn = work.say("Go.");
    let cancel = async {
        begun.await;
        work.options.cancellation.cancel();
        Instant::now()
    };
    let (end, cancelled) = tokio::join!(turn, cancel);
    assert_eq!(end.cause, StopCause::Interrupted { by: None });
    assert!(cancelled.elapsed() < SOON, "it took {:?}", cancelled.elapsed());
    let state = work.branch.turn().await;
    assert_eq!(state.transcript.open_calls().count(), 0);
}

#[tokio::test]
async fn o_075_a_call_that_sleeps_is_interrupted() {
    let begun = Arc::new(tokio::sync::Notify::new());
    let told = Arc::clone(&begun);
    let sleeps = tool("local/sleeps", move |_| {
        told.notify_one();
        std::future::pending()
    });
    let work = Work::new(
        [Line::calls(&[("sleeps", json!({})), ("echo", json!({}))])],
        vec![sleeps, echo()],
    );
    interrupted(&work, begun.notified()).await;
}

#[tokio::test]
async fn o_075_a_loop_that_looks_at_nothing_is_left_behind_and_named() {
    let (begun, over) = (Arc::new(tokio::sync::Notify::new()), Arc::new(AtomicBool::new(false)));
    let (told, end) = (Arc::clone(&begun), Arc::clone(&over));
    let spins = tool("local/spins", move |_| {
        let (told, end) = (Arc::clone(&told), Arc::clone(&end));
        blocking(move || {
            told.notify_one();
            while !end.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
            Ok(Output::text("over"))
        })
    });
    let work = Work::new([Line::calls(&[("spins", json!({}))])], vec![spins]);
    interrupted(&work, begun.notified()).await;
    let ended = work.kept.entries().into_iter().find_map(|it| match it {
        RunEntry::Ended { outcome, .. } => Some(outcome.model_text()),
        _ => None,
    });
    assert!(ended.unwrap().contains("goes on and keeps its locks"));
    over.store(true, Ordering::Relaxed);
}

#[tokio::test(start_paused = true)]
async fn o_075_a_request_between_its_retries_is_interrupted() {
    let lines = (0..8).map(|_| Line::Error(ModelError::new(ModelErrorKind::Overloaded, "busy")));
    let scripted = ScriptedModel::new(lines);
    let account = Arc::new(Account::new("scripted", AccountLimits::default()));
    let inner: Arc<dyn ChatModel> = scripted.clone();
    let guarded = Guarded::new(inner, account).with_limits(RetryLimits::default());
    let work = Work::new([], vec![]);
    work.branch.turn().await.parts.model = Arc::new(guarded);
    let waits = async {
        while scripted.asked().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    interrupted(&work, waits).await;
    assert_eq!(scripted.asked().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn o_075_a_subagent_between_its_retries_is_interrupted() {
    let busy = (0..8).map(|_| Line::Error(ModelError::new(ModelErrorKind::Overloaded, "busy")));
    let begin = Line::calls(&[("subagent", json!({ "instruction": "Look." }))]);
    let scripted = ScriptedModel::new([begin].into_iter().chain(busy));
    let account = Arc::new(Account::new("scripted", AccountLimits::default()));
    let inner: Arc<dyn ChatModel> = scripted.clone();
    let rig = haft_testkit::Rig::builder().build();
    rig.registry.register(Arc::new(haft_agent::Subagents), haft_tool::OnConflict::Reject).unwrap();
    let work = Work::of(rig, ScriptedModel::new([]));
    work.branch.turn().await.parts.model = Arc::new(Guarded::new(inner, account));
    let waits = async {
        while scripted.asked().len() < 2 {
            tokio::task::yield_now().await;
        }
    };
    interrupted(&work, waits).await;
    assert_eq!(scripted.asked().len(), 2);
}

#[tokio::test]
async fn what_an_interrupted_reply_said_is_kept() {
    let work =
        Work::new([Line::Hang("The bug is in".to_owned()), Line::say("Where was I?")], vec![]);
    let waits = async {
        while work.model.asked().is_empty() {
            tokio::task::yield_now().await;
        }
        tokio::task::yield_now().await;
    };
    interrupted(&work, waits).await;
    let kept = work.kept.entries();
    assert!(kept.iter().any(|it| matches!(
        it,
        RunEntry::Unanswered { kind, said, .. } if kind == "interrupted" && said == "The bug is in"
    )), "{kept:?}");
}

#[tokio::test]
async fn o_074_calls_that_a_dropped_turn_left_open_end_before_anything_else_is_said() {
    let begun = Arc::new(tokio::sync::Notify::new());
    let told = Arc::clone(&begun);
    let sleeps = tool("local/sleeps", move |_| {
        told.notify_one();
        std::future::pending()
    });
    let lines = [
        Line::calls(&[("echo", json!({})), ("sleeps", json!({})), ("echo", json!({}))]),
        Line::say("I see."),
    ];
    let work = Work::new(lines, vec![sleeps, echo()]);
    tokio::select! {
        _ = work.say("Go.") => panic!("the turn ended"),
        () = begun.notified() => {}
    }
    assert!(work.branch.turn().await.transcript.open_calls().next().is_some());
    assert_eq!(work.say("What happened?").await.cause, StopCause::Done);
    let results = work.results(1);
    assert_eq!(results.len(), 3);
    assert!(results[1].is_error && results[1].text.contains("not known"), "{}", results[1].text);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Turns are interrupted at any event, or dropped there, one after the other.
    #[test]
    fn o_074_any_interleaving_of_interruptions_leaves_a_conversation_that_can_be_gone_on_with(
        interruptions in proptest::collection::vec((0_usize..12, any::<bool>()), 1..4),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            // As many lines as anybody could ask for: calls, calls, and a word.
            let lines = (0..40).map(|it| match it % 3 {
                2 => Line::say("Done."),
                _ => Line::calls(&[
                    ("echo", json!({ "n": it })),
                    ("nothing", json!({})),
                    ("fails", json!({ "n": it })),
                ]),
            });
            let fails = pure_tool("local/fails", |_| {
                Err(haft_protocol::Failure::new(haft_protocol::ErrorKind::Upstream, "no"))
            });
            let mut work = Work::new(lines.collect::<Vec<_>>(), vec![echo(), fails]);
            for (at, is_dropped) in interruptions {
                let (seen, reached) = (AtomicUsize::new(0), Arc::new(tokio::sync::Notify::new()));
                work.options.cancellation = haft_tool::Cancellation::new();
                let (cancellation, told) = (work.options.cancellation.clone(), Arc::clone(&reached));
                work.options.watcher = Watcher::new(move |_| {
                    if seen.fetch_add(1, Ordering::SeqCst) == at {
                        if !is_dropped {
                            cancellation.cancel();
                        }
                        told.notify_one();
                    }
                });
                let turn = work.say("Go.");
                tokio::pin!(turn);
                tokio::select! {
                    biased;
                    () = reached.notified(), if is_dropped => {}
                    end = &mut turn => {
                        let state = work.branch.turn().await;
                        assert_eq!(state.transcript.open_calls().count(), 0, "{end:?}");
                    }
                }
            }
            work.options.cancellation = haft_tool::Cancellation::new();
            work.options.watcher = Watcher::default();
            work.say("And now?").await;
            let state = work.branch.turn().await;
            assert_eq!(state.transcript.open_calls().count(), 0);
            // What was kept makes the same conversation again, and each call has one end.
            let entries = work.kept.entries();
            let mended = haft_session::mend(&entries);
            assert!(mended.remarks.is_empty(), "{:?}", mended.remarks);
            assert!(mended.transcript.entries().eq(state.transcript.entries()));
        });
    }
}
