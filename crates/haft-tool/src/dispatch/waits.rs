//! How long calls waited for people.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

/// How long calls waited for people, all that share a clone together.
///
/// Whoever has a limit of time for work subtracts this: a person may take as long as the question stands.
#[derive(Debug, Clone, Default)]
pub struct Waits(Arc<watch::Sender<Waited>>);

#[derive(Debug, Clone, Copy, Default)]
struct Waited {
    open: usize,
    since: Option<Instant>,
    before: Duration,
}

/// A wait for a person. Dropping it ends the wait.
#[derive(Debug)]
#[must_use = "dropping it ends the wait"]
pub struct Waiting(Waits);

impl Waits {
    /// Begins a wait.
    pub fn begin(&self) -> Waiting {
        self.0.send_modify(|it| {
            it.open = it.open.saturating_add(1);
            it.since = it.since.or_else(|| Some(Instant::now()));
        });
        Waiting(self.clone())
    }

    /// Returns the time in which at least one call waited.
    pub fn time(&self) -> Duration {
        let Waited { since, before, .. } = *self.0.borrow();
        before.saturating_add(since.map(|it| it.elapsed()).unwrap_or_default())
    }

    /// Tells whether a call waits now.
    pub fn is_open(&self) -> bool {
        self.0.borrow().open > 0
    }

    /// Waits until no call waits.
    ///
    /// # Cancel safety
    ///
    /// Safe: dropping the future forgets nothing.
    pub async fn answered(&self) {
        // The sender is held here, so the channel stays open.
        let _ = self.0.subscribe().wait_for(|it| it.open == 0).await;
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.0.send_modify(|it| {
            it.open = it.open.saturating_sub(1);
            if it.open == 0 {
                let now = it.since.take().map(|since| since.elapsed()).unwrap_or_default();
                it.before = it.before.saturating_add(now);
            }
        });
    }
}
