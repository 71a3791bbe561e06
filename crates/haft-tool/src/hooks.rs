//! User code at fixed stations of dispatch.

use std::fmt;
use std::sync::Arc;

use haft_protocol::{CallId, Caller, IntentRecord, Outcome};
use serde_json::{Map, Value};

use crate::tool::BoxFuture;
use crate::{Arguments, Descriptor};

/// What a pre-hook sees: a call that is checked and not yet decided.
#[derive(Debug, Clone)]
pub struct Proposed {
    /// The call.
    pub call: CallId,
    /// Who asks.
    pub caller: Caller,
    /// The tool.
    pub tool: Arc<Descriptor>,
    /// The arguments, normalised after every hook before this one.
    pub arguments: Arguments,
}

/// What a pre-hook says. Saying nothing is not possible: a hook that fails or is too slow denies.
#[derive(Debug, Clone, PartialEq)]
pub enum PreVerdict {
    /// Go on.
    Continue,
    /// Go on with these arguments, which are checked again.
    Rewrite(Map<String, Value>),
    /// A person has to say yes, for this reason.
    Ask(String),
    /// Stop, for this reason.
    Deny(String),
}

/// What a post-hook sees: a call whose outcome is recorded.
#[derive(Debug, Clone)]
pub struct Committed {
    /// The call as it was recorded: tool, caller, arguments, bindings, decision.
    pub intent: Arc<IntentRecord>,
    /// The outcome as it was recorded.
    pub outcome: Arc<Outcome>,
    /// Whether the record was written; when not, the outcome carries a notice.
    pub recorded: bool,
}

type Pre = Arc<dyn Fn(Proposed) -> BoxFuture<'static, Result<PreVerdict, String>> + Send + Sync>;
type Post = Arc<dyn Fn(Committed) -> BoxFuture<'static, Result<(), String>> + Send + Sync>;

/// The hooks of one branch, each with a name.
///
/// Pre-hooks run once each, in order, and may rewrite or refuse. Post-hooks look at every recorded outcome, error hooks
/// at those that are not a success; neither can change it, and their errors are logged.
#[derive(Clone, Default)]
pub struct Hooks {
    pub(crate) pre: Vec<(String, Pre)>,
    pub(crate) post: Vec<(String, Post)>,
    pub(crate) error: Vec<(String, Post)>,
}

impl Hooks {
    /// Tells whether anybody looks at an outcome.
    pub(crate) fn watch(&self, outcome: &Outcome) -> bool {
        !self.post.is_empty() || !(outcome.is_ok() || self.error.is_empty())
    }

    /// Makes a set without hooks.
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds a hook before the decision.
    pub fn pre<F, R>(mut self, name: impl Into<String>, hook: F) -> Self
    where
        F: Fn(Proposed) -> R + Send + Sync + 'static,
        R: Future<Output = Result<PreVerdict, String>> + Send + 'static,
    {
        self.pre.push((name.into(), Arc::new(move |proposed| Box::pin(hook(proposed)))));
        self
    }

    /// Adds a hook that looks at every recorded outcome.
    pub fn post<F, R>(mut self, name: impl Into<String>, hook: F) -> Self
    where
        F: Fn(Committed) -> R + Send + Sync + 'static,
        R: Future<Output = Result<(), String>> + Send + 'static,
    {
        self.post.push((name.into(), Arc::new(move |committed| Box::pin(hook(committed)))));
        self
    }

    /// Adds a hook that looks at recorded outcomes that are not a success.
    pub fn error<F, R>(mut self, name: impl Into<String>, hook: F) -> Self
    where
        F: Fn(Committed) -> R + Send + Sync + 'static,
        R: Future<Output = Result<(), String>> + Send + 'static,
    {
        self.error.push((name.into(), Arc::new(move |committed| Box::pin(hook(committed)))));
        self
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |hooks: &[(String, Post)]| -> Vec<String> {
            hooks.iter().map(|(name, _)| name.clone()).collect()
        };
        f.debug_struct("Hooks")
            .field("pre", &self.pre.iter().map(|(name, _)| name).collect::<Vec<_>>())
            .field("post", &names(&self.post))
            .field("error", &names(&self.error))
            .finish()
    }
}
