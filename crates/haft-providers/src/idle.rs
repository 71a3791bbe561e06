//! How long is waited for a stream that makes no progress.

use std::time::Duration;

use haft_protocol::limits;
use tokio::time::{Instant, timeout};

/// How long a model may say nothing. What only shows that the connection lives does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Until the first piece of its reply: a long prompt takes its time.
    pub first: Duration,
    /// Between two pieces.
    pub pause: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            first: Duration::from_millis(limits::REPLY_FIRST_MS),
            pause: Duration::from_millis(limits::REPLY_PAUSE_MS),
        }
    }
}

/// Counts the time that is waited since the last progress. While nobody reads, none passes.
#[derive(Debug)]
pub(crate) struct Idle {
    patience: Patience,
    allowed: Duration,
    left: Duration,
}

impl Idle {
    /// Begins to wait for the first piece.
    pub(crate) fn new(patience: Patience) -> Self {
        Self { patience, allowed: patience.first, left: patience.first }
    }

    /// Waits for something, or until too long was waited without progress.
    pub(crate) async fn wait<T>(&mut self, future: impl Future<Output = T>) -> Option<T> {
        let begun = Instant::now();
        let ended = timeout(self.left, future).await;
        self.left = self.left.saturating_sub(begun.elapsed());
        ended.ok()
    }

    /// Counts anew: something was said.
    pub(crate) fn progress(&mut self) {
        self.allowed = self.patience.pause;
        self.left = self.allowed;
    }

    /// Counts the last words: all was said but what belongs to the end.
    pub(crate) fn last_words(&mut self) {
        self.left = self.left.min(Duration::from_millis(limits::REPLY_LAST_WORDS_MS));
    }

    /// Returns how long was to be waited at most.
    pub(crate) fn allowed(&self) -> Duration {
        self.allowed
    }
}
