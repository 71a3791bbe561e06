//! The tools as an MCP server.

use std::sync::Arc;

use haft_mcp::{McpServer, McpServerBuilder, SealKey};
use haft_protocol::{Digest, Entrance};
use haft_store::StoreError;
use haft_tool::Budget;
use serde_json::json;

use crate::Haft;

impl Haft {
    /// Starts an MCP server of the tools.
    ///
    /// Questions are sealed with a key of the workspace that the state directory keeps, where there is one, so that an
    /// answer reaches whichever process serves the client there by then, and none that serves another workspace. Calls
    /// that have to be asked about are asked of the client's user if the parts were put together with the approver
    /// [`AskTheClient`](haft_mcp::AskTheClient).
    ///
    /// The number of calls of a run is not bounded: how long a client's model goes on is its client's to say.
    ///
    /// # Errors
    ///
    /// Fails when the key cannot be kept.
    pub fn mcp(&self) -> Result<McpServerBuilder, StoreError> {
        let mut context = self.context(self.caller(Entrance::Mcp, "an MCP client"));
        context.run = Budget::new(u64::MAX);
        let registry = Arc::clone(self.registry());
        let server = McpServer::builder(self.dispatch().clone(), registry, context);
        let Some(store) = self.store() else { return Ok(server) };
        let roots = Digest::of_json(&json!(self.workspace().recorded_roots()));
        Ok(server.key(SealKey::new(store.key(&format!("mcp {roots}"))?)))
    }
}
