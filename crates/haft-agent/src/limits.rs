//! How much a run may take.

use std::num::NonZeroU64;
use std::time::Duration;

use haft_model::{ModelFacts, Price};
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

/// A request that is about to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Planned {
    /// Tokens of its prompt, as they are estimated.
    pub prompt_tokens: u64,
    /// Tokens that its reply has to have room for.
    pub least_output_tokens: u64,
    /// What the model costs, where that is known.
    pub price: Option<Price>,
}

/// A limit that more was taken than allowed of, because a provider counted more than was estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overrun {
    /// Which.
    pub limit: RunLimit,
    /// How much was allowed, in the limit's unit.
    pub allowed: u64,
    /// How much was taken.
    pub taken: u64,
}

/// What a turn and its run took so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spent {
    /// Requests of this turn.
    pub steps: u64,
    /// What all requests of the run took, those of subagents included.
    pub usage: UsageTotal,
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
        if let Some(allowed) = self.tokens.filter(|it| tokens(&spent.usage) >= it.get()) {
            return limit(RunLimit::Tokens, allowed.get());
        }
        if let Some(allowed) = self.micro_usd.filter(|it| micro_usd(&spent.usage) >= it.get()) {
            return limit(RunLimit::Money, allowed.get());
        }
        if self.time.is_some_and(|it| spent.time >= it) {
            return self.out_of_time();
        }
        spent.above.clone()
    }

    /// Returns how many tokens the reply to a request may have within what is left; nothing where nothing bounds them.
    ///
    /// # Errors
    ///
    /// Fails with the limit that the prompt and the least of a reply do not fit into.
    pub fn room(&self, taken: &UsageTotal, planned: &Planned) -> Result<Option<u64>, StopCause> {
        let Planned { prompt_tokens, least_output_tokens, price } = *planned;
        let by_tokens = self.tokens.map(|allowed| {
            let left = allowed.get().checked_sub(tokens(taken));
            (RunLimit::Tokens, allowed, left.and_then(|it| it.checked_sub(prompt_tokens)))
        });
        let by_money = self.micro_usd.zip(price).and_then(|(allowed, price)| {
            let left = allowed.get().checked_sub(micro_usd(taken));
            let left = left.and_then(|it| it.checked_sub(price.at_most(prompt_tokens, 0)));
            let output = match left {
                Some(left) => Some(price.output_for(left)?),
                None => None,
            };
            Some((RunLimit::Money, allowed, output))
        });
        let mut most = None;
        for (limit, allowed, output) in by_tokens.into_iter().chain(by_money) {
            match output.filter(|it| *it >= least_output_tokens) {
                Some(output) => most = Some(most.map_or(output, |it: u64| it.min(output))),
                None => return Err(StopCause::Limit { limit, allowed: allowed.get() }),
            }
        }
        Ok(most)
    }

    /// Returns the first limit of tokens and money that more was taken than allowed of.
    pub fn overrun(&self, taken: &UsageTotal) -> Option<Overrun> {
        let over = |limit, allowed: Option<NonZeroU64>, taken| {
            let allowed = allowed?.get();
            (taken > allowed).then_some(Overrun { limit, allowed, taken })
        };
        over(RunLimit::Money, self.micro_usd, micro_usd(taken))
            .or_else(|| over(RunLimit::Tokens, self.tokens, tokens(taken)))
    }

    /// Returns the cause of a turn that its time ended.
    pub(crate) fn out_of_time(&self) -> Option<StopCause> {
        let seconds = self.time?.as_millis().div_ceil(1_000);
        let allowed = u64::try_from(seconds).unwrap_or(u64::MAX);
        Some(StopCause::Limit { limit: RunLimit::Time, allowed })
    }
}

/// Returns the tokens that were taken; what nobody counted, as it is estimated.
fn tokens(usage: &UsageTotal) -> u64 {
    usage.tokens().saturating_add(usage.estimated_tokens)
}

/// Returns the money that was taken; what nobody told the price of, as it is estimated.
fn micro_usd(usage: &UsageTotal) -> u64 {
    usage.micro_usd.saturating_add(usage.estimated_micro_usd)
}
