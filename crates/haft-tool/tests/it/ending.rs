//! Deadlines, cancellation, panics, and doors that fail, at every station.

use std::sync::Arc;
use std::time::Duration;

use haft_protocol::{Capabilities, Capability, ErrorKind, NoticeKind, Outcome, Status};
use haft_testkit::Rig;
use haft_testkit::doors::{Mood, Temper};
use haft_tool::{FunctionTool, Hooks, Output, Slot, Tool, blocking};
use serde_json::json;

use crate::walk::writer;

fn tool(
    name: &str,
    run_ms: u64,
    body: impl Fn(haft_tool::Call) -> haft_tool::BoxFuture<'static, Output> + Send + Sync + 'static,
) -> Arc<dyn Tool> {
    let writes = Capabilities::builder().effect(Capability::WriteFiles).build().unwrap();
    let schema =
        json!({ "type": "object", "properties": { "path": { "type": "string", "default": "a" } } });
    FunctionTool::new(name.parse().unwrap(), "A tool of a test.", schema)
        .unwrap()
        .facts(|facts| facts.capabilities(writes).run_ms(run_ms).slot(Slot::write("path")))
        .body(move |call, _| {
            let output = body(call);
            async move { Ok(output.await) }
        })
        .unwrap()
}

/// A body that works until it is asked to stop, and then hands over what it has.
fn patient() -> Arc<dyn Tool> {
    tool("local/patient", 50, |call| {
        Box::pin(async move {
            call.cancellation().cancelled().await;
            Output::text("half of it")
        })
    })
}

/// A body that never stops.
fn deaf() -> Arc<dyn Tool> {
    tool("local/deaf", 50, |_| Box::pin(std::future::pending()))
}

fn is_internal(outcome: &Outcome) -> bool {
    matches!(&outcome.status, Status::Failed(failure) if failure.kind == ErrorKind::Internal)
}

#[tokio::test(start_paused = true)]
async fn a_body_past_its_deadline_is_timed_out_and_keeps_what_it_had() {
    let rig = Rig::builder().tool(patient()).build();
    let outcome = rig.call("patient", json!({})).await;
    assert_eq!(outcome.status, Status::TimedOut { after_ms: 50 });
    assert_eq!(outcome.content[0].as_text(), Some("half of it"));
}

#[tokio::test(start_paused = true)]
async fn the_deadline_counts_only_while_the_body_runs() {
    let hooks = Hooks::none().pre("slow", |_| async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        Ok(haft_tool::hooks::PreVerdict::Continue)
    });
    let quick = tool("local/quick", 50, |_| Box::pin(std::future::ready(Output::text("done"))));
    let rig = Rig::builder().tool(quick).hooks(hooks).build();
    assert!(rig.call("quick", json!({})).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_stop_is_reported_detached_and_keeps_its_locks() {
    let rig = Rig::builder()
        .tool(deaf())
        .tool(writer("local/write"))
        .limits(|limits| limits.permits = 1)
        .build();
    let outcome = rig.call("deaf", json!({})).await;
    assert_eq!(outcome.status, Status::TimedOut { after_ms: 50 });
    assert_eq!(outcome.notices[0].kind, NoticeKind::Detached);
    assert_eq!(rig.dispatch.detached(), 1);

    let elsewhere = rig.call("write", json!({ "path": "b" })).await;
    assert!(elsewhere.is_ok(), "its permit is free: {}", elsewhere.model_text());
    let same = rig.call("write", json!({ "path": "a" })).await;
    assert!(
        matches!(&same.status, Status::Failed(it) if it.kind == ErrorKind::Unavailable),
        "its lock is not"
    );
}

#[tokio::test]
async fn a_blocking_body_sees_the_request_to_stop() {
    let busy = tool("local/busy", 20, |call| {
        Box::pin(async move {
            let cancellation = call.cancellation().clone();
            blocking(move || {
                while !cancellation.is_cancelled() {
                    std::thread::yield_now();
                }
                Output::text("stopped in order")
            })
            .await
        })
    });
    let rig = Rig::builder().tool(busy).build();
    let outcome = rig.call("busy", json!({})).await;
    assert_eq!(outcome.content[0].as_text(), Some("stopped in order"));
}

#[tokio::test]
async fn a_panic_of_a_body_is_its_failure_and_the_lock_is_free_again() {
    let bomb = tool("local/bomb", 1_000, |_| Box::pin(async { panic!("secret detail") }));
    let rig = Rig::builder().tool(bomb).tool(writer("local/write")).build();
    let outcome = rig.call("bomb", json!({})).await;
    assert!(is_internal(&outcome));
    assert!(
        !outcome.model_text().contains("secret detail"),
        "what a panic says stays with the operator"
    );
    assert_eq!(rig.words().last(), Some(&"outcome"));
    assert!(rig.call("write", json!({ "path": "a" })).await.is_ok());
}

#[tokio::test]
async fn a_panic_in_blocking_work_is_caught_too() {
    let bomb = tool("local/bomb", 1_000, |_| Box::pin(blocking(|| panic!("boom"))));
    let rig = Rig::builder().tool(bomb).build();
    assert!(is_internal(&rig.call("bomb", json!({})).await));
}

#[tokio::test]
async fn dropping_the_handle_cancels_in_order_and_the_end_is_recorded() {
    let rig = Rig::builder()
        .tool(tool("local/patient", 60_000, |call| {
            Box::pin(async move {
                call.cancellation().cancelled().await;
                Output::text("half of it")
            })
        }))
        .build();
    let call = rig.tool_call("patient", json!({}));
    let id = call.id;
    let handle = rig.dispatch.start(&rig.context, call);
    while !rig.words().contains(&"started") {
        tokio::task::yield_now().await;
    }
    drop(handle);
    rig.dispatch.drain().await;
    let outcomes = rig.journal.outcomes_of(id);
    assert_eq!(outcomes.len(), 1);
    assert_eq!(outcomes[0].outcome.status, Status::Cancelled);
    assert_eq!(outcomes[0].outcome.content[0].as_text(), Some("half of it"));
}

/// Each door in front of the body, with the temper that governs it.
fn doors(rig: &Rig) -> Vec<(&'static str, Temper)> {
    vec![
        ("bind", rig.tree.binds.clone()),
        ("intent", rig.journal.intents.clone()),
        ("exclusion", rig.steps.exclusions.clone()),
        ("checkpoint", rig.steps.checkpoints.clone()),
        ("started", rig.journal.starts.clone()),
    ]
}

#[tokio::test]
async fn a_door_that_fails_or_panics_before_the_body_keeps_it_from_running() {
    for mood in [Mood::Fails, Mood::Panics] {
        for position in 0..5 {
            let rig = Rig::builder().tool(writer("local/write")).build();
            let (door, temper) = doors(&rig).swap_remove(position);
            temper.set(mood);
            let outcome = rig.call("write", json!({ "path": "a" })).await;
            assert!(!outcome.is_ok(), "{door} {mood:?}: {}", outcome.model_text());
            assert!(!outcome.model_text().contains("wrote"), "{door} {mood:?}: the body ran");
            temper.set(Mood::Works);
            let after = rig.call("write", json!({ "path": "a" })).await;
            assert!(after.is_ok(), "{door} {mood:?} left something behind: {}", after.model_text());
        }
    }
}

#[tokio::test]
async fn a_call_cancelled_at_any_station_ends_cancelled_and_leaves_nothing_held() {
    for position in 0..5 {
        let rig = Rig::builder().tool(writer("local/write")).limits(|it| it.permits = 1).build();
        let (door, temper) = doors(&rig).swap_remove(position);
        if matches!(door, "intent" | "started") {
            // The journal is never left half-way: a record that was begun is waited for.
            continue;
        }
        temper.set(Mood::Hangs);
        let call = rig.tool_call("write", json!({ "path": "a" }));
        let id = call.id;
        let handle = rig.dispatch.start(&rig.context, call);
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        handle.cancel();
        let outcome = handle.await.into_outcome().unwrap();
        assert_eq!(outcome.status, Status::Cancelled, "{door}");
        assert_eq!(rig.journal.outcomes_of(id).len(), 1, "{door}: one record");
        temper.set(Mood::Works);
        assert!(
            rig.call("write", json!({ "path": "a" })).await.is_ok(),
            "{door} left something held"
        );
    }
}

#[tokio::test]
async fn an_outcome_that_cannot_be_recorded_is_returned_and_says_so() {
    for mood in [Mood::Fails, Mood::Panics] {
        let rig = Rig::builder().tool(writer("local/write")).build();
        rig.journal.outcomes.set(mood);
        let outcome = rig.call("write", json!({ "path": "a" })).await;
        assert!(outcome.is_ok(), "the effect happened: {}", outcome.model_text());
        assert_eq!(outcome.notices.last().unwrap().kind, NoticeKind::Unrecorded);
    }
}

#[tokio::test]
async fn changes_that_cannot_be_told_are_not_passed_over() {
    let rig = Rig::builder().tool(writer("local/write")).build();
    rig.steps.captures.set(Mood::Fails);
    let outcome = rig.call("write", json!({ "path": "a" })).await;
    assert!(outcome.is_ok());
    assert_eq!(outcome.notices[0].kind, NoticeKind::Degraded);
}

/// A source whose waking fails, panics or never ends.
struct Sleeper(Mood);

impl haft_tool::ToolSource for Sleeper {
    fn name(&self) -> &'static str {
        "sleeper"
    }

    fn scope(&self) -> haft_tool::Scope {
        haft_tool::Scope::Shared
    }

    fn build(
        &self,
        _: &haft_tool::BuildContext,
    ) -> Result<Vec<Arc<dyn Tool>>, haft_tool::SourceError> {
        Ok(vec![writer("local/write")])
    }

    fn activate(&self) -> haft_tool::BoxFuture<'_, Result<(), haft_protocol::Failure>> {
        let mood = self.0;
        Box::pin(async move {
            match mood {
                Mood::Works => Ok(()),
                Mood::Fails => {
                    Err(haft_protocol::Failure::new(ErrorKind::Unavailable, "the server is down"))
                }
                Mood::Panics => panic!("boom"),
                Mood::Hangs => std::future::pending().await,
            }
        })
    }
}

async fn call_of_sleeper(mood: Mood) -> (Rig, haft_tool::CallHandle) {
    let rig = Rig::builder().build();
    rig.registry.register(Arc::new(Sleeper(mood)), haft_tool::OnConflict::Reject).unwrap();
    let mut context = rig.context.clone();
    context.tools = rig.registry.snapshot();
    let handle = rig.dispatch.start(&context, rig.tool_call("write", json!({ "path": "a" })));
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    (rig, handle)
}

#[tokio::test]
async fn a_source_that_does_not_wake_up_ends_its_calls() {
    let (_rig, handle) = call_of_sleeper(Mood::Fails).await;
    let failed = handle.await.into_outcome().unwrap();
    assert!(failed.model_text().contains("the server is down"), "{}", failed.model_text());
    let (_rig, handle) = call_of_sleeper(Mood::Panics).await;
    assert!(is_internal(&handle.await.into_outcome().unwrap()));
}

#[tokio::test(start_paused = true)]
async fn a_source_that_never_wakes_up_is_given_up() {
    let (_rig, handle) = call_of_sleeper(Mood::Hangs).await;
    let given_up = handle.await.into_outcome().unwrap();
    assert!(given_up.model_text().contains("did not wake up within"), "{}", given_up.model_text());
}

#[tokio::test]
async fn a_call_cancelled_while_its_source_wakes_up_ends_cancelled() {
    let (rig, handle) = call_of_sleeper(Mood::Hangs).await;
    handle.cancel();
    assert_eq!(handle.await.into_outcome().unwrap().status, Status::Cancelled);
    assert_eq!(rig.words(), ["intent", "outcome"]);
}

#[tokio::test]
async fn a_call_cancelled_in_a_hook_ends_cancelled_and_is_on_record() {
    let hooks = Hooks::none().pre("slow", |_| std::future::pending());
    let rig = Rig::builder().tool(writer("local/write")).hooks(hooks).build();
    let handle = rig.dispatch.start(&rig.context, rig.tool_call("write", json!({ "path": "a" })));
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    handle.cancel();
    assert_eq!(handle.await.into_outcome().unwrap().status, Status::Cancelled);
    assert_eq!(rig.words(), ["intent", "outcome"]);
}

#[tokio::test]
async fn a_call_cancelled_while_it_waits_for_a_lock_withdraws() {
    let holder = tool("local/holder", 60_000, |call| {
        Box::pin(async move {
            call.cancellation().cancelled().await;
            Output::text("held")
        })
    });
    let rig = Rig::builder().tool(holder).tool(writer("local/write")).build();
    let holding = rig.dispatch.start(&rig.context, rig.tool_call("holder", json!({})));
    while !rig.words().contains(&"started") {
        tokio::task::yield_now().await;
    }
    let waiting = rig.dispatch.start(&rig.context, rig.tool_call("write", json!({ "path": "a" })));
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    waiting.cancel();
    assert_eq!(waiting.await.into_outcome().unwrap().status, Status::Cancelled);
    holding.cancel();
    assert_eq!(holding.await.into_outcome().unwrap().status, Status::Cancelled);
    assert!(rig.call("write", json!({ "path": "a" })).await.is_ok(), "something stayed locked");
}

#[tokio::test]
async fn a_call_cancelled_while_a_person_is_asked_ends_cancelled() {
    let rule = haft_policy::Rule::ask().tool("local/write".parse().unwrap());
    let rig = Rig::builder().tool(writer("local/write")).rule(rule).build();
    rig.oracle.temper.set(Mood::Hangs);
    let handle = rig.dispatch.start(&rig.context, rig.tool_call("write", json!({ "path": "a" })));
    while !rig.words().contains(&"ticket") {
        tokio::task::yield_now().await;
    }
    handle.cancel();
    assert_eq!(handle.await.into_outcome().unwrap().status, Status::Cancelled);
}
