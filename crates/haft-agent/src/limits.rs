//! How much a run may take.

use std::num::NonZeroU64;
use std::time::Duration;

use haft_model::ModelFacts;
use haft_protocol::{ModelId, RunLimit, StopCause, UsageTotal, limits};

/// How much a run may take. What is left out is not bounded by this, but by what else bounds it.
///
/// How many calls a run may make is said by the budget of its [context](haft_tool::CallContext::run), which dispatch
/// goes by; a turn stops when it is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunLimits {
    /// Requests to the model in one turn.
    pub steps: NonZeroU64,
    /// Tokens of all prompts and replies of the run, those of subagents included.
    pub tokens: Option<NonZeroU64>,
    /// Millionths of a US dollar of the run, those of subagents included.
    pub micro_usd: Option<NonZeroU64>,
    /// Time of one turn, waiting for people not counted.
    pub time: Option<Duration>,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self { steps: limits::RUN_STEPS, tokens: None, micro_usd: None, time: None }
    }
}

/// Limits that a model cannot be held to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LimitError {
    /// There is a budget of money, and nobody knows what the model costs.
    #[error(
        "nobody knows what `{model}` costs, so a budget of money means nothing: name its price, or limit tokens instead"
    )]
    NoPrice {
        /// The model.
        model: ModelId,
    },
}

/// What a turn and its run took so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spent {
    /// Requests of this turn.
    pub steps: u64,
    /// What all requests of the run took, those of subagents included.
    pub usage: UsageTotal,
    /// Tokens of requests that nobody counted, as they are estimated.
    pub uncounted_tokens: u64,
    /// Millionths of a US dollar of requests whose price nobody told, as they are estimated.
    pub unpriced_micro_usd: u64,
    /// Time of this turn, waiting for people not counted.
    pub time: Duration,
    /// Calls that the run may still make, and how many there were.
    pub calls: (u64, u64),
    /// A limit of somebody above that has been reached, for a subagent.
    pub above: Option<StopCause>,
}

impl Spent {
    /// Nothing yet, with as many calls as nobody makes.
    pub fn nothing() -> Self {
        Self {
            steps: 0,
            usage: UsageTotal::default(),
            uncounted_tokens: 0,
            unpriced_micro_usd: 0,
            time: Duration::ZERO,
            calls: (u64::MAX, u64::MAX),
            above: None,
        }
    }
}

impl RunLimits {
    /// Checks that a model can be held to the limits.
    ///
    /// # Errors
    ///
    /// Fails where there is a budget of money and the model has no price.
    pub fn check(&self, model: &ModelFacts) -> Result<(), LimitError> {
        if self.micro_usd.is_some() && model.price.is_none() {
            return Err(LimitError::NoPrice { model: model.id.clone() });
        }
        Ok(())
    }

    /// Returns the first limit that has been reached.
    pub fn reached(&self, spent: &Spent) -> Option<StopCause> {
        let limit = |limit, allowed: u64| Some(StopCause::Limit { limit, allowed });
        if spent.steps >= self.steps.get() {
            return limit(RunLimit::Steps, self.steps.get());
        }
        if let (0, calls) = spent.calls {
            return limit(RunLimit::Calls, calls);
        }
        let tokens = spent.usage.tokens().saturating_add(spent.uncounted_tokens);
        if let Some(allowed) = self.tokens.filter(|it| tokens >= it.get()) {
            return limit(RunLimit::Tokens, allowed.get());
        }
        let money = spent.usage.micro_usd.saturating_add(spent.unpriced_micro_usd);
        if let Some(allowed) = self.micro_usd.filter(|it| money >= it.get()) {
            return limit(RunLimit::Money, allowed.get());
        }
        if self.time.is_some_and(|it| spent.time >= it) {
            return self.out_of_time();
        }
        spent.above.clone()
    }

    /// Returns the cause of a turn that its time ended.
    pub(crate) fn out_of_time(&self) -> Option<StopCause> {
        let seconds = self.time?.as_millis().div_ceil(1_000);
        let allowed = u64::try_from(seconds).unwrap_or(u64::MAX);
        Some(StopCause::Limit { limit: RunLimit::Time, allowed })
    }
}
