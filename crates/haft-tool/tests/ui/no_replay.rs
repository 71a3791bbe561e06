//! A body consumes its call, and nothing keeps it.

use std::sync::Arc;

use haft_tool::{Call, Tool, tool};

/// Takes its call.
#[tool]
async fn taking(call: Call) {
    let _ = call;
}

async fn replay(tool: Arc<dyn Tool>, call: Call) {
    let _ = Arc::clone(&tool).call(call).await;
    let _ = tool.call(call).await;
}

async fn run_and_replay(call: Call) {
    taking(call).await;
    taking(call).await;
}

fn main() {}
