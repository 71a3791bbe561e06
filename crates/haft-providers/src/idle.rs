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
    /// When the last words end: nothing that comes meanwhile puts that off.
    until: Option<Instant>,
}

impl Idle {
    /// Begins to wait for the first piece.
    pub(crate) fn new(patience: Patience) -> Self {
        Self { patience, allowed: patience.first, left: patience.first, until: None }
    }

    /// Waits for something, or until too long was waited without progress.
    pub(crate) async fn wait<T>(&mut self, future: impl Future<Output = T>) -> Option<T> {
        let begun = Instant::now();
        let last = self.until.map(|until| until.saturating_duration_since(begun));
        let left = last.map_or(self.left, |last| last.min(self.left));
        // What is there at once is never late, so a flood that says nothing would be read for ever.
        if left.is_zero() {
            return None;
        }
        let ended = timeout(left, future).await;
        self.left = self.left.saturating_sub(begun.elapsed());
        ended.ok()
    }

    /// Counts anew: something was said.
    pub(crate) fn progress(&mut self) {
        self.allowed = self.patience.pause;
        self.left = self.allowed;
        self.until = None;
    }

    /// Counts the last words: all was said but what belongs to the end.
    pub(crate) fn last_words(&mut self) {
        let all = Duration::from_millis(limits::REPLY_LAST_WORDS_MS);
        self.until.get_or_insert_with(|| Instant::now() + all);
    }

    /// Returns how long was to be waited at most.
    pub(crate) fn allowed(&self) -> Duration {
        self.allowed
    }
}
