//! A request to run a tool.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{BranchId, CallId, RunId};

/// Arguments as they arrive, before anything was decoded, repaired or checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RawArguments {
    /// Text that should be a JSON object.
    Text(String),
    /// A JSON value that should be an object.
    Json(Value),
}

impl Default for RawArguments {
    fn default() -> Self {
        Self::Json(Value::Object(serde_json::Map::new()))
    }
}

impl From<Value> for RawArguments {
    fn from(value: Value) -> Self {
        Self::Json(value)
    }
}

impl From<&str> for RawArguments {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for RawArguments {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// A request to run a tool: somebody's wish, nothing more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The id of the call, ours.
    pub id: CallId,
    /// The id that a model's provider gave it, to be echoed in the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// The wire name or qualified name asked for.
    pub tool: String,
    /// The arguments.
    #[serde(default)]
    pub arguments: RawArguments,
}

impl ToolCall {
    /// Makes a call.
    pub fn new(id: CallId, tool: impl Into<String>, arguments: impl Into<RawArguments>) -> Self {
        Self { id, provider_id: None, tool: tool.into(), arguments: arguments.into() }
    }
}

/// The door a call came in by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entrance {
    /// A command in a shell.
    Cli,
    /// A program that uses the library.
    Library,
    /// A model's request.
    Model,
    /// The body of another call.
    Nested,
    /// A node of a flow.
    Flow,
    /// A client of our MCP server.
    Mcp,
    /// A tool that a user defined.
    Custom,
    /// A model that another model started.
    Subagent,
}

impl Entrance {
    /// Returns the name used in serde forms.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cli => "cli",
            Self::Library => "library",
            Self::Model => "model",
            Self::Nested => "nested",
            Self::Flow => "flow",
            Self::Mcp => "mcp",
            Self::Custom => "custom",
            Self::Subagent => "subagent",
        }
    }
}

impl fmt::Display for Entrance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Who asks: the door, the name behind it, and what the call belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    /// The door.
    pub entrance: Entrance,
    /// A name for whoever stands there: a user, a client, a model.
    pub principal: Arc<str>,
    /// The run the call belongs to.
    pub run: RunId,
    /// The conversation the call belongs to, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<BranchId>,
    /// The call whose body asked, for a nested call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<CallId>,
}

/// What policy says about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It may run.
    Allow,
    /// A person has to say yes.
    Ask,
    /// It may not run.
    Deny,
}

impl Decision {
    /// Returns the name used in rules and serde forms.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How far a long call has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// How much is done.
    pub done: u64,
    /// How much there is, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// What is counted, in the plural, and what is done with it: `files searched`.
    pub unit: String,
}
