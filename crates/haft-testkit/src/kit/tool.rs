//! What every tool has to pass.

use std::sync::Arc;

use haft_protocol::limits::DESCRIPTION_BYTES;
use haft_protocol::{ErrorKind, Status};
use haft_tool::Tool;
use serde_json::{Value, json};

use crate::Rig;

/// Checks what must hold for any tool, whatever it does.
///
/// Its facts are stable and complete, arguments that its contract refuses never reach its body, and a call with
/// `valid` arguments ends in one recorded outcome that keeps its promise about the output. A tool with slots needs a
/// rig whose tree has the paths that `valid` names; `prepare` makes them.
///
/// # Panics
///
/// Panics naming the first thing that does not hold.
pub async fn tool_conforms(tool: Arc<dyn Tool>, valid: Value, prepare: impl FnOnce(&Rig)) {
    let descriptor = tool.descriptor();
    let name = descriptor.name().to_string();
    assert_eq!(
        descriptor.fingerprint(),
        tool.descriptor().fingerprint(),
        "{name}: two looks at the descriptor differ"
    );
    assert!(
        descriptor.description().len() <= DESCRIPTION_BYTES,
        "{name}: the description is too long"
    );
    let schema = descriptor.input().schema();
    assert_eq!(
        schema.get("type"),
        Some(&json!("object")),
        "{name}: the contract is not an object's"
    );
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        for (property, facts) in properties {
            assert!(
                facts
                    .get("description")
                    .and_then(Value::as_str)
                    .is_some_and(|text| !text.is_empty()),
                "{name}: `{property}` has no description for a model to read"
            );
        }
    }

    let rig = Rig::builder().tool(Arc::clone(&tool)).build();
    prepare(&rig);
    let refused = rig.call(&name, json!("not an object")).await;
    let kind = match &refused.status {
        Status::Failed(failure) => Some(failure.kind),
        _ => None,
    };
    assert_eq!(
        kind,
        Some(ErrorKind::InvalidArguments),
        "{name}: took arguments that are no object"
    );
    assert!(
        !rig.words().contains(&"started"),
        "{name}: its body ran on arguments that are no object"
    );

    let call = rig.tool_call(&name, valid);
    let id = call.id;
    let outcome = rig
        .dispatch
        .dispatch(&rig.context, call)
        .await
        .into_outcome()
        .expect("a preset asks nobody");
    assert_eq!(rig.journal.outcomes_of(id).len(), 1, "{name}: a call has one recorded outcome");
    assert!(
        outcome.is_ok(),
        "{name}: failed on arguments said to be valid: {}",
        outcome.model_text()
    );
    assert!(!outcome.content.is_empty(), "{name}: succeeded without anything to read");
    assert_eq!(
        descriptor.output().is_some(),
        outcome.structured.is_some(),
        "{name}: declares an output contract exactly when it returns data"
    );
}
