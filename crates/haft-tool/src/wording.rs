//! Calls in the words of who reads of them.

use haft_protocol::WireName;
use serde_json::{Map, Value};

/// How a caller asks for a tool with some arguments, by the tools it was shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Wording {
    /// The name to call.
    pub name: WireName,
    /// Whether that is the name the caller called already.
    pub is_own: bool,
    /// The arguments to give, without those that the name stands for.
    pub arguments: Map<String, Value>,
}
