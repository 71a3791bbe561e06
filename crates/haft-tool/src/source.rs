//! Where tools come from.

use std::fmt;
use std::sync::Arc;

use haft_protocol::{BranchId, Failure};

use crate::tool::BoxFuture;
use crate::{Descriptor, DescriptorError, Extensions, Tool};

/// How far the tools of a source may be shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// One set of tools serves every branch.
    Shared,
    /// Each branch has tools built for it.
    PerBranch,
    /// The tools belong to one branch and cannot be built again for another.
    SingleUse,
}

/// What a source may know when it builds its tools.
#[derive(Debug, Clone, Default)]
pub struct BuildContext {
    /// The branch the tools are for, where there is one.
    pub branch: Option<BranchId>,
    /// What the assembly hands to sources beyond that.
    pub extensions: Extensions,
}

/// A source that could not deliver.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// One of its tools has no usable descriptor.
    #[error("source `{source_name}` has a tool that cannot be described")]
    Descriptor {
        /// The source.
        source_name: String,
        /// Why.
        #[source]
        source: DescriptorError,
    },
    /// The context lacks something the source needs.
    #[error("source `{source_name}` needs {what} to build its tools")]
    Missing {
        /// The source.
        source_name: String,
        /// What is missing.
        what: String,
    },
    /// Anything else.
    #[error("source `{source_name}`: {text}")]
    Other {
        /// The source.
        source_name: String,
        /// What happened.
        text: String,
    },
}

/// Where tools come from: built-in, MCP, skill, custom, function.
///
/// The order is *discover* (what would there be, without starting anything), *build* (make the tools for a context),
/// *activate* (wake what they need; before the first call, never at registration), *deactivate* (put it to sleep, at
/// the end and whenever nobody needs it). Activation may happen again after deactivation, and must be idempotent.
pub trait ToolSource: Send + Sync + 'static {
    /// Returns a name for messages and listings.
    fn name(&self) -> &str;

    /// Tells how far the tools may be shared.
    fn scope(&self) -> Scope;

    /// Lists what [`build`](Self::build) would make, without starting anything.
    ///
    /// # Errors
    ///
    /// Fails when the source cannot tell.
    fn discover(&self, context: &BuildContext) -> Result<Vec<Arc<Descriptor>>, SourceError> {
        Ok(self.build(context)?.iter().map(|tool| tool.descriptor()).collect())
    }

    /// Makes the tools for a context.
    ///
    /// # Errors
    ///
    /// Fails when the context lacks something or a tool cannot be described.
    fn build(&self, context: &BuildContext) -> Result<Vec<Arc<dyn Tool>>, SourceError>;

    /// Wakes what the tools need.
    fn activate(&self) -> BoxFuture<'_, Result<(), Failure>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Puts to sleep what the tools needed.
    fn deactivate(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Tools that are already made, as a source.
#[derive(Clone)]
pub struct FixedTools {
    name: String,
    scope: Scope,
    tools: Vec<Arc<dyn Tool>>,
}

impl FixedTools {
    /// Makes a source of tools that any branch may share.
    pub fn shared(name: impl Into<String>, tools: Vec<Arc<dyn Tool>>) -> Self {
        Self { name: name.into(), scope: Scope::Shared, tools }
    }

    /// Makes a source of tools that belong to one branch.
    pub fn single_use(name: impl Into<String>, tools: Vec<Arc<dyn Tool>>) -> Self {
        Self { name: name.into(), scope: Scope::SingleUse, tools }
    }
}

impl ToolSource for FixedTools {
    fn name(&self) -> &str {
        &self.name
    }

    fn scope(&self) -> Scope {
        self.scope
    }

    fn build(&self, _: &BuildContext) -> Result<Vec<Arc<dyn Tool>>, SourceError> {
        Ok(self.tools.clone())
    }
}

impl fmt::Debug for FixedTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FixedTools({}, {} tools)", self.name, self.tools.len())
    }
}
