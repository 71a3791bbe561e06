//! A server with one tool, over standard input and output: the least there can be, and what round trips are measured on.
//!
//! Nothing is recorded, and nobody is asked.

use std::sync::Arc;

use haft_mcp::{About, McpServer, standard_streams};
use haft_policy::Policy;
use haft_protocol::{Caller, Entrance};
use haft_tool::ports::none::{
    NoApprover, NoArtifacts, NoBinder, NoCapture, NoCheckpoints, NoExclusion, NoJournal,
};
use haft_tool::{
    Budget, CallContext, Cancellation, Dispatch, DispatchLimits, DrawnIds, FunctionTool,
    OnConflict, Output, Ports, Registry, SystemClock,
};
use serde_json::{Value, json};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let schema = json!({
        "type": "object",
        "properties": { "text": { "type": "string" } },
        "required": ["text"],
    });
    let echo = FunctionTool::new("local/echo".parse()?, "Says a text again.", schema)?.body(
        |_call, arguments| async move {
            let text = arguments.get("text").and_then(Value::as_str).unwrap_or_default();
            Ok(Output::text(text))
        },
    )?;
    let registry = Arc::new(Registry::default());
    registry.register_tool(echo, OnConflict::Reject)?;

    let ports = Ports {
        journal: Arc::new(NoJournal),
        binder: Arc::new(NoBinder),
        checkpoints: Arc::new(NoCheckpoints),
        capture: Arc::new(NoCapture),
        artifacts: Arc::new(NoArtifacts),
        approver: Arc::new(NoApprover),
        exclusion: Arc::new(NoExclusion),
        clock: Arc::new(SystemClock),
        ids: Arc::new(DrawnIds::default()),
    };
    let caller = Caller {
        entrance: Entrance::Mcp,
        principal: "nobody yet".into(),
        run: ports.run_id(),
        branch: None,
        parent: None,
    };
    let mut context = CallContext::new(caller, registry.snapshot(), Arc::new(Policy::default()));
    context.run = Budget::new(u64::MAX);
    let dispatch = Dispatch::new(ports, DispatchLimits::default());
    let server = McpServer::builder(dispatch, registry, context)
        .about(About::new("echo", env!("CARGO_PKG_VERSION")))
        .build()?;
    let (input, output) = standard_streams();
    server.serve(input, output, &Cancellation::new()).await?;
    Ok(())
}
