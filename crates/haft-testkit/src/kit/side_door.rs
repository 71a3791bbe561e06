//! What every entrance has to pass: it is no side door.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use haft_policy::Rule;
use haft_protocol::{Control, Outcome, Status};
use haft_tool::hooks::PreVerdict;
use haft_tool::{BoxFuture, Hooks, Output};
use serde_json::{Value, json};

use crate::{Rig, pure_tool};

/// An entrance: something that makes a call of the rig's tool with these arguments, and says how it ended.
pub struct Door {
    /// A name for messages.
    pub name: &'static str,
    /// Makes the call.
    pub knock: fn(Arc<Rig>, &'static str, Value) -> BoxFuture<'static, Outcome>,
}

/// Checks that an entrance leads through every gate.
///
/// A rule that denies, a hook that denies, a hook that rewrites, arguments outside the contract and a journal that
/// cannot keep the call each have their effect on a call by this entrance, and what does run is on record.
///
/// # Panics
///
/// Panics naming the gate that was passed by.
pub async fn no_side_door(door: &Door) {
    let name = door.name;
    let knock = |rig: &Arc<Rig>, tool, arguments| (door.knock)(Arc::clone(rig), tool, arguments);

    let (rig, ran) = house(Hooks::none(), true);
    let outcome = knock(&rig, "local/marker", json!({})).await;
    assert!(
        denied_by(&outcome, &Control::Policy),
        "{name}: passed by a rule: {}",
        outcome.model_text()
    );
    assert_eq!(ran.load(Ordering::SeqCst), 0, "{name}: ran what a rule denied");
    assert!(rig.words().contains(&"outcome"), "{name}: a denial is not on record");

    let hooks = Hooks::none().pre("no", |_| async { Ok(PreVerdict::Deny("never".to_owned())) });
    let (rig, ran) = house(hooks, false);
    let outcome = knock(&rig, "local/marker", json!({})).await;
    let hook = Control::Hook("no".to_owned());
    assert!(denied_by(&outcome, &hook), "{name}: passed by a hook: {}", outcome.model_text());
    assert_eq!(ran.load(Ordering::SeqCst), 0, "{name}: ran what a hook denied");

    let hooks = Hooks::none().pre("rewrite", |proposed| async move {
        // An entrance may make calls of haft's own tools on the way.
        if proposed.tool.name().is_builtin() {
            return Ok(PreVerdict::Continue);
        }
        let mut arguments = proposed.arguments.values().clone();
        arguments.insert("rewritten".to_owned(), Value::Bool(true));
        Ok(PreVerdict::Rewrite(arguments))
    });
    let (rig, ran) = house(hooks, false);
    let outcome = knock(&rig, "local/marker", json!({})).await;
    assert!(outcome.is_ok(), "{name}: {}", outcome.model_text());
    assert!(outcome.model_text().contains("rewritten"), "{name}: passed by a hook that rewrites");
    assert_eq!(ran.load(Ordering::SeqCst), 1, "{name}: did not run once");
    let words = rig.words();
    for word in ["intent", "started", "outcome"] {
        assert!(words.contains(&word), "{name}: no `{word}` on record: {words:?}");
    }

    let (rig, ran) = house(Hooks::none(), false);
    let outcome = knock(&rig, "local/marker", json!({ "number": "three" })).await;
    assert!(matches!(outcome.status, Status::Failed(_)), "{name}: passed by the contract");
    assert_eq!(ran.load(Ordering::SeqCst), 0, "{name}: ran arguments outside the contract");

    let (rig, ran) = house(Hooks::none(), false);
    rig.journal.starts.set(crate::doors::Mood::Fails);
    let outcome = knock(&rig, "local/marker", json!({})).await;
    assert!(!outcome.is_ok(), "{name}: ran without a record");
    assert_eq!(ran.load(Ordering::SeqCst), 0, "{name}: ran without a record");
}

fn denied_by(outcome: &Outcome, control: &Control) -> bool {
    matches!(&outcome.status, Status::Denied(denial) if denial.control == *control)
}

fn house(hooks: Hooks, denied: bool) -> (Arc<Rig>, Arc<AtomicUsize>) {
    let ran = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&ran);
    let schema = json!({
        "type": "object",
        "properties": { "number": { "type": "integer" } },
        "additionalProperties": true,
    });
    let marker =
        haft_tool::FunctionTool::new("local/marker".parse().unwrap(), "Counts its runs.", schema)
            .unwrap()
            .body(move |_call, args| {
                counter.fetch_add(1, Ordering::SeqCst);
                let text = Value::Object(args).to_string();
                async move { Ok(Output::text(text)) }
            })
            .unwrap();
    let bystander = pure_tool("local/bystander", |_| Ok(Output::text("nothing")));
    let mut rig = Rig::builder().tool(marker).tool(bystander).hooks(hooks);
    if denied {
        rig = rig.rule(Rule::deny().tool("local/marker".parse().unwrap()));
    }
    (Arc::new(rig.build()), ran)
}
