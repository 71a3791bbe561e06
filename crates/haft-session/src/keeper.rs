//! Keeping what a run does.

use std::fmt;
use std::sync::Arc;

use haft_model::BoxFuture;
use haft_protocol::{RunEntry, RunFacts};

/// An entry that could not be kept.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct KeeperError {
    /// What could not be done and what would help.
    pub text: String,
    /// Why, for the operator.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// Keeps the entries of one run, in order.
pub trait Keeper: Send + Sync + fmt::Debug + 'static {
    /// Keeps an entry. When the future resolves, the entry survives the end of this process.
    ///
    /// # Errors
    ///
    /// Fails when it could not be kept; what follows from it must then not happen.
    fn keep<'a>(&'a self, entry: &'a RunEntry) -> BoxFuture<'a, Result<(), KeeperError>>;

    /// Begins the record of a run that a call of this one started, and returns what keeps it. Roots that are left out are
    /// those of this run.
    ///
    /// # Errors
    ///
    /// Fails when it could not be begun; the other run must then not begin.
    fn begin_beneath(&self, facts: RunFacts)
    -> BoxFuture<'_, Result<Arc<dyn Keeper>, KeeperError>>;
}

/// Keeps nothing: a run that cannot be resumed.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoKeeper;

impl Keeper for NoKeeper {
    fn keep<'a>(&'a self, _: &'a RunEntry) -> BoxFuture<'a, Result<(), KeeperError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn begin_beneath(&self, _: RunFacts) -> BoxFuture<'_, Result<Arc<dyn Keeper>, KeeperError>> {
        Box::pin(std::future::ready(Ok(Arc::new(NoKeeper) as Arc<dyn Keeper>)))
    }
}
