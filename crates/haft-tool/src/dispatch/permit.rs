//! Permits: how many leaf effects happen at one time.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The permits of one dispatch.
#[derive(Debug, Clone)]
pub(super) struct Permits(Arc<Semaphore>);

impl Permits {
    pub(super) fn new(count: usize) -> Self {
        Self(Arc::new(Semaphore::new(count.clamp(1, Semaphore::MAX_PERMITS))))
    }

    /// Waits for a permit. A composite call needs none and never waits.
    pub(super) async fn acquire(&self, composite: bool) -> PermitSlot {
        let permit = if composite { None } else { Arc::clone(&self.0).acquire_owned().await.ok() };
        PermitSlot { permits: self.clone(), composite, permit: Arc::new(Mutex::new(permit)) }
    }
}

/// Where a call keeps its permit, to give it back while it waits for other calls.
#[derive(Debug, Clone)]
pub(super) struct PermitSlot {
    permits: Permits,
    composite: bool,
    permit: Arc<Mutex<Option<OwnedSemaphorePermit>>>,
}

impl PermitSlot {
    /// Gives the permit back.
    pub(super) fn release(&self) {
        self.set(None);
    }

    /// Waits for a permit again, after [`release`](Self::release).
    pub(super) async fn acquire_again(&self) {
        let PermitSlot { permit, .. } = self.permits.acquire(self.composite).await;
        let permit = permit.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.set(permit);
    }

    fn set(&self, permit: Option<OwnedSemaphorePermit>) {
        *self.permit.lock().unwrap_or_else(PoisonError::into_inner) = permit;
    }
}
