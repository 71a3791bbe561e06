//! Requests to stop.

use tokio_util::sync::CancellationToken;

/// A request to stop, seen by everyone who holds a clone.
///
/// Cancelling asks; it never aborts. A body notices at its next look and ends in order.
#[derive(Debug, Clone, Default)]
pub struct Cancellation(CancellationToken);

impl Cancellation {
    /// Makes a request that nobody has made yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a request that is made when this one is, and can be made alone.
    pub fn child(&self) -> Self {
        Self(self.0.child_token())
    }

    /// Makes the request.
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// Tells whether the request was made.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Waits for the request.
    ///
    /// # Cancel safety
    ///
    /// Safe: dropping the future forgets nothing.
    pub async fn cancelled(&self) {
        self.0.cancelled().await;
    }
}
