//! The schemas of tools, in the dialect of whoever reads them.

use std::sync::Arc;

use haft_model::{Dialect, ToolSpec};
use serde_json::Value;

/// Returns the schema of a tool's arguments as a model of the dialect is told it.
pub(crate) fn lowered(tool: &ToolSpec, _dialect: Dialect) -> Arc<Value> {
    Arc::clone(&tool.schema)
}
