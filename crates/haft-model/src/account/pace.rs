//! How much an account may ask in a minute.

use std::num::NonZeroU64;
use std::time::Duration;

use tokio::time::Instant;

use super::AccountLimits;
use crate::{Allowance, RateFacts};

/// When the next request may go.
#[derive(Debug)]
pub(super) struct Pace {
    requests: Meter,
    tokens: Meter,
    /// Which part of what a request was thought to take the last one took: what comes from a cache often counts for nothing.
    share: f64,
    /// Nothing goes before, for the provider said so.
    held_until: Option<Instant>,
}

impl Pace {
    pub(super) fn new(limits: &AccountLimits, now: Instant) -> Self {
        let meter = |per_minute: Option<NonZeroU64>| Meter {
            bucket: per_minute.map(|it| Bucket::full(it, now)),
            told: None,
        };
        Self {
            requests: meter(limits.requests_per_minute),
            tokens: meter(limits.tokens_per_minute),
            share: 1.0,
            held_until: None,
        }
    }

    /// Tells whether it matters how many tokens a request has.
    pub(super) fn counts_tokens(&self) -> bool {
        self.tokens.bucket.is_some() || self.tokens.told.is_some()
    }

    /// Lets a request go, or says how long it has to wait.
    pub(super) fn take(&mut self, now: Instant, tokens: u64) -> Result<(), Duration> {
        let held = self.held_until.map(|until| until.saturating_duration_since(now));
        let counted = (tokens as f64 * self.share).ceil();
        let waits = [
            held.unwrap_or_default(),
            self.requests.wait(now, 1.0, 1.0),
            self.tokens.wait(now, tokens as f64, counted),
        ];
        match waits.into_iter().max() {
            Some(wait) if !wait.is_zero() => Err(wait),
            _ => {
                self.held_until = None;
                self.requests.spend(1.0, 1.0);
                self.tokens.spend(tokens as f64, counted);
                Ok(())
            }
        }
    }

    /// Lets nothing go for a while.
    pub(super) fn hold(&mut self, now: Instant, wait: Duration) {
        // A longer wait than any request would sit out fails those that come, but it has to end some day.
        let until = now + wait.min(Duration::from_hours(1));
        self.held_until = self.held_until.max(Some(until));
    }

    /// Takes what the provider says is left.
    pub(super) fn learn(&mut self, now: Instant, rate: RateFacts) {
        self.requests.learn(now, rate.requests);
        self.tokens.learn(now, rate.tokens);
    }

    /// Puts the tokens that a request took in the place of those it was thought to take.
    pub(super) fn correct(&mut self, thought: u64, took: u64) {
        if thought > 0 {
            self.share = (took as f64 / thought as f64).clamp(0.01, 1.0);
        }
        if let Some(bucket) = &mut self.tokens.bucket {
            bucket.level += thought as f64 - took as f64;
        }
    }
}

/// One thing that is counted: by a limit that is set, by what the provider says, or by both.
#[derive(Debug)]
struct Meter {
    bucket: Option<Bucket>,
    told: Option<Told>,
}

/// What a provider said is left, less what went since.
#[derive(Debug)]
struct Told {
    bucket: Bucket,
    until: Instant,
}

impl Told {
    fn new(now: Instant, said: Allowance) -> Self {
        // No provider counts longer than a day; what says so is not believed for longer than an hour.
        let renewed_in = said.renewed_in.min(Duration::from_hours(1));
        let left = said.left as f64;
        let (capacity, per_second) = match said.limit {
            Some(limit) => {
                let used = limit.saturating_sub(said.left) as f64;
                (limit as f64, used / renewed_in.as_secs_f64().max(0.001))
            }
            // Who does not say how much there is in all gives it at once.
            None => (f64::INFINITY, 0.0),
        };
        let bucket = Bucket { capacity, per_second, level: left, at: now };
        Self { bucket, until: now + renewed_in }
    }

    fn wait(&mut self, now: Instant, amount: f64) -> Duration {
        self.bucket.wait(now, amount).min(self.until.saturating_duration_since(now))
    }
}

impl Meter {
    fn learn(&mut self, now: Instant, allowance: Option<Allowance>) {
        self.told = allowance.map(|it| Told::new(now, it)).or(self.told.take());
    }

    /// Returns how long until there is enough, by what is counted here and by what the provider counts.
    fn wait(&mut self, now: Instant, amount: f64, counted: f64) -> Duration {
        self.told.take_if(|told| told.until <= now);
        let told = self.told.as_mut().map(|told| told.wait(now, counted));
        let bucket = self.bucket.as_mut().map(|bucket| bucket.wait(now, amount));
        told.max(bucket).unwrap_or_default()
    }

    fn spend(&mut self, amount: f64, counted: f64) {
        if let Some(told) = &mut self.told {
            told.bucket.level = (told.bucket.level - counted).max(0.0);
        }
        if let Some(bucket) = &mut self.bucket {
            bucket.level -= amount;
        }
    }
}

/// A bucket that fills again evenly.
#[derive(Debug)]
struct Bucket {
    capacity: f64,
    per_second: f64,
    level: f64,
    at: Instant,
}

impl Bucket {
    /// Makes one that is full, and is again a minute after it was empty.
    fn full(per_minute: NonZeroU64, now: Instant) -> Self {
        let capacity = per_minute.get() as f64;
        Self { capacity, per_second: capacity / 60.0, level: capacity, at: now }
    }

    /// Returns how long until there is enough. What is more than the bucket holds needs it full.
    fn wait(&mut self, now: Instant, amount: f64) -> Duration {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.level = (self.level + self.per_second * passed).min(self.capacity);
        self.at = now;
        let missing = amount.min(self.capacity) - self.level;
        if missing <= 1e-6 {
            return Duration::ZERO;
        }
        // Rounded up to whole milliseconds, so that a wait is never a little too short over and over. What never fills
        // by itself makes it wait for as long as a day.
        let millis = (missing * 1_000.0 / self.per_second).ceil().clamp(1.0, 86_400_000.0);
        Duration::from_millis(millis as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_that_a_cache_has_are_not_waited_for() {
        let now = Instant::now();
        let mut pace = Pace::new(&AccountLimits::default(), now);
        let renewed_in = Duration::from_mins(1);
        let tokens = Some(Allowance { left: 1_000, limit: Some(50_000), renewed_in });
        pace.learn(now, RateFacts { requests: None, tokens });
        // More than there ever are: when all are there.
        assert_eq!(pace.take(now, 100_000), Err(renewed_in));
        // Nearly all of it came from a cache the last time, and so it will again.
        pace.correct(100_000, 1_000);
        assert_eq!(pace.take(now, 100_000), Ok(()));
        let wait = pace.take(now, 110_000).unwrap_err();
        assert!(wait < Duration::from_secs(2), "{wait:?}");
    }
}
