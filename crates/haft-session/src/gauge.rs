//! How full a model's window is.

use haft_model::ModelFacts;
use haft_protocol::TokenUsage;

/// How full a model's window is: the one place that says so.
///
/// It holds on to what the provider reported last and estimates what came since, so that it is on the safe side.
#[derive(Debug, Clone)]
pub struct Gauge {
    window: Option<u64>,
    reported: Option<u64>,
}

impl Gauge {
    /// Makes a gauge for a model.
    pub fn new(facts: &ModelFacts) -> Self {
        Self { window: facts.window_tokens, reported: None }
    }

    /// Takes in what a request took, unless it cannot be true.
    pub fn report(&mut self, usage: &TokenUsage) {
        let total = usage.total().filter(|_| !usage.doubtful);
        let sane = total.filter(|total| self.window.is_none_or(|window| *total <= window));
        self.reported = sane.or(self.reported);
    }

    /// Returns the tokens of the window, where they are known.
    pub fn window(&self) -> Option<u64> {
        self.window
    }

    /// Returns the tokens of the last request that a provider counted, with its reply.
    pub fn reported(&self) -> Option<u64> {
        self.reported
    }
}
