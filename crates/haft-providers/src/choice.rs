//! What a model has to do, in words that several dialects share.

use haft_model::{Request, ToolChoice, ToolSpec};
use haft_protocol::WireName;
use serde_json::{Value, json};

use crate::Forced;
use crate::exchange::Exchange;

/// Whether a call is demanded, in the words of OpenAI and of those who are compatible with it.
pub(crate) enum Choice<'a> {
    /// The model does as it likes.
    Free,
    /// A word says it.
    Word(&'static str),
    /// The name of the tool does.
    Named(&'a WireName),
    /// A word does, and no tool but one is shown.
    Alone(&'a WireName),
}

impl<'a> Choice<'a> {
    /// Returns the choice of a request, as a model takes it at a server.
    pub(crate) fn of(request: &'a Request, exchange: &Exchange) -> Self {
        if request.tools.is_empty() {
            return Self::Free;
        }
        match (demanded(request, exchange), exchange.endpoint.quirks.forced) {
            (ToolChoice::Auto, _)
            | (ToolChoice::Required | ToolChoice::Named(_), Forced::Never) => Self::Free,
            (ToolChoice::None, _) => Self::Word("none"),
            (ToolChoice::Required, Forced::Any) => Self::Word("any"),
            (ToolChoice::Required, Forced::Named | Forced::Alone) => Self::Word("required"),
            (ToolChoice::Named(name), Forced::Alone) => Self::Alone(name),
            (ToolChoice::Named(name), Forced::Named | Forced::Any) => Self::Named(name),
        }
    }

    /// Tells whether a tool is shown.
    pub(crate) fn shows(&self, tool: &ToolSpec) -> bool {
        !matches!(self, Self::Alone(name) if **name != tool.name)
    }

    /// Tells whether one call is demanded of one tool, and no further calls are welcome beside it.
    pub(crate) fn is_one(&self) -> bool {
        matches!(self, Self::Named(_) | Self::Alone(_))
    }

    /// Returns the field that says it, where one does.
    pub(crate) fn word(&self, named: impl FnOnce(&WireName) -> Value) -> Option<Value> {
        match self {
            Self::Free => None,
            Self::Word(word) => Some(json!(word)),
            Self::Alone(_) => Some(json!("required")),
            Self::Named(name) => Some(named(name)),
        }
    }
}

/// Returns the choice of a request; none, where it demands a call of a model that does as it likes.
pub(crate) fn demanded<'a>(request: &'a Request, exchange: &Exchange) -> &'a ToolChoice {
    match &request.choice {
        ToolChoice::Required | ToolChoice::Named(_) if !exchange.facts.calls_on_demand => {
            &ToolChoice::Auto
        }
        choice => choice,
    }
}
