//! A call that runs on its own.

use std::pin::Pin;
use std::task::{Context, Poll};

use haft_protocol::{CallId, ErrorKind, Failure, Outcome};
use tokio::sync::oneshot;

use super::Dispatched;
use crate::Cancellation;

/// A call that runs on its own; a future of its end.
///
/// Dropping the handle requests cancellation. The call is never aborted: it ends in order and is recorded.
#[derive(Debug)]
#[must_use = "dropping the handle requests the call's cancellation"]
pub struct CallHandle {
    id: CallId,
    end: oneshot::Receiver<Dispatched>,
    cancellation: Cancellation,
}

/// The other side of a handle.
pub(super) struct Promise(oneshot::Sender<Dispatched>);

impl Promise {
    pub(super) fn keep(self, end: Dispatched) {
        // Nobody listens when the handle was dropped; the record is the call's end then.
        let _ = self.0.send(end);
    }
}

impl CallHandle {
    pub(super) fn new(id: CallId, cancellation: Cancellation) -> (Self, Promise) {
        let (promise, end) = oneshot::channel();
        (Self { id, end, cancellation }, Promise(promise))
    }

    /// Returns the call's id.
    pub fn id(&self) -> CallId {
        self.id
    }

    /// Requests the call's cancellation and lets it end in order.
    pub fn cancel(&self) {
        self.cancellation.cancel();
    }
}

impl Future for CallHandle {
    type Output = Dispatched;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Dispatched> {
        Pin::new(&mut self.end).poll(context).map(|end| {
            end.unwrap_or_else(|_| {
                // The task ends without keeping its promise only when its runtime is shut down under it.
                Dispatched::from(Outcome::from(Failure::new(
                    ErrorKind::Internal,
                    "the runtime ended before the call did; the journal shows how far it came",
                )))
            })
        })
    }
}

impl Drop for CallHandle {
    fn drop(&mut self) {
        self.cancellation.cancel();
    }
}
