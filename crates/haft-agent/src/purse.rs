//! What a turn takes, counted for itself and for everybody above it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use haft_protocol::{StopCause, TokenUsage, UsageTotal, limits};
use haft_tool::{Budget, Waits};
use tokio::time::Instant;

use crate::limits::{Planned, RunLimits, Spent};

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
    /// What requests under way will take, as it is estimated.
    held: UsageTotal,
}

/// What a request under way will take, as it is estimated: nobody else can have it as long as this is there.
#[derive(Debug)]
pub(crate) struct Hold {
    purse: Purse,
    usage: TokenUsage,
    /// Tokens that the reply may have; nothing where nothing bounds them.
    pub(crate) output_tokens: Option<u64>,
}

impl Drop for Hold {
    fn drop(&mut self) {
        for inner in self.purse.and_above() {
            let held = &mut inner.taken().held;
            let tokens = self.usage.total().unwrap_or(0);
            held.estimated_tokens = held.estimated_tokens.saturating_sub(tokens);
            let money = self.usage.micro_usd.unwrap_or(0);
            held.estimated_micro_usd = held.estimated_micro_usd.saturating_sub(money);
        }
    }
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
    pub(crate) fn take(&self, usage: &TokenUsage, estimated: &TokenUsage) {
        for inner in self.and_above() {
            inner.taken().usage.add_or(usage, estimated);
        }
    }

    /// Holds what a request will take, in this purse and in all above.
    ///
    /// Of the reply, the least that it has to have room for is held, or [as much as is usual](limits::REPLY_ROOM_TOKENS):
    /// who held all that it may have would leave nothing for others who are at work at the same time.
    ///
    /// # Errors
    ///
    /// Fails with the limit that the request does not fit into.
    pub(crate) fn hold(&self, planned: &Planned) -> Result<Hold, StopCause> {
        // From the inside out, always: who waits for a lock holds none that is farther out.
        let mut all: Vec<_> = self.and_above().map(|it| (it.limits, it.taken())).collect();
        let mut most = None;
        for (limits, taken) in &all {
            let mut usage = taken.usage;
            usage.add_all(&taken.held);
            if let Some(output) = limits.room(&usage, planned)? {
                most = Some(most.map_or(output, |it: u64| it.min(output)));
            }
        }
        let Planned { prompt_tokens, least_output_tokens, price } = *planned;
        let output = least_output_tokens.max(limits::REPLY_ROOM_TOKENS);
        let output = most.map_or(output, |it| it.min(output));
        let usage = TokenUsage {
            input: Some(prompt_tokens),
            output: Some(output),
            micro_usd: price.map(|it| it.at_most(prompt_tokens, output)),
            ..TokenUsage::default()
        };
        for (_, taken) in &mut all {
            taken.held.add_or(&TokenUsage::default(), &usage);
        }
        Ok(Hold { purse: self.clone(), usage, output_tokens: most })
    }

    /// Returns what the run took so far.
    pub(crate) fn usage(&self) -> UsageTotal {
        self.0.taken().usage
    }

    pub(crate) fn spent(&self, steps: u64) -> Spent {
        Spent {
            steps,
            usage: self.usage(),
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

    /// Returns what is in this purse and in all above, from the inside out.
    fn and_above(&self) -> impl Iterator<Item = &Inner> {
        std::iter::successors(Some(&*self.0), |it| it.above.as_ref().map(|above| &*above.0))
    }
}

impl Inner {
    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use super::*;

    fn purse(tokens: Option<u64>, above: Option<Purse>) -> Purse {
        let limits = RunLimits { tokens: tokens.and_then(NonZeroU64::new), ..RunLimits::default() };
        Purse::new(limits, Budget::new(1), Waits::default(), UsageTotal::default(), above)
    }

    #[test]
    fn what_one_request_holds_no_other_one_can_have() {
        let above = purse(Some(10_000), None);
        let [one, other] = [(); 2].map(|()| purse(None, Some(above.clone())));
        let planned = Planned { prompt_tokens: 6_000, least_output_tokens: 100, price: None };
        let hold = one.hold(&planned).unwrap();
        assert_eq!(hold.output_tokens, Some(4_000));
        other.hold(&planned).unwrap_err();
        drop(hold);
        drop(other.hold(&planned).unwrap());
        one.take(
            &TokenUsage { input: Some(4_000), output: Some(0), ..TokenUsage::default() },
            &TokenUsage::default(),
        );
        other.hold(&planned).unwrap_err();
    }
}
