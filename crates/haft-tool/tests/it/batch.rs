//! The order within a batch, permits and nested calls.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use haft_protocol::{Access, Capabilities, Capability, Control, Status};
use haft_testkit::{Rig, pure_tool};
use haft_tool::{Existence, FunctionTool, Output, Slot, Tool};
use proptest::prelude::*;
use serde_json::json;

type Trace = Arc<Mutex<Vec<String>>>;

/// A tool that notes when its body begins and ends, over a path it reads or writes.
fn traced(name: &str, access: Access, trace: &Trace) -> Arc<dyn Tool> {
    let schema = json!({
        "type": "object",
        "properties": { "path": { "type": "string" } },
        "required": ["path"],
    });
    let effect = if access.writes() { Capability::WriteFiles } else { Capability::ReadFiles };
    let capabilities = Capabilities::builder().effect(effect).build().unwrap();
    let slot = Slot { access, existence: Existence::Optional, ..Slot::read("path") };
    let (trace, word) = (Arc::clone(trace), name.rsplit('/').next().unwrap().to_owned());
    FunctionTool::new(name.parse().unwrap(), "Notes when it runs.", schema)
        .unwrap()
        .facts(|facts| facts.capabilities(capabilities).slot(slot))
        .body(move |_, args| {
            let (trace, what) =
                (Arc::clone(&trace), format!("{word} {}", args["path"].as_str().unwrap()));
            async move {
                trace.lock().unwrap().push(format!("+{what}"));
                tokio::time::sleep(Duration::from_millis(5)).await;
                trace.lock().unwrap().push(format!("-{what}"));
                Ok(Output::text(what))
            }
        })
        .unwrap()
}

fn rig(trace: &Trace) -> Rig {
    Rig::builder()
        .tool(traced("local/read", Access::Read, trace))
        .tool(traced("local/write", Access::Write, trace))
        .tool(traced("local/tree", Access::WriteTree, trace))
        .build()
}

async fn run(rig: &Rig, calls: &[(&str, &str)]) -> Vec<String> {
    let calls =
        calls.iter().map(|(tool, path)| rig.tool_call(tool, json!({ "path": path }))).collect();
    let ends = rig.dispatch.batch(&rig.context, calls).await;
    ends.into_iter().map(|end| end.into_outcome().unwrap().model_text()).collect()
}

#[tokio::test(start_paused = true)]
async fn results_come_back_in_the_order_of_the_requests() {
    let trace = Trace::default();
    let results = run(&rig(&trace), &[("write", "a"), ("read", "b"), ("read", "a")]).await;
    assert_eq!(results, ["write a", "read b", "read a"]);
}

#[tokio::test(start_paused = true)]
async fn a_write_is_a_barrier_for_later_calls_that_touch_it_and_for_no_others() {
    let trace = Trace::default();
    run(&rig(&trace), &[("write", "d/f"), ("read", "d"), ("read", "e")]).await;
    let trace = trace.lock().unwrap();
    let at = |word: &str| trace.iter().position(|it| it == word).unwrap();
    assert!(
        at("-write d/f") < at("+read d"),
        "looking at a directory is looking at what lies beneath: {trace:?}"
    );
    assert!(at("+read e") < at("-write d/f"), "an unrelated read waited: {trace:?}");
}

#[tokio::test(start_paused = true)]
async fn a_read_of_what_an_earlier_call_makes_waits_for_it() {
    let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    let rig = Arc::new_cyclic(|weak: &std::sync::Weak<Rig>| {
        let weak = weak.clone();
        let writes = Capabilities::builder().effect(Capability::WriteFiles).build().unwrap();
        let maker =
            FunctionTool::new("local/make".parse().unwrap(), "Makes a path.", schema.clone())
                .unwrap()
                .facts(|facts| facts.capabilities(writes).slot(Slot::write("path")))
                .body(move |_, args| {
                    weak.upgrade().unwrap().tree.make(args["path"].as_str().unwrap());
                    async { Ok(Output::text("made")) }
                })
                .unwrap();
        let reader = FunctionTool::new("local/look".parse().unwrap(), "Looks at a path.", schema)
            .unwrap()
            .facts(|facts| facts.capabilities(Capabilities::read_only()).slot(Slot::read("path")))
            .body(|_, _| async { Ok(Output::text("seen")) })
            .unwrap();
        Rig::builder().tool(maker).tool(reader).build()
    });
    assert_eq!(run(&rig, &[("make", "new"), ("look", "new")]).await, ["made", "seen"]);
}

#[tokio::test(start_paused = true)]
async fn no_more_bodies_run_at_once_than_there_are_permits() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (inside, peak) = (Arc::clone(&now), Arc::clone(&most));
    let schema = json!({ "type": "object" });
    let busy = FunctionTool::new("local/busy".parse().unwrap(), "Is busy.", schema)
        .unwrap()
        .body(move |_, _| {
            let (inside, peak) = (Arc::clone(&inside), Arc::clone(&peak));
            async move {
                peak.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_millis(5)).await;
                inside.fetch_sub(1, Ordering::SeqCst);
                Ok(Output::text("done"))
            }
        })
        .unwrap();
    let rig = Rig::builder().tool(busy).build();
    let calls = (0..20).map(|_| rig.tool_call("busy", json!({}))).collect();
    assert_eq!(rig.dispatch.batch(&rig.context, calls).await.len(), 20);
    assert_eq!(most.load(Ordering::SeqCst), haft_protocol::limits::PERMITS);
}

/// A tool that calls another.
fn caller(name: &str, inner: &'static str) -> Arc<dyn Tool> {
    let schema =
        json!({ "type": "object", "properties": { "path": { "type": "string", "default": "a" } } });
    let writes = Capabilities::builder().effect(Capability::WriteFiles).build().unwrap();
    FunctionTool::new(name.parse().unwrap(), "Calls another tool.", schema)
        .unwrap()
        .facts(|facts| facts.capabilities(writes).slot(Slot::write("path")))
        .body(move |call, args| async move {
            let end = call.nested(inner, serde_json::Value::Object(args)).await;
            Ok(Output::text(format!("inside: {}", end.outcome().unwrap().model_text())))
        })
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_nested_call_finds_a_permit_and_inherits_the_locks_around_it() {
    let trace = Trace::default();
    let rig = Rig::builder()
        .tool(caller("local/outer", "write"))
        .tool(traced("local/write", Access::Write, &trace))
        .limits(|limits| limits.permits = 1)
        .build();
    let outcome = rig.call("outer", json!({ "path": "a" })).await;
    assert_eq!(outcome.model_text(), "inside: write a");
}

#[tokio::test(start_paused = true)]
async fn a_nested_call_does_not_queue_behind_those_who_wait_for_its_caller() {
    let trace = Trace::default();
    let rig = Rig::builder()
        .tool(caller("local/outer", "write"))
        .tool(traced("local/write", Access::Write, &trace))
        .build();
    let calls = [("outer", "a"), ("write", "a"), ("write", "a")];
    let results = run(&rig, &calls).await;
    assert_eq!(results, ["inside: write a", "write a", "write a"]);
}

#[tokio::test(start_paused = true)]
async fn calls_inside_calls_end_somewhere() {
    let rig = Rig::builder().tool(caller("local/loop", "loop")).build();
    let text = rig.call("loop", json!({})).await.model_text();
    assert!(text.contains("nested 8 deep already"), "{text}");
}

#[tokio::test]
async fn a_nested_call_passes_the_same_gates() {
    let rig = Rig::builder()
        .tool(caller("local/outer", "secret"))
        .tool(pure_tool("local/secret", |_| Ok(Output::text("leaked"))))
        .rule(haft_policy::Rule::deny().tool("local/secret".parse().unwrap()))
        .build();
    let text = rig.call("outer", json!({})).await.model_text();
    assert!(text.contains("denied by policy"), "{text}");
}

#[tokio::test]
async fn a_denied_call_of_a_batch_does_not_hold_up_the_others() {
    let trace = Trace::default();
    let rig = rig(&trace);
    let calls = vec![
        rig.tool_call("write", json!({ "path": "../out" })),
        rig.tool_call("read", json!({ "path": "a" })),
    ];
    let ends = rig.dispatch.batch(&rig.context, calls).await;
    assert!(
        matches!(&ends[0].outcome().unwrap().status, Status::Denied(it) if it.control == Control::Workspace)
    );
    assert!(ends[1].outcome().unwrap().is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever the batch: no two bodies overlap when their order matters, and every call runs once.
    #[test]
    fn order_holds_for_any_batch(calls in prop::collection::vec((0..3_usize, 0..6_usize), 1..12)) {
        const TOOLS: [(&str, Access); 3] =
            [("read", Access::Read), ("write", Access::Write), ("tree", Access::WriteTree)];
        const PATHS: [&str; 6] = ["a", "d", "d/f", "d/e", "d/e/g", "b"];
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        let trace = Trace::default();
        let named: Vec<(&str, &str)> = calls.iter().map(|(tool, path)| (TOOLS[*tool].0, PATHS[*path])).collect();
        runtime.block_on(async { run(&rig(&trace), &named).await });
        let trace = trace.lock().unwrap();
        prop_assert_eq!(trace.len(), calls.len() * 2);

        let claims: Vec<(String, haft_tool::Claim)> = calls
            .iter()
            .map(|(tool, path)| {
                let (word, access) = TOOLS[*tool];
                (format!("{word} {}", PATHS[*path]), haft_testkit::doors::claim(PATHS[*path], access))
            })
            .collect();
        // Bodies of equal calls cannot be told apart in the trace; it is enough to look at which kinds are open.
        let mut open: Vec<&str> = Vec::new();
        for event in trace.iter() {
            let (mark, what) = event.split_at(1);
            if mark == "+" {
                let claim = &claims.iter().find(|(name, _)| name == what).unwrap().1;
                for other in &open {
                    let theirs = &claims.iter().find(|(name, _)| name == other).unwrap().1;
                    prop_assert!(!claim.is_ordered_with(theirs), "{} began while {} ran: {:?}", what, other, *trace);
                }
                open.push(what);
            } else {
                let position = open.iter().position(|it| *it == what).unwrap();
                open.remove(position);
            }
        }
    }
}
