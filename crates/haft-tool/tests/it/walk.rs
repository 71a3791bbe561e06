//! The stations in their order, and how a call ends at each.

use haft_policy::{Preset, Rule};
use haft_protocol::{Capabilities, Capability, Control, ErrorKind, Failure, NoticeKind, Status};
use haft_testkit::doors::{Kept, Mood};
use haft_testkit::{Rig, echo, pure_tool};
use haft_tool::{FunctionTool, Output, Slot, Tool};
use serde_json::{Value, json};
use std::sync::Arc;

/// A tool that writes what its `path` names.
pub(crate) fn writer(name: &str) -> Arc<dyn Tool> {
    let schema = json!({
        "type": "object",
        "properties": { "path": { "type": "string", "description": "What to write." } },
        "required": ["path"],
        "additionalProperties": false,
    });
    let writes = Capabilities::builder().effect(Capability::WriteFiles).build().unwrap();
    FunctionTool::new(name.parse().unwrap(), "Writes a path.", schema)
        .unwrap()
        .facts(|facts| facts.capabilities(writes).slot(Slot::write("path")))
        .body(|_, args| async move { Ok(Output::text(format!("wrote {}", args["path"]))) })
        .unwrap()
}

fn failure(status: &Status) -> &Failure {
    match status {
        Status::Failed(failure) => failure,
        other => panic!("expected a failure, found {other:?}"),
    }
}

fn control(status: &Status) -> &Control {
    match status {
        Status::Denied(denial) => &denial.control,
        other => panic!("expected a denial, found {other:?}"),
    }
}

#[tokio::test]
async fn a_call_leaves_intent_start_and_outcome_in_that_order() {
    let rig = Rig::builder().tool(echo()).build();
    let outcome = rig.call("echo", json!({ "a": 1 })).await;
    assert_eq!(outcome.model_text(), r#"{"a":1}"#);
    assert_eq!(rig.words(), ["intent", "started", "outcome"]);
    assert_eq!(outcome.usage.attempts, Some(1));
}

#[tokio::test]
async fn what_is_journalled_is_what_is_returned() {
    let rig = Rig::builder().tool(echo()).build();
    let call = rig.tool_call("echo", json!({}));
    let id = call.id;
    let returned = rig.dispatch.dispatch(&rig.context, call).await.into_outcome().unwrap();
    assert_eq!(rig.journal.outcomes_of(id)[0].outcome, returned);
}

#[tokio::test]
async fn o_079_an_unknown_tool_is_not_found_and_names_its_neighbours() {
    let rig = Rig::builder().tool(echo()).build();
    let outcome = rig.call("ecko", json!({})).await;
    let failure = failure(&outcome.status);
    assert_eq!(failure.kind, ErrorKind::NotFound);
    assert_eq!(failure.hints, ["nearest: echo"]);
    assert_eq!(rig.words(), ["intent", "outcome"], "a refused call is on record too");
}

#[tokio::test]
async fn the_call_after_the_last_of_a_step_is_denied_and_its_siblings_run() {
    let rig = Rig::builder().tool(echo()).build();
    let calls = (0..26).map(|n| rig.tool_call("echo", json!({ "n": n }))).collect();
    let ends = rig.dispatch.batch(&rig.context, calls).await;
    let outcomes: Vec<_> = ends.into_iter().map(|end| end.into_outcome().unwrap()).collect();
    assert!(outcomes[..25].iter().all(haft_protocol::Outcome::is_ok));
    assert_eq!(control(&outcomes[25].status), &Control::Budget);
    let next =
        rig.dispatch.dispatch(&rig.context.next_step(), rig.tool_call("echo", json!({}))).await;
    assert!(next.outcome().unwrap().is_ok(), "a new step has calls again");
}

#[tokio::test]
async fn a_spent_run_denies() {
    let mut rig = Rig::builder().tool(echo()).build();
    rig.context.run = haft_tool::Budget::new(1);
    assert!(rig.call("echo", json!({})).await.is_ok());
    assert_eq!(control(&rig.call("echo", json!({})).await.status), &Control::Budget);
}

#[tokio::test]
async fn a_call_that_no_argument_could_make_allowed_ends_before_its_arguments_are_read() {
    let rig =
        Rig::builder().tool(echo()).rule(Rule::deny().tool("local/echo".parse().unwrap())).build();
    let outcome = rig.call("echo", json!("not even an object")).await;
    assert_eq!(control(&outcome.status), &Control::Policy);
}

#[tokio::test]
async fn repairs_are_reported() {
    let rig = Rig::builder().tool(echo()).build();
    let call = haft_protocol::ToolCall::new(
        rig.dispatch.ports().call_id(),
        "echo",
        "```json\n{\"a\": 1}\n```",
    );
    let outcome = rig.dispatch.dispatch(&rig.context, call).await.into_outcome().unwrap();
    assert!(outcome.is_ok(), "{}", outcome.model_text());
    assert_eq!(outcome.notices[0].kind, NoticeKind::Repaired);
}

#[tokio::test]
async fn a_path_out_of_the_workspace_is_denied_by_the_workspace() {
    let rig = Rig::builder().tool(writer("local/write")).build();
    let outcome = rig.call("write", json!({ "path": "../etc" })).await;
    assert_eq!(control(&outcome.status), &Control::Workspace);
}

#[tokio::test]
async fn presets_go_by_capability() {
    let rig = Rig::builder().tool(writer("local/write")).preset(Preset::ReadOnly).build();
    let outcome = rig.call("write", json!({ "path": "a" })).await;
    assert_eq!(control(&outcome.status), &Control::Policy);
    assert!(rig.steps.log().is_empty(), "nothing was locked or saved");
}

#[tokio::test]
async fn a_write_is_saved_before_and_captured_after() {
    let rig = Rig::builder().tool(writer("local/write")).build();
    assert!(rig.call("write", json!({ "path": "a" })).await.is_ok());
    assert_eq!(rig.steps.log(), ["exclusion", "checkpoint", "capture"]);
    let lasting = rig
        .journal
        .entries()
        .into_iter()
        .any(|entry| matches!(entry, Kept::Started { must_last: true, .. }));
    assert!(lasting, "the start of an effect that cannot be repeated must be on disk");
}

#[tokio::test]
async fn a_read_only_call_takes_no_locks_and_saves_nothing() {
    let rig = Rig::builder().tool(echo()).build();
    rig.call("echo", json!({})).await;
    assert!(rig.steps.log().is_empty());
}

#[tokio::test]
async fn bindings_that_changed_once_are_bound_again_and_twice_are_denied() {
    let rig = Arc::new(Rig::builder().tool(writer("local/write")).build());
    // The tree moves on between binding and the last look, every time.
    let shaken = Arc::clone(&rig);
    let mut context = rig.context.clone();
    let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    let source = Shaker { rig: Arc::downgrade(&shaken), schema };
    rig.registry.register(Arc::new(source), haft_tool::OnConflict::Replace).unwrap();
    context.tools = rig.registry.snapshot();
    let call = rig.tool_call("shaky", json!({ "path": "a" }));
    let outcome = rig.dispatch.dispatch(&context, call).await.into_outcome().unwrap();
    assert!(outcome.is_ok(), "one change is followed: {}", outcome.model_text());
    let intents = rig.words().iter().filter(|word| **word == "intent").count();
    assert_eq!(intents, 2, "the second binding is on record");
}

/// A source whose waking lets the bindings of the call that wakes it be out of date.
struct Shaker {
    rig: std::sync::Weak<Rig>,
    schema: Value,
}

impl haft_tool::ToolSource for Shaker {
    fn name(&self) -> &'static str {
        "shaker"
    }

    fn scope(&self) -> haft_tool::Scope {
        haft_tool::Scope::Shared
    }

    fn build(
        &self,
        _: &haft_tool::BuildContext,
    ) -> Result<Vec<Arc<dyn Tool>>, haft_tool::SourceError> {
        let tool =
            FunctionTool::new("local/shaky".parse().unwrap(), "Shakes.", self.schema.clone())
                .unwrap()
                .facts(|facts| {
                    let writes =
                        Capabilities::builder().effect(Capability::WriteFiles).build().unwrap();
                    facts.capabilities(writes).slot(Slot::write("path"))
                })
                .body(|_, _| async { Ok(Output::text("ran")) })
                .unwrap();
        Ok(vec![tool])
    }

    fn activate(&self) -> haft_tool::BoxFuture<'_, Result<(), Failure>> {
        self.rig.upgrade().unwrap().tree.shake();
        Box::pin(std::future::ready(Ok(())))
    }
}

#[tokio::test]
async fn an_output_that_breaks_its_promise_is_a_failure() {
    let promise = haft_schema::Contract::foreign(json!({
        "type": "object",
        "properties": { "count": { "type": "integer" } },
        "required": ["count"],
    }))
    .unwrap();
    let liar =
        FunctionTool::new("local/liar".parse().unwrap(), "Lies.", json!({ "type": "object" }))
            .unwrap()
            .facts(|facts| facts.output(Some(promise)))
            .body(|_, _| async {
                Output::text("three").with_structured(&json!({ "count": "three" }))
            })
            .unwrap();
    let rig = Rig::builder().tool(liar).build();
    let outcome = rig.call("liar", json!({})).await;
    assert_eq!(failure(&outcome.status).kind, ErrorKind::OutputInvalid);
    assert_eq!(outcome.structured, None, "what broke the promise is not passed on as data");
}

#[tokio::test]
async fn text_beyond_the_bound_is_cut_and_kept_as_an_artifact() {
    let wordy = pure_tool("local/wordy", |_| Ok(Output::text("å".repeat(10_000))));
    let rig = Rig::builder().tool(wordy).limits(|limits| limits.outcome_text_bytes = 1_000).build();
    let outcome = rig.call("wordy", json!({})).await;
    let shown = outcome.content[0].as_text().unwrap();
    assert!(shown.len() < 1_100, "{} bytes", shown.len());
    assert_eq!(&*rig.artifacts.all()[0].bytes, "å".repeat(10_000).as_bytes());
    assert!(outcome.bounds[0].way_on.contains("artifact"), "{}", outcome.bounds[0]);
}

#[tokio::test]
async fn text_that_cannot_be_kept_says_so() {
    let wordy = pure_tool("local/wordy", |_| Ok(Output::text("x".repeat(10_000))));
    let rig = Rig::builder().tool(wordy).limits(|limits| limits.outcome_text_bytes = 1_000).build();
    rig.artifacts.temper.set(Mood::Fails);
    let outcome = rig.call("wordy", json!({})).await;
    assert!(outcome.is_ok());
    assert!(outcome.bounds[0].way_on.contains("was not kept"), "{}", outcome.bounds[0]);
}

#[tokio::test]
async fn an_idempotent_call_is_tried_again_when_something_is_unavailable() {
    let tries = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let counter = Arc::clone(&tries);
    let shy = pure_tool("local/shy", move |_| {
        if counter.fetch_add(1, std::sync::atomic::Ordering::SeqCst) < 2 {
            Err(Failure::new(ErrorKind::Unavailable, "not yet"))
        } else {
            Ok(Output::text("now"))
        }
    });
    let rig = Rig::builder()
        .tool(shy)
        .limits(|limits| limits.retry_delay = std::time::Duration::ZERO)
        .build();
    let outcome = rig.call("shy", json!({})).await;
    assert_eq!(outcome.model_text(), "now");
    assert_eq!(outcome.usage.attempts, Some(3));
    assert_eq!(rig.words(), ["intent", "started", "started", "started", "outcome"]);
}

#[tokio::test]
async fn a_write_is_never_tried_again() {
    let writes = Capabilities::builder().effect(Capability::WriteFiles).build().unwrap();
    let once =
        FunctionTool::new("local/once".parse().unwrap(), "Fails.", json!({ "type": "object" }))
            .unwrap()
            .facts(|facts| facts.capabilities(writes))
            .body(|_, _| async { Err(Failure::new(ErrorKind::Unavailable, "busy")) })
            .unwrap();
    let rig = Rig::builder().tool(once).build();
    assert_eq!(rig.call("once", json!({})).await.usage.attempts, Some(1));
}

#[tokio::test]
async fn refused_calls_are_on_record_with_their_arguments() {
    for (tool, arguments) in [
        ("nobody", json!({ "why": "unknown tool" })),
        ("write", json!({ "path": 7 })),
        ("write", json!("no object")),
        ("write", json!({ "path": "../out" })),
    ] {
        let rig = Rig::builder().tool(writer("local/write")).build();
        rig.call(tool, arguments.clone()).await;
        let kept = rig.journal.entries().into_iter().find_map(|entry| match entry {
            Kept::Intent(intent) => Some(Value::clone(&intent.arguments)),
            _ => None,
        });
        assert_eq!(kept, Some(arguments), "{tool}");
    }
}

/// A tool that writes what its `path` names, unless it is told only to look.
struct Looking;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct LookingArgs {
    /// What to write.
    #[expect(dead_code, reason = "the call says what it was bound to")]
    path: haft_tool::ToolPath,
    /// Only look.
    only_look: bool,
}

impl haft_tool::TypedTool for Looking {
    type Args = LookingArgs;
    type Output = Output;

    fn facts(&self) -> Result<haft_tool::Facts, haft_tool::DescriptorError> {
        let existence = haft_tool::Existence::Optional;
        let roots = Slot { existence, ..Slot::write_roots("workspace") };
        let slots = vec![Slot::write("path"), roots];
        let writes = Capabilities::builder().effect(Capability::WriteFiles);
        let capabilities = writes.effect(Capability::ReadFiles).build()?;
        let facts = haft_tool::Facts::new("local/looking".parse()?, "Writes, or only looks.");
        Ok(haft_tool::Facts { slots, capabilities, ..facts })
    }

    const NARROWS: bool = true;

    fn effects(&self, args: &LookingArgs) -> Result<Option<Capabilities>, Failure> {
        Ok(args.only_look.then(Capabilities::read_only))
    }

    async fn run(&self, _: haft_tool::Call, _: LookingArgs) -> Result<Output, Failure> {
        Ok(Output::text("looked"))
    }
}

#[tokio::test]
async fn a_call_that_writes_nothing_binds_what_it_could_have_written_for_reading() {
    use haft_protocol::Access::{Read, ReadTree, Write, WriteTree};
    use haft_tool::TypedTool as _;
    let rig = Rig::builder().tool(Looking.erase().unwrap()).preset(Preset::ReadOnly).build();
    for (only_look, expected) in [(true, [Read, ReadTree]), (false, [Write, WriteTree])] {
        let arguments = json!({ "path": "a", "only_look": only_look });
        let call = rig.tool_call("looking", arguments.clone());
        let rehearsal = rig.dispatch.rehearse(&rig.context, call).await.unwrap();
        let bound: Vec<_> = rehearsal.bindings.iter().map(|it| it.access).collect();
        assert_eq!(bound, expected);
        let outcome = rig.call("looking", arguments).await;
        assert_eq!(outcome.is_ok(), only_look, "{}", outcome.model_text());
    }
}
