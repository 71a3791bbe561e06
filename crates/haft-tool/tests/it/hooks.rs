//! User code at its stations.

use std::sync::{Arc, Mutex};

use haft_protocol::{Control, ErrorKind, Outcome, Status};
use haft_testkit::{Rig, echo, pure_tool};
use haft_tool::hooks::PreVerdict;
use haft_tool::{Hooks, Output};
use serde_json::json;

fn reason(outcome: &Outcome) -> &str {
    match &outcome.status {
        Status::Denied(denial) if matches!(denial.control, Control::Hook(_)) => &denial.reason,
        other => panic!("expected a hook's denial, found {other:?}"),
    }
}

#[tokio::test]
async fn each_hook_sees_what_the_one_before_it_made_of_the_arguments() {
    let add = |text: &'static str| {
        move |proposed: haft_tool::hooks::Proposed| async move {
            let mut arguments = proposed.arguments.values().clone();
            let so_far =
                arguments.get("trail").and_then(|it| it.as_str()).unwrap_or_default().to_owned();
            arguments.insert("trail".to_owned(), json!(format!("{so_far}{text}")));
            Ok(PreVerdict::Rewrite(arguments))
        }
    };
    let hooks = Hooks::none().pre("one", add("1")).pre("two", add("2"));
    let rig = Rig::builder().tool(echo()).hooks(hooks).build();
    assert_eq!(rig.call("echo", json!({})).await.model_text(), r#"{"trail":"12"}"#);
}

#[tokio::test]
async fn a_rewrite_outside_the_contract_ends_the_call() {
    let hooks = Hooks::none().pre("clumsy", |proposed| async move {
        let mut arguments = proposed.arguments.values().clone();
        arguments.insert("path".to_owned(), json!(7));
        Ok(PreVerdict::Rewrite(arguments))
    });
    let rig = Rig::builder().tool(crate::walk::writer("local/write")).hooks(hooks).build();
    let outcome = rig.call("write", json!({ "path": "a" })).await;
    assert!(
        matches!(&outcome.status, Status::Failed(it) if it.kind == ErrorKind::InvalidArguments)
    );
}

#[tokio::test]
async fn o_049_a_hook_that_fails_denies() {
    let hooks = Hooks::none().pre("broken", |_| async { Err("no such file".to_owned()) });
    let rig = Rig::builder().tool(echo()).hooks(hooks).build();
    assert_eq!(
        reason(&rig.call("echo", json!({})).await),
        "the hook failed, and a hook that fails denies: no such file"
    );
    assert_eq!(rig.words(), ["intent", "outcome"]);
}

#[tokio::test]
async fn o_049_a_hook_that_panics_denies() {
    let hooks = Hooks::none().pre("bomb", |_| async { panic!("boom") });
    let rig = Rig::builder().tool(echo()).hooks(hooks).build();
    assert!(reason(&rig.call("echo", json!({})).await).contains("panicked"));
}

#[tokio::test(start_paused = true)]
async fn o_049_a_hook_that_says_nothing_in_time_denies() {
    let hooks = Hooks::none().pre("silent", |_| std::future::pending());
    let rig = Rig::builder().tool(echo()).hooks(hooks).build();
    assert!(reason(&rig.call("echo", json!({})).await).contains("said nothing"));
}

#[tokio::test(start_paused = true)]
async fn o_049_slow_hooks_of_parallel_calls_run_per_call() {
    let hooks = Hooks::none().pre("slow", |_| async {
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        Ok(PreVerdict::Continue)
    });
    let rig = Rig::builder().tool(echo()).hooks(hooks).build();
    let began = tokio::time::Instant::now();
    let calls = (0..20).map(|_| rig.tool_call("echo", json!({}))).collect();
    let ends = rig.dispatch.batch(&rig.context, calls).await;
    assert!(ends.iter().all(|end| end.outcome().unwrap().is_ok()));
    assert!(began.elapsed() < std::time::Duration::from_secs(2), "hooks queued behind each other");
}

#[tokio::test]
async fn post_hooks_see_the_recorded_outcome_with_its_call() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (all, bad) = (Arc::clone(&seen), Arc::clone(&seen));
    let hooks = Hooks::none()
        .post("all", move |committed| {
            let all = Arc::clone(&all);
            async move {
                assert!(committed.recorded);
                let tool = committed.intent.tool.clone().unwrap().to_string();
                all.lock().unwrap().push(format!(
                    "{tool} {} {}",
                    committed.intent.arguments,
                    committed.outcome.status.as_str()
                ));
                Ok(())
            }
        })
        .error("bad", move |committed| {
            let bad = Arc::clone(&bad);
            async move {
                bad.lock().unwrap().push(format!("error {}", committed.outcome.status.as_str()));
                Ok(())
            }
        });
    let fails =
        pure_tool("local/fails", |_| Err(haft_protocol::Failure::new(ErrorKind::Conflict, "no")));
    let rig = Rig::builder().tool(echo()).tool(fails).hooks(hooks).build();
    rig.call("echo", json!({ "a": 1 })).await;
    rig.call("fails", json!({})).await;
    assert_eq!(
        *seen.lock().unwrap(),
        ["local/echo {\"a\":1} ok", "local/fails {} failed", "error failed"]
    );
}

#[tokio::test]
async fn a_post_hook_cannot_change_what_happened() {
    let hooks = Hooks::none()
        .post("fails", |_| async { Err("broken".to_owned()) })
        .post("panics", |_| async { panic!("boom") });
    let fine = pure_tool("local/fine", |_| Ok(Output::text("fine")));
    let rig = Rig::builder().tool(fine).hooks(hooks).build();
    assert_eq!(rig.call("fine", json!({})).await.model_text(), "fine");
}
