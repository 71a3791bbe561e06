//! How answers speak of calls: in the words of the tools that the caller was shown.

use haft_protocol::Failure;
use haft_tool::{Call, Wording};
use serde_json::{Map, Value, json};

pub(crate) const EDITOR: &str = "builtin/editor";
pub(crate) const READER: &str = "builtin/reader";
pub(crate) const SEARCH: &str = "builtin/search";

/// Names what does an action of a tool, as in `use …`: the action, where the caller called that tool already, else the
/// tool that does it. Nothing, where the caller was shown none.
pub(crate) fn action(call: &Call, tool: &str, action: &str) -> Option<String> {
    let wording = call.wording(tool, fields(&json!({ "action": action })))?;
    let Wording { name, is_own, arguments, .. } = wording;
    Some(match arguments.get("action") {
        Some(action) if is_own => format!("\"action\": {action}"),
        Some(action) => format!("`{name}` with \"action\": {action}"),
        None => format!("`{name}`"),
    })
}

/// Names the tool that does an action, as in `use …`.
pub(crate) fn tool(call: &Call, tool: &str, action: &str) -> Option<String> {
    let arguments = fields(&json!({ "action": action }));
    call.wording(tool, arguments).map(|it| format!("`{}`", it.name))
}

/// Writes a call, as in `send: …`: its arguments, after the name of the tool where that is another than the one called.
pub(crate) fn call(call: &Call, tool: &str, arguments: Map<String, Value>) -> Option<String> {
    let Wording { name, is_own, arguments, .. } = call.wording(tool, arguments)?;
    let arguments = Value::Object(arguments);
    Some(if is_own { arguments.to_string() } else { format!("`{name}` {arguments}") })
}

/// Returns the fields of an object.
pub(crate) fn fields(object: &Value) -> Map<String, Value> {
    object.as_object().cloned().unwrap_or_default()
}

/// Hints that are only given where the caller was shown what they speak of.
pub(crate) trait HintIf {
    /// Adds a hint about something, if it is there.
    fn hint_if(self, what: Option<String>, hint: impl FnOnce(String) -> String) -> Self;
}

impl HintIf for Failure {
    fn hint_if(self, what: Option<String>, hint: impl FnOnce(String) -> String) -> Self {
        match what {
            Some(what) => self.hint(hint(what)),
            None => self,
        }
    }
}
