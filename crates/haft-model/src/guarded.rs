//! The one layer around a model: retry, turns, pace and rest.

mod retry;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_util::Stream;

use crate::account::Admission;
use crate::{
    Account, BoxFuture, ChatModel, Estimator, ModelError, ModelFacts, Part, ReplyStream, Request,
    TokenCounter, Waiting,
};
use retry::Budget;
pub(crate) use retry::Tries;
pub use retry::{Chance, RetryLimits};

/// A model with everything that stands between a request and a provider that is busy, slow or broken.
///
/// - A request that failed in a way that may pass is made again, after a pause that grows and is cut by chance, or as
///   long as the provider asked for. Nothing is repeated once a piece of the reply was handed on. Attempts, waits and
///   repetitions are bounded.
/// - Requests of one [`Account`] take turns, keep its pace, and leave it alone for a while when it only fails.
///
/// Whoever asks through it asks once: no other layer repeats a request.
///
/// ```
/// # use std::sync::Arc;
/// # use haft_model::{Account, AccountLimits, ChatModel, Guarded};
/// # fn guarded(model: Arc<dyn ChatModel>) -> Guarded {
/// let account = Arc::new(Account::new("anthropic", AccountLimits::default()));
/// Guarded::new(model, account).watched_by(|waiting| eprintln!("{waiting}"))
/// # }
/// ```
#[derive(Clone)]
pub struct Guarded {
    model: Arc<dyn ChatModel>,
    account: Arc<Account>,
    limits: RetryLimits,
    counter: Arc<dyn TokenCounter>,
    chance: Arc<Chance>,
    budget: Arc<Budget>,
    watcher: Option<Watcher>,
}

/// Somebody who is told of waits.
type Watcher = Arc<dyn Fn(&Waiting) + Send + Sync>;

impl Guarded {
    /// Puts the layer around a model. Models that are asked with the same key share an account.
    pub fn new(model: Arc<dyn ChatModel>, account: Arc<Account>) -> Self {
        let limits = RetryLimits::default();
        Self {
            counter: Arc::new(Estimator::of(model.facts().dialect)),
            model,
            account,
            chance: Arc::new(Chance::default()),
            budget: Arc::new(Budget::new(limits.retries)),
            limits,
            watcher: None,
        }
    }

    /// Sets other limits.
    #[must_use]
    pub fn with_limits(self, limits: RetryLimits) -> Self {
        Self { budget: Arc::new(Budget::new(limits.retries)), limits, ..self }
    }

    /// Sets what pauses are cut by.
    #[must_use]
    pub fn with_chance(self, chance: Chance) -> Self {
        Self { chance: Arc::new(chance), ..self }
    }

    /// Sets what the tokens of a request are counted with, for the pace of its account.
    #[must_use]
    pub fn with_counter(self, counter: Arc<dyn TokenCounter>) -> Self {
        Self { counter, ..self }
    }

    /// Tells somebody of each wait before it begins.
    #[must_use]
    pub fn watched_by(self, watcher: impl Fn(&Waiting) + Send + Sync + 'static) -> Self {
        Self { watcher: Some(Arc::new(watcher)), ..self }
    }

    fn tell(&self, waiting: &Waiting) {
        tracing::debug!(model = %self.model.facts().id, "{waiting}");
        if let Some(watcher) = &self.watcher {
            watcher(waiting);
        }
    }

    async fn attempts(&self, request: Arc<Request>) -> Result<ReplyStream, ModelError> {
        let mut tries = Tries::new(&self.limits, &self.budget, &self.chance);
        loop {
            let tokens = || self.counter.request(&request);
            let tell = |waiting: Waiting| self.tell(&waiting);
            let admission = self.account.admit(tokens, &mut tries, tell).await?;
            let error = match self.attempt(request.clone(), admission).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            let waiting = tries.after(error)?;
            self.tell(&waiting);
            tokio::time::sleep(waiting.wait.unwrap_or_default()).await;
        }
    }

    /// Asks once and waits for the first piece: until it is there, the request can be made again and nobody notices.
    async fn attempt(
        &self,
        request: Arc<Request>,
        admission: Admission,
    ) -> Result<ReplyStream, ModelError> {
        let mut rest = match self.model.ask(request).await {
            Ok(reply) => reply,
            Err(error) => {
                admission.failed(&error);
                return Err(error);
            }
        };
        let rate = rest.rate();
        admission.learn(rate);
        match rest.next().await.unwrap_or_else(|| Err(ModelError::cut_short())) {
            Ok(first) => {
                let (admission, budget) = (Some(admission), self.budget.clone());
                let reply = Held { first: Some(first), rest, admission, budget };
                Ok(ReplyStream::new(reply).with_rate(rate))
            }
            Err(error) => {
                admission.failed(&error);
                Err(ModelError { began: false, ..error })
            }
        }
    }
}

impl ChatModel for Guarded {
    fn facts(&self) -> &ModelFacts {
        self.model.facts()
    }

    /// Asks the model, again where that may help. The future resolves when the first piece of the reply is there.
    fn ask(&self, request: Arc<Request>) -> BoxFuture<'_, Result<ReplyStream, ModelError>> {
        Box::pin(self.attempts(request))
    }
}

impl fmt::Debug for Guarded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { model, account, limits, .. } = self;
        f.debug_struct("Guarded")
            .field("model", model)
            .field("account", account)
            .field("limits", limits)
            .finish_non_exhaustive()
    }
}

/// A reply that has begun, and its place among the requests of its account.
struct Held {
    first: Option<Part>,
    rest: ReplyStream,
    admission: Option<Admission>,
    budget: Arc<Budget>,
}

impl Held {
    fn passed(&mut self, item: Result<Part, ModelError>) -> Result<Part, ModelError> {
        match item {
            Ok(Part::Finished(finished)) => {
                if let Some(admission) = self.admission.take() {
                    admission.finished(&finished.usage);
                    self.budget.give_back();
                }
                Ok(Part::Finished(finished))
            }
            Ok(part) => Ok(part),
            Err(error) => {
                if let Some(admission) = self.admission.take() {
                    admission.failed(&error);
                }
                Err(ModelError { began: true, ..error })
            }
        }
    }
}

impl Stream for Held {
    type Item = Result<Part, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(self.passed(Ok(first))));
        }
        let item = ready!(Pin::new(&mut self.rest).poll_next(context));
        Poll::Ready(item.map(|item| self.passed(item)))
    }
}
