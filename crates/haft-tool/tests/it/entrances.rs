//! Each way into dispatch leads through every gate.

use std::sync::Arc;

use haft_protocol::Outcome;
use haft_testkit::Rig;
use haft_testkit::kit::{Door, no_side_door};
use haft_tool::{Alias, BoxFuture, Dispatched, FunctionTool, OnConflict, Output};
use serde_json::{Value, json};

fn boxed(future: impl Future<Output = Outcome> + Send + 'static) -> BoxFuture<'static, Outcome> {
    Box::pin(future)
}

fn done(end: Dispatched) -> Outcome {
    end.into_outcome().expect("the call should have ended")
}

#[tokio::test]
async fn dispatch_is_no_side_door() {
    let knock =
        |rig: Arc<Rig>, tool, arguments| boxed(async move { rig.call(tool, arguments).await });
    no_side_door(&Door { name: "dispatch", knock }).await;
}

#[tokio::test]
async fn a_handle_is_no_side_door() {
    let knock = |rig: Arc<Rig>, tool: &'static str, arguments: Value| {
        boxed(async move {
            done(rig.dispatch.start(&rig.context, rig.tool_call(tool, arguments)).await)
        })
    };
    no_side_door(&Door { name: "handle", knock }).await;
}

#[tokio::test]
async fn a_batch_is_no_side_door() {
    let knock = |rig: Arc<Rig>, tool: &'static str, arguments: Value| {
        boxed(async move {
            let calls =
                vec![rig.tool_call("local/bystander", json!({})), rig.tool_call(tool, arguments)];
            done(rig.dispatch.batch(&rig.context, calls).await.remove(1))
        })
    };
    no_side_door(&Door { name: "batch", knock }).await;
}

#[tokio::test]
async fn an_alias_is_no_side_door() {
    let knock = |rig: Arc<Rig>, tool: &'static str, arguments: Value| {
        boxed(async move {
            let alias = Alias::new("local/alias".parse().unwrap());
            rig.registry.register_alias(alias, &tool.parse().unwrap(), OnConflict::Reject).unwrap();
            let mut context = rig.context.clone();
            context.tools = rig.registry.snapshot();
            done(rig.dispatch.dispatch(&context, rig.tool_call("alias", arguments)).await)
        })
    };
    no_side_door(&Door { name: "alias", knock }).await;
}

#[tokio::test]
async fn a_nested_call_is_no_side_door() {
    let knock = |rig: Arc<Rig>, tool: &'static str, arguments: Value| {
        boxed(async move {
            let inner: Arc<std::sync::Mutex<Option<Outcome>>> = Arc::default();
            let slot = Arc::clone(&inner);
            let outer = FunctionTool::new(
                "local/outer".parse().unwrap(),
                "Calls another.",
                json!({ "type": "object" }),
            )
            .unwrap()
            .facts(haft_tool::DescriptorBuilder::composite)
            .body(move |call, _| {
                let (slot, arguments) = (Arc::clone(&slot), arguments.clone());
                async move {
                    let end = call.nested(tool, arguments).await;
                    *slot.lock().unwrap() = end.into_outcome();
                    Ok(Output::text("asked"))
                }
            })
            .unwrap();
            rig.registry.register_tool(outer, OnConflict::Reject).unwrap();
            // The gates of the rig are about the marker; the outer tool passes them in a context of its own.
            let mut context = rig.context.clone();
            context.tools = rig.registry.snapshot();
            let outcome =
                done(rig.dispatch.dispatch(&context, rig.tool_call("outer", json!({}))).await);
            inner.lock().unwrap().take().unwrap_or(outcome)
        })
    };
    no_side_door(&Door { name: "nested", knock }).await;
}

#[tokio::test]
async fn a_resumed_ticket_is_no_side_door() {
    let knock = |rig: Arc<Rig>, tool: &'static str, arguments: Value| {
        boxed(async move {
            let mut asking = rig.context.clone();
            let rule = haft_policy::Rule::ask().tool("*/*".parse().unwrap());
            asking.policy = Arc::new(
                haft_policy::Policy::new(haft_policy::Preset::Full, vec![rule], false).unwrap(),
            );
            asking.hooks = Arc::default();
            rig.oracle.say(haft_tool::Answer::Later);
            let call = rig.tool_call(tool, arguments);
            match rig.dispatch.dispatch(&asking, call).await {
                Dispatched::Waiting(ticket) => {
                    let yes = haft_tool::Answer::Approve { by: "ada".to_owned() };
                    done(rig.dispatch.resume(&rig.context, *ticket, yes).await)
                }
                Dispatched::Done(outcome) => *outcome,
            }
        })
    };
    no_side_door(&Door { name: "resume", knock }).await;
}
