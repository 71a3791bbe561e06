//! How much a run may take.

use std::num::NonZeroU64;
use std::time::Duration;

use haft_protocol::{RunLimit, StopCause, UsageTotal, limits};

/// How much a run may take. What is left out is not bounded by this, but by what else bounds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunLimits {
    /// Requests to the model in one turn.
    pub steps: NonZeroU64,
    /// Tokens of all prompts and replies of the run.
    pub tokens: Option<NonZeroU64>,
    /// Millionths of a US dollar of the run.
    pub micro_usd: Option<NonZeroU64>,
    /// Time of one turn, waiting for people not counted.
    pub time: Option<Duration>,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self { steps: limits::RUN_STEPS, tokens: None, micro_usd: None, time: None }
    }
}

/// What a turn and its run took so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// Requests of this turn.
    pub steps: u64,
    /// What all requests of the run took, those of subagents included.
    pub usage: UsageTotal,
    /// Time of this turn.
    pub time: Duration,
}

impl RunLimits {
    /// Returns the first limit that has been reached.
    pub fn reached(&self, spent: &Spent) -> Option<StopCause> {
        let limit = |limit, allowed: u64| Some(StopCause::Limit { limit, allowed });
        if spent.steps >= self.steps.get() {
            return limit(RunLimit::Steps, self.steps.get());
        }
        if let Some(tokens) = self.tokens.filter(|it| spent.usage.tokens() >= it.get()) {
            return limit(RunLimit::Tokens, tokens.get());
        }
        if let Some(money) = self.micro_usd.filter(|it| spent.usage.micro_usd >= it.get()) {
            return limit(RunLimit::Money, money.get());
        }
        if let Some(time) = self.time.filter(|it| spent.time >= *it) {
            return limit(RunLimit::Time, time.as_secs());
        }
        None
    }
}
