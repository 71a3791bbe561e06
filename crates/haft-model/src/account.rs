//! What the requests of one account share.

mod breaker;
mod pace;

use std::fmt;
use std::num::{NonZeroU64, NonZeroUsize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use haft_protocol::TokenUsage;
use haft_protocol::limits::{MODEL_REQUESTS_AT_ONCE, MODEL_TURN_MS};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::guarded::Tries;
use crate::wait::duration;
use crate::{ModelError, ModelErrorKind, RateFacts, WaitReason, Waiting};
use breaker::{Breaker, Pass};
use pace::Pace;

/// What the requests with one key, or to one server, share: turns, a pace, and whether the server works at all.
pub struct Account {
    name: String,
    limits: AccountLimits,
    permits: Arc<Semaphore>,
    /// Held by the request that is next to go, so that small ones do not overtake a large one for ever.
    next: tokio::sync::Mutex<()>,
    pace: Mutex<Pace>,
    breaker: Arc<Breaker>,
}

/// How much an account may ask at once and in a minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccountLimits {
    /// Requests at one time.
    pub at_once: NonZeroUsize,
    /// Requests in a minute, where it has a limit that is known.
    pub requests_per_minute: Option<NonZeroU64>,
    /// Tokens of prompts and replies in a minute, where it has a limit that is known.
    pub tokens_per_minute: Option<NonZeroU64>,
}

impl Default for AccountLimits {
    fn default() -> Self {
        Self {
            at_once: NonZeroUsize::new(MODEL_REQUESTS_AT_ONCE).unwrap_or(NonZeroUsize::MIN),
            requests_per_minute: None,
            tokens_per_minute: None,
        }
    }
}

impl Account {
    /// Makes an account. Its name is for people: a provider, or the address of a server.
    pub fn new(name: impl Into<String>, limits: AccountLimits) -> Self {
        let name = name.into();
        let at_once = limits.at_once.get().min(Semaphore::MAX_PERMITS);
        Self {
            breaker: Arc::new(Breaker::new(name.clone())),
            pace: Mutex::new(Pace::new(&limits, Instant::now())),
            permits: Arc::new(Semaphore::new(at_once)),
            next: tokio::sync::Mutex::new(()),
            limits,
            name,
        }
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Waits until a request may go.
    pub(crate) async fn admit(
        self: &Arc<Self>,
        tokens: impl Fn() -> u64,
        tries: &mut Tries<'_>,
        tell: impl Fn(Waiting),
    ) -> Result<Admission, ModelError> {
        self.breaker.look()?;
        let permit = self.turn(&tell).await?;
        let tokens = if self.pace().counts_tokens() { tokens() } else { 0 };
        let next = self.next.lock().await;
        loop {
            let taken = self.pace().take(Instant::now(), tokens);
            let Err(wait) = taken else { break };
            if !tries.patience().has(wait) {
                return Err(self.too_fast(wait));
            }
            tries.patience().spend(wait);
            tell(Waiting::for_account(WaitReason::Pace, Some(wait)));
            tokio::time::sleep(wait).await;
        }
        drop(next);
        let pass = self.breaker.pass()?;
        Ok(Admission { account: self.clone(), pass, tokens, _permit: permit })
    }

    async fn turn(&self, tell: &impl Fn(Waiting)) -> Result<OwnedSemaphorePermit, ModelError> {
        if let Ok(permit) = self.permits.clone().try_acquire_owned() {
            return Ok(permit);
        }
        tell(Waiting::for_account(WaitReason::Turn, None));
        let longest = Duration::from_millis(MODEL_TURN_MS);
        let waited = tokio::time::timeout(longest, self.permits.clone().acquire_owned()).await;
        waited.ok().and_then(Result::ok).ok_or_else(|| {
            let (name, at_once) = (&self.name, self.limits.at_once);
            let longest = duration(longest);
            let text = format!(
                "{name} has as many requests under way as it may ({at_once}), and for {longest} none ended"
            );
            ModelError::new(ModelErrorKind::Overloaded, text)
        })
    }

    fn too_fast(&self, wait: Duration) -> ModelError {
        let text = format!(
            "the pace of {} leaves room for this request in {}, longer than a request waits",
            self.name,
            duration(wait)
        );
        let error = ModelError::new(ModelErrorKind::RateLimited, text);
        ModelError { retry_after: Some(wait), ..error }
    }

    fn pace(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Account")
            .field("name", &self.name)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// The place of one attempt among those of its account. Dropped, it makes room for the next.
pub(crate) struct Admission {
    account: Arc<Account>,
    pass: Pass,
    /// Tokens the request was thought to take; 0 where nobody counts them.
    tokens: u64,
    _permit: OwnedSemaphorePermit,
}

impl Admission {
    /// Takes what the provider said about how much more it takes.
    pub(crate) fn learn(&self, rate: RateFacts) {
        self.account.pace().learn(Instant::now(), rate);
    }

    /// Ends an attempt that got its whole reply.
    pub(crate) fn finished(self, usage: &TokenUsage) {
        if let (Some(total), false) = (usage.total(), usage.doubtful) {
            let cached = usage.cache_read.unwrap_or(0);
            self.account.pace().correct(self.tokens, total.saturating_sub(cached));
        }
        self.pass.worked();
    }

    /// Ends an attempt that got none.
    pub(crate) fn failed(self, error: &ModelError) {
        if error.kind == ModelErrorKind::RateLimited
            && let Some(wait) = error.retry_after
        {
            self.account.pace().hold(Instant::now(), wait);
        }
        match error.kind {
            // The server works: it says what it will not do, or not yet.
            ModelErrorKind::RateLimited => self.pass.worked(),
            kind if !kind.may_pass() => self.pass.worked(),
            _ => self.pass.failed(error),
        }
    }
}
