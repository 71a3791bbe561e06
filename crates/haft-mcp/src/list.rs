//! The list of tools.

use std::sync::Arc;

use haft_protocol::{Capability, limits};
use haft_text::visible_line;
use haft_tool::{Descriptor, Registered, Snapshot};
use rmcp::ErrorData;
use rmcp::model::{CacheScope, JsonObject, ListToolsResult, Tool, ToolAnnotations};
use serde_json::Value;

/// Milliseconds that a list may be taken for current. Changes are announced, so that this is for clients that do not listen.
pub(crate) const TTL_MS: u64 = 60_000;

/// Returns the page of the list that begins after `cursor`.
///
/// The order is that of registration and the same for everybody. A cursor is the name of the last tool of the page before,
/// so that a tool that comes or goes between two pages neither doubles nor hides another.
///
/// # Errors
///
/// Fails for a cursor that no page gave.
pub(crate) fn tools(
    snapshot: &Snapshot,
    cursor: Option<&str>,
) -> Result<ListToolsResult, ErrorData> {
    let mut rest = snapshot.tools();
    if let Some(cursor) = cursor {
        rest.find(|it| it.wire.as_str() == cursor).ok_or_else(|| unknown_cursor(cursor))?;
    }
    let tools: Vec<Tool> = rest.by_ref().take(limits::MCP_PAGE).map(tool).collect();
    let mut result = ListToolsResult::with_all_items(tools);
    if rest.len() > 0 {
        result.next_cursor = result.tools.last().map(|it| it.name.clone().into_owned());
    }
    result.ttl_ms = Some(TTL_MS);
    result.cache_scope = Some(CacheScope::Private);
    Ok(result)
}

/// Refuses a cursor that no page gave.
pub(crate) fn unknown_cursor(cursor: &str) -> ErrorData {
    let shown: String = visible_line(cursor).chars().take(80).collect();
    let text = format!("`{shown}` is no cursor of this list; ask for its first page without one");
    ErrorData::invalid_params(text, None)
}

/// Describes a tool as clients see it.
pub(crate) fn tool(registered: &Registered) -> Tool {
    let descriptor = &registered.descriptor;
    let mut tool = Tool::new(
        registered.wire.as_str().to_owned(),
        descriptor.description().to_owned(),
        object(descriptor.input().schema()),
    )
    .with_annotations(annotations(descriptor));
    if let Some(output) = descriptor.output() {
        tool = tool.with_raw_output_schema(object(output.schema()));
    }
    tool
}

/// Returns what people read as its name, and what a client may take as a hint. Nothing here is a promise; what a call may do
/// is decided when it is made.
fn annotations(descriptor: &Descriptor) -> ToolAnnotations {
    let capabilities = descriptor.capabilities();
    let reaches_out = [Capability::Network, Capability::External, Capability::Execute];
    let hints = ToolAnnotations::with_title(visible_line(&descriptor.title()))
        .read_only(capabilities.is_read_only())
        .open_world(reaches_out.iter().any(|it| capabilities.has(*it)));
    if capabilities.is_read_only() {
        return hints;
    }
    // What is written can be written over, and a program can do anything.
    hints.destructive(true).idempotent(capabilities.is_idempotent())
}

/// Contracts of tools are objects.
fn object(schema: &Value) -> Arc<JsonObject> {
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}
