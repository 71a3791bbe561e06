//! The walk of one call: station 15.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use haft_protocol::{NoticeKind, Outcome, OutcomeRecord};

use super::walk::{Walk, panicked};
use super::{CallContext, Dispatch};
use crate::hooks::Committed;
use crate::ports::Entry;

impl Walk<'_> {
    /// Station 15: one record of one outcome.
    pub(super) async fn record(mut self, mut outcome: Outcome) -> Committed {
        let ports = self.dispatch.ports();
        outcome.notices.splice(0..0, self.notices.drain(..));
        let record = OutcomeRecord { call: self.intent.call, at: ports.clock.now(), outcome };
        let journal = async {
            if !self.journalled {
                ports.journal.append(Entry::Intent(&self.intent)).await?;
            }
            ports.journal.append(Entry::Outcome(&record)).await
        };
        let kept = AssertUnwindSafe(journal).catch_unwind().await;
        let recorded = match kept {
            Ok(Ok(())) => true,
            Ok(Err(error)) => {
                tracing::error!(call = %self.intent.call, %error, source = ?error.source, "an outcome was not recorded");
                false
            }
            Err(panic) => {
                panicked("the journal", &*panic);
                false
            }
        };
        let mut outcome = record.outcome;
        if !recorded {
            outcome.notice(
                NoticeKind::Unrecorded,
                "this outcome could not be recorded; the journal does not show how the call ended",
            );
        }
        Committed { intent: Arc::new(self.intent), outcome: Arc::new(outcome), recorded }
    }
}

/// Lets those who watch look at the committed fact.
pub(super) async fn notify(dispatch: &Dispatch, context: &CallContext, committed: &Committed) {
    let hooks = &context.hooks;
    let on_error = if committed.outcome.is_ok() { &[][..] } else { &hooks.error[..] };
    for (name, hook) in hooks.post.iter().chain(on_error) {
        let committed = committed.clone();
        let running = AssertUnwindSafe(async move { hook(committed).await }).catch_unwind();
        match tokio::time::timeout(dispatch.inner.limits.hook, running).await {
            Ok(Ok(Ok(()))) => {}
            Ok(Ok(Err(error))) => {
                tracing::warn!(hook = name, error, "a hook failed after the call");
            }
            Ok(Err(panic)) => {
                panicked(&format!("hook {name}"), &*panic);
            }
            Err(_) => tracing::warn!(hook = name, "a hook was too slow after the call"),
        }
    }
}
