//! A source and whether it is awake.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use haft_protocol::Failure;
use tokio::sync::Mutex;

use crate::source::ToolSource;

/// A source and whether it is awake. Calls that meet a sleeping source wake it once, together.
pub(crate) struct Waking {
    source: Arc<dyn ToolSource>,
    awake: AtomicBool,
    /// Held while the source wakes up or falls asleep.
    changing: Mutex<()>,
}

impl Waking {
    pub(crate) fn new(source: Arc<dyn ToolSource>) -> Self {
        Self { source, awake: AtomicBool::new(false), changing: Mutex::new(()) }
    }

    pub(crate) fn source(&self) -> &Arc<dyn ToolSource> {
        &self.source
    }

    pub(crate) fn is_awake(&self) -> bool {
        self.awake.load(Ordering::Acquire)
    }

    /// Wakes the source if it sleeps. A failure leaves it asleep, so that the next call tries again.
    pub(crate) async fn wake(&self) -> Result<(), Failure> {
        let _changing = self.changing.lock().await;
        if !self.is_awake() {
            self.source.activate().await?;
            self.awake.store(true, Ordering::Release);
        }
        Ok(())
    }

    pub(crate) async fn sleep(&self) {
        let _changing = self.changing.lock().await;
        if self.awake.swap(false, Ordering::AcqRel) {
            self.source.deactivate().await;
        }
    }
}
