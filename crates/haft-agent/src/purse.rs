//! What a turn takes, counted for itself and for everybody above it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use haft_model::Price;
use haft_protocol::{StopCause, TokenUsage, UsageTotal};
use haft_tool::{Budget, Waits};
use tokio::time::Instant;

use crate::limits::{RunLimits, Spent};

/// What one turn takes and may take. What a subagent takes is taken from the purse of its turn and from all above.
#[derive(Debug, Clone)]
pub(crate) struct Purse(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    limits: RunLimits,
    calls: Budget,
    began: Instant,
    waits: Waits,
    waited_before: Duration,
    taken: Mutex<Taken>,
    above: Option<Purse>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Taken {
    usage: UsageTotal,
    uncounted_tokens: u64,
    unpriced_micro_usd: u64,
}

impl Purse {
    pub(crate) fn new(
        limits: RunLimits,
        calls: Budget,
        waits: Waits,
        usage: UsageTotal,
        above: Option<Purse>,
    ) -> Self {
        let taken = Mutex::new(Taken { usage, ..Taken::default() });
        let waited_before = waits.time();
        let began = Instant::now();
        Self(Arc::new(Inner { limits, calls, began, waits, waited_before, taken, above }))
    }

    /// Takes what a request took. What nobody counted is taken as it was estimated: unknown is not zero.
    pub(crate) fn take(&self, usage: &TokenUsage, estimated: &TokenUsage, price: Option<Price>) {
        {
            let mut taken = self.taken();
            taken.usage.add(usage);
            if usage.total().is_none() {
                let tokens = estimated.total().unwrap_or(0);
                taken.uncounted_tokens = taken.uncounted_tokens.saturating_add(tokens);
            }
            if usage.micro_usd.is_none() {
                let money = price.and_then(|it| it.of(estimated)).unwrap_or(0);
                taken.unpriced_micro_usd = taken.unpriced_micro_usd.saturating_add(money);
            }
        }
        if let Some(above) = &self.0.above {
            above.take(usage, estimated, price);
        }
    }

    /// Returns what the run took so far, what nobody counted left out.
    pub(crate) fn usage(&self) -> UsageTotal {
        self.taken().usage
    }

    pub(crate) fn spent(&self, steps: u64) -> Spent {
        let Taken { usage, uncounted_tokens, unpriced_micro_usd } = *self.taken();
        Spent {
            steps,
            usage,
            uncounted_tokens,
            unpriced_micro_usd,
            time: self.time(),
            calls: (self.0.calls.left(), self.0.calls.total()),
            above: self.above(),
        }
    }

    /// Returns a limit that somebody above has reached.
    fn above(&self) -> Option<StopCause> {
        let above = self.0.above.as_ref()?;
        // A turn in whose calls somebody works has made its request already, so its steps do not count here.
        let spent = above.spent(0);
        above.0.limits.reached(&spent)
    }

    fn time(&self) -> Duration {
        let waited = self.0.waits.time().saturating_sub(self.0.waited_before);
        self.0.began.elapsed().saturating_sub(waited)
    }

    /// Waits until the turn's time is up; for ever, where it has no limit.
    pub(crate) async fn time_is_up(&self) {
        let Some(limit) = self.0.limits.time else { return std::future::pending().await };
        loop {
            self.0.waits.answered().await;
            let left = limit.saturating_sub(self.time());
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left).await;
        }
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.0.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
