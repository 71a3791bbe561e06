//! Models and subagents are no side doors.

use std::sync::Arc;

use haft_agent::Subagents;
use haft_protocol::Outcome;
use haft_testkit::doors::Kept as Journalled;
use haft_testkit::kit::{Door, no_side_door};
use haft_testkit::{Line, Rig, ScriptedModel};
use haft_tool::{BoxFuture, OnConflict};
use serde_json::{Value, json};

use crate::rig::{Work, over};

/// Makes a call of a tool by way of a model, and returns how the call with that name ended, or the last one.
fn by_model(rig: Arc<Rig>, lines: Vec<Line>, tool: &'static str) -> BoxFuture<'static, Outcome> {
    Box::pin(async move {
        let (agent, branch, kept) = over(&rig, ScriptedModel::new(lines));
        let options = haft_agent::TurnOptions::default();
        agent.turn(&branch, Work::message(&rig, "Go."), &options).await;
        let entries = rig.journal.entries();
        let called = entries.iter().rev().find_map(|it| match it {
            Journalled::Intent(intent)
                if intent.tool.as_ref().is_ok_and(|it| it.to_string() == tool) =>
            {
                Some(intent.call)
            }
            _ => None,
        });
        let outcome = called.and_then(|call| rig.journal.outcomes_of(call).pop());
        outcome.map_or_else(|| kept.last_end(), |it| it.outcome)
    })
}

#[tokio::test]
async fn a_model_is_no_side_door() {
    fn knock(rig: Arc<Rig>, tool: &'static str, arguments: Value) -> BoxFuture<'static, Outcome> {
        by_model(rig, vec![Line::calls(&[(tool, arguments)]), Line::say("Done.")], tool)
    }
    no_side_door(&Door { name: "model", knock }).await;
}

#[tokio::test]
async fn a_subagent_is_no_side_door() {
    fn knock(rig: Arc<Rig>, tool: &'static str, arguments: Value) -> BoxFuture<'static, Outcome> {
        rig.registry.register(Arc::new(Subagents), OnConflict::Reject).unwrap();
        let lines = vec![
            Line::calls(&[("subagent", json!({ "instruction": "Call it." }))]),
            Line::Of(Box::new(move |request| {
                // Where the subagent was not let in, it is its parent that is asked again.
                let is_child = request.messages.len() == 1;
                let line = if is_child {
                    Line::calls(&[(tool, arguments.clone())])
                } else {
                    Line::say("Done.")
                };
                let Line::Reply(finished) = line else { unreachable!() };
                finished
            })),
            Line::say("Done."),
            Line::say("Done."),
        ];
        by_model(rig, lines, tool)
    }
    no_side_door(&Door { name: "subagent", knock }).await;
}
