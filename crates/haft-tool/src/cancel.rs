//! Requests to stop.

use std::fmt;
use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;

/// A request to stop, seen by everyone who holds a clone.
///
/// Cancelling asks; it never aborts. A body notices at its next look and ends in order.
#[derive(Clone, Default)]
pub struct Cancellation(Arc<Request>);

/// Most calls end before anybody waits for the request or makes it. Until then it is a place in a chain and no more.
#[derive(Default)]
struct Request {
    /// What is waited on. Where it was never made, nobody waits and nobody has asked.
    token: OnceLock<CancellationToken>,
    above: Option<Cancellation>,
}

impl Cancellation {
    /// Makes a request that nobody has made yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a request that is made when this one is, and can be made alone.
    pub fn child(&self) -> Self {
        Self(Arc::new(Request { token: OnceLock::new(), above: Some(self.clone()) }))
    }

    /// Makes the request.
    pub fn cancel(&self) {
        self.token().cancel();
    }

    /// Makes the request where anybody else could see it.
    pub(crate) fn cancel_for_others(&self) {
        if Arc::strong_count(&self.0) > 1 || self.0.token.get().is_some() {
            self.cancel();
        }
    }

    /// Tells whether the request was made.
    pub fn is_cancelled(&self) -> bool {
        match (self.0.token.get(), &self.0.above) {
            (Some(token), _) => token.is_cancelled(),
            (None, Some(above)) => above.is_cancelled(),
            (None, None) => false,
        }
    }

    /// Waits for the request.
    ///
    /// # Cancel safety
    ///
    /// Safe: dropping the future forgets nothing.
    pub async fn cancelled(&self) {
        self.token().cancelled().await;
    }

    fn token(&self) -> &CancellationToken {
        self.0.token.get_or_init(|| match &self.0.above {
            Some(above) => above.token().child_token(),
            None => CancellationToken::new(),
        })
    }
}

impl fmt::Debug for Cancellation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_cancelled() { "Cancellation(requested)" } else { "Cancellation" })
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn a_request_reaches_whoever_waits_below_and_nobody_above() {
        let root = Cancellation::new();
        let (middle, beside) = (root.child(), root.child());
        let leaf = middle.child();
        let other = leaf.clone();
        assert!(leaf.cancelled().now_or_never().is_none());
        middle.cancel();
        assert!(leaf.cancelled().now_or_never().is_some());
        assert!(leaf.is_cancelled() && other.is_cancelled() && middle.child().is_cancelled());
        assert!(!beside.is_cancelled() && !root.is_cancelled());
        assert!(beside.cancelled().now_or_never().is_none());
        root.cancel();
        assert!(beside.is_cancelled() && root.child().cancelled().now_or_never().is_some());
    }

    #[test]
    fn a_request_that_nobody_else_could_see_is_not_made() {
        let alone = Cancellation::new().child();
        alone.cancel_for_others();
        assert!(!alone.is_cancelled());
        let shared = alone.clone();
        alone.cancel_for_others();
        assert!(shared.is_cancelled());
        let waited = Cancellation::new();
        assert!(waited.cancelled().now_or_never().is_none());
        waited.cancel_for_others();
        assert!(waited.is_cancelled());
        // Below counts as seeing.
        let above = Cancellation::new();
        let below = above.child();
        above.cancel_for_others();
        assert!(below.is_cancelled());
    }
}
