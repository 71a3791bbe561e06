//! A server that only fails is left alone for a while.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use haft_protocol::limits::{MODEL_FAILURES, MODEL_REST_MS};
use tokio::time::Instant;

use crate::ModelError;
use crate::wait::duration;

/// Lets requests through until too many failed in a row; then none for a while, then one to see.
#[derive(Debug)]
pub(super) struct Breaker {
    name: String,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Failures in a row.
    failures: u32,
    /// Until when no request goes through, once there were too many.
    rests_until: Option<Instant>,
    /// Whether one request is under way to see.
    is_tried: bool,
    /// The last failure.
    last: Option<ModelError>,
}

impl Breaker {
    pub(super) fn new(name: String) -> Self {
        Self { name, state: Mutex::default() }
    }

    /// Tells whether a request would be let through now.
    pub(super) fn look(&self) -> Result<(), ModelError> {
        self.refusal(&self.state(), Instant::now()).map_or(Ok(()), Err)
    }

    /// Lets a request through.
    pub(super) fn pass(self: &Arc<Self>) -> Result<Pass, ModelError> {
        let mut state = self.state();
        if let Some(error) = self.refusal(&state, Instant::now()) {
            return Err(error);
        }
        let tries = state.rests_until.is_some();
        state.is_tried |= tries;
        drop(state);
        Ok(Pass { breaker: self.clone(), tries, is_settled: false })
    }

    fn refusal(&self, state: &State, now: Instant) -> Option<ModelError> {
        let until = state.rests_until?;
        let (name, failures) = (&self.name, state.failures);
        let last = state.last.as_ref()?;
        let left = until.saturating_duration_since(now);
        let when = match left {
            Duration::ZERO if !state.is_tried => return None,
            Duration::ZERO => "one request tries it now".to_owned(),
            left => format!("it is tried again in {}", duration(left)),
        };
        let text = format!(
            "{name} failed {failures} times in a row and is left alone: {when}; the last failure: {}",
            last.text
        );
        Some(ModelError {
            retry_after: Some(left),
            status: last.status,
            ..ModelError::new(last.kind, text)
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One request that was let through. Dropped, it says nothing about the server.
#[derive(Debug)]
pub(super) struct Pass {
    breaker: Arc<Breaker>,
    /// Whether it goes to see if the server works again.
    tries: bool,
    is_settled: bool,
}

impl Pass {
    pub(super) fn worked(mut self) {
        self.is_settled = true;
        *self.breaker.state() = State::default();
    }

    pub(super) fn failed(mut self, error: &ModelError) {
        self.is_settled = true;
        let mut state = self.breaker.state();
        state.failures = state.failures.saturating_add(1);
        state.last = Some(error.clone());
        if self.tries || state.failures >= MODEL_FAILURES && state.rests_until.is_none() {
            state.is_tried = false;
            state.rests_until = Some(Instant::now() + Duration::from_millis(MODEL_REST_MS));
        }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        if self.tries && !self.is_settled {
            self.breaker.state().is_tried = false;
        }
    }
}
