//! A source and whether it is awake.

use std::sync::Arc;

use haft_protocol::Failure;
use tokio::sync::Mutex;

use crate::source::ToolSource;

/// A source and whether it is awake. Calls that meet a sleeping source wake it once, together.
pub(crate) struct Waking {
    source: Arc<dyn ToolSource>,
    awake: Mutex<bool>,
}

impl Waking {
    pub(crate) fn new(source: Arc<dyn ToolSource>) -> Self {
        Self { source, awake: Mutex::new(false) }
    }

    pub(crate) fn source(&self) -> &Arc<dyn ToolSource> {
        &self.source
    }

    /// Wakes the source if it sleeps. A failure leaves it asleep, so that the next call tries again.
    pub(crate) async fn wake(&self) -> Result<(), Failure> {
        let mut awake = self.awake.lock().await;
        if !*awake {
            self.source.activate().await?;
            *awake = true;
        }
        Ok(())
    }

    pub(crate) async fn sleep(&self) {
        let mut awake = self.awake.lock().await;
        if std::mem::take(&mut *awake) {
            self.source.deactivate().await;
        }
    }
}
