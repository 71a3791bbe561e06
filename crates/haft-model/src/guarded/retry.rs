//! Whether and when a request is made again.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use haft_protocol::limits::{
    MODEL_ATTEMPTS, MODEL_RETRIES, MODEL_RETRY_AFTER_MS, MODEL_RETRY_DELAY_MAX_MS,
    MODEL_RETRY_DELAY_MS, MODEL_WAIT_MS,
};

use crate::wait::{Patience, duration};
use crate::{ModelError, WaitReason, Waiting};

/// How often and how long one request is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryLimits {
    /// Attempts of one request.
    pub attempts: NonZeroU32,
    /// The pause before the second attempt; doubled before each further one.
    pub delay: Duration,
    /// How long a provider may ask a request to wait.
    pub retry_after: Duration,
    /// How long a request waits in all.
    pub wait: Duration,
    /// Repetitions of all requests together; each whole reply gives one back.
    pub retries: u32,
}

impl Default for RetryLimits {
    fn default() -> Self {
        Self {
            attempts: NonZeroU32::new(MODEL_ATTEMPTS).unwrap_or(NonZeroU32::MIN),
            delay: Duration::from_millis(MODEL_RETRY_DELAY_MS),
            retry_after: Duration::from_millis(MODEL_RETRY_AFTER_MS),
            wait: Duration::from_millis(MODEL_WAIT_MS),
            retries: MODEL_RETRIES,
        }
    }
}

/// Where chance comes from: many clients that failed together do not come back together.
#[derive(Debug)]
pub struct Chance(AtomicU64);

impl Chance {
    /// Makes a chance that always goes the same way.
    pub const fn seeded(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    /// Returns a number from 0 up to 1.
    fn next(&self) -> f64 {
        // SplitMix64: good enough to spread requests, and for nothing else.
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut it = self.0.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((it ^ (it >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

impl Default for Chance {
    /// Makes a chance that goes another way in each process.
    fn default() -> Self {
        Self::seeded(RandomState::new().build_hasher().finish())
    }
}

/// Repetitions that are left.
#[derive(Debug)]
pub(super) struct Budget {
    left: AtomicU32,
    full: u32,
}

impl Budget {
    pub(super) const fn new(full: u32) -> Self {
        Self { left: AtomicU32::new(full), full }
    }

    fn take(&self) -> bool {
        let take = |left: u32| left.checked_sub(1);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }

    pub(super) fn give_back(&self) {
        let give = |left: u32| (left < self.full).then(|| left.saturating_add(1));
        let _full = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, give);
    }
}

/// The attempts of one request.
pub(crate) struct Tries<'g> {
    limits: &'g RetryLimits,
    budget: &'g Budget,
    chance: &'g Chance,
    attempts: u32,
    patience: Patience,
}

impl<'g> Tries<'g> {
    pub(super) fn new(limits: &'g RetryLimits, budget: &'g Budget, chance: &'g Chance) -> Self {
        Self { limits, budget, chance, attempts: 0, patience: Patience::new(limits.wait) }
    }

    /// Returns how long the request may still wait.
    pub(crate) fn patience(&mut self) -> &mut Patience {
        &mut self.patience
    }

    /// Returns the wait before the next attempt.
    ///
    /// # Errors
    ///
    /// Fails with the error where there is none, and says why.
    pub(super) fn after(&mut self, error: ModelError) -> Result<Waiting, ModelError> {
        self.attempts = self.attempts.saturating_add(1);
        if !error.kind.may_pass() {
            return Err(error);
        }
        if self.attempts >= self.limits.attempts.get() {
            return Err(self.given_up(error, ""));
        }
        let wait = match error.retry_after {
            Some(asked) if asked > self.limits.retry_after => {
                let longest = duration(self.limits.retry_after);
                let asked = duration(asked);
                let text = format!(
                    "; the provider asks to wait {asked}, and a request waits {longest} at most"
                );
                return Err(self.given_up(error, &text));
            }
            Some(asked) => asked + self.part_of(asked.min(Duration::from_secs(10)) / 10),
            None => self.pause(),
        };
        if !self.patience.has(wait) {
            let longest = duration(self.limits.wait);
            let text = format!("; a request waits {longest} at most in all");
            return Err(self.given_up(error, &text));
        }
        if !self.budget.take() {
            return Err(self.given_up(error, "; too many requests had to be made again"));
        }
        self.patience.spend(wait);
        Ok(Waiting {
            reason: WaitReason::Retry(error.kind),
            wait: Some(wait),
            attempt: self.attempts.saturating_add(1),
            attempts: self.limits.attempts.get(),
        })
    }

    /// Returns the pause that comes next: twice the one before, and up to half of it left out.
    fn pause(&self) -> Duration {
        let longest = Duration::from_millis(MODEL_RETRY_DELAY_MAX_MS);
        let doubled = 2_u32.saturating_pow(self.attempts.saturating_sub(1));
        let pause = self.limits.delay.saturating_mul(doubled).min(longest);
        pause / 2 + self.part_of(pause / 2)
    }

    fn part_of(&self, whole: Duration) -> Duration {
        whole.mul_f64(self.chance.next())
    }

    fn given_up(&self, error: ModelError, why: &str) -> ModelError {
        let attempts = match self.attempts {
            0 | 1 => String::new(),
            many => format!(" ({many} attempts)"),
        };
        ModelError { text: format!("{}{attempts}{why}", error.text), ..error }
    }
}
