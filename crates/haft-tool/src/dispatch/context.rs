//! What surrounds a call.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use haft_policy::Policy;
use haft_protocol::{CallId, Caller, Progress, limits};

use super::waits::Waits;
use crate::hooks::Hooks;
use crate::registry::Snapshot;
use crate::{Cancellation, Extensions, SharedLedger};

/// A number of calls that may still be made, shared by everyone who holds a clone.
#[derive(Debug, Clone)]
pub struct Budget {
    left: Arc<AtomicU64>,
    total: u64,
}

impl Budget {
    /// Makes a budget.
    pub fn new(total: u64) -> Self {
        Self { left: Arc::new(AtomicU64::new(total)), total }
    }

    /// Returns how many there were at the start.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns how many are left.
    pub fn left(&self) -> u64 {
        self.left.load(Ordering::Relaxed)
    }

    /// Takes one, if there is one.
    pub(crate) fn take(&self) -> bool {
        self.left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1))
            .is_ok()
    }
}

/// Somebody who wants to hear how far calls are.
#[derive(Clone, Default)]
pub struct Reporter(Option<Arc<dyn Fn(CallId, Progress) + Send + Sync>>);

impl Reporter {
    /// Makes a reporter of a function, which must not block.
    pub fn new(hear: impl Fn(CallId, Progress) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(hear)))
    }

    pub(crate) fn report(&self, call: CallId, progress: Progress) {
        if let Some(hear) = &self.0 {
            hear(call, progress);
        }
    }
}

impl fmt::Debug for Reporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Reporter(somebody)" } else { "Reporter(nobody)" })
    }
}

/// What surrounds a call: who asks, which tools they see, under which policy and hooks, within which budgets.
///
/// Policy has no default: a call cannot be made without one.
#[derive(Debug, Clone)]
pub struct CallContext {
    /// Who asks.
    pub caller: Caller,
    /// The tools that were advertised to them.
    pub tools: Arc<Snapshot>,
    /// What they may do.
    pub policy: Arc<Policy>,
    /// User code on the way.
    pub hooks: Arc<Hooks>,
    /// Calls of this step.
    pub step: Budget,
    /// Calls of this run.
    pub run: Budget,
    /// The request to stop everything in this context.
    pub cancellation: Cancellation,
    /// Who wants to hear how far calls are.
    pub reporter: Reporter,
    /// How long calls waited for people.
    pub waits: Waits,
    /// What the caller has seen of files; nothing where nobody remembers, as in a command that makes one call.
    pub ledger: Option<SharedLedger>,
    /// What bodies find beside what the doors put in.
    pub extensions: Extensions,
}

impl CallContext {
    /// Makes a context without hooks, with the budgets of [`limits`].
    pub fn new(caller: Caller, tools: Arc<Snapshot>, policy: Arc<Policy>) -> Self {
        Self {
            caller,
            tools,
            policy,
            hooks: Arc::default(),
            step: Budget::new(limits::CALLS_PER_STEP as u64),
            run: Budget::new(limits::CALLS_PER_RUN),
            cancellation: Cancellation::new(),
            reporter: Reporter::default(),
            waits: Waits::default(),
            ledger: None,
            extensions: Extensions::new(),
        }
    }

    /// Makes the context of one call, which is cancelled by itself.
    pub(super) fn of_call(&self, cancellation: Cancellation) -> Self {
        let Self { caller, tools, policy, hooks, step, run, reporter, .. } = self;
        let Self { waits, ledger, extensions, .. } = self;
        Self {
            caller: caller.clone(),
            tools: Arc::clone(tools),
            policy: Arc::clone(policy),
            hooks: Arc::clone(hooks),
            step: step.clone(),
            run: run.clone(),
            cancellation,
            reporter: reporter.clone(),
            waits: waits.clone(),
            ledger: ledger.clone(),
            extensions: extensions.clone(),
        }
    }

    /// Makes the context of the next step: the same, with a fresh budget of calls per step.
    pub fn next_step(&self) -> Self {
        Self { step: Budget::new(self.step.total()), ..self.clone() }
    }
}
