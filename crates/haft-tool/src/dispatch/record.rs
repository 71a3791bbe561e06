//! The walk of one call: station 15.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use haft_protocol::{IntentRecord, NoticeKind, Outcome, OutcomeRecord};

use super::walk::{Walk, panicked};
use super::{CallContext, Dispatch};
use crate::hooks::Committed;
use crate::ports::{Entry, PortError};

impl Walk<'_> {
    /// Station 15: one record of one outcome. Returns the outcome, and whether it is on record.
    pub(super) async fn record(&mut self, mut outcome: Box<Outcome>) -> (Box<Outcome>, bool) {
        if !self.notices.is_empty() {
            outcome.notices.splice(0..0, self.notices.drain(..));
        }
        if self.dispatch.ports().journal.is_none() {
            return (outcome, true);
        }
        let at = self.dispatch.ports().clock.now();
        let record = OutcomeRecord { call: self.intent.call, at, outcome: *outcome };
        let journal = async {
            if !self.journalled {
                self.journal(Entry::Intent(&self.intent)).await?;
            }
            self.journal(Entry::Outcome(&record)).await
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
        let mut outcome = Box::new(record.outcome);
        if !recorded {
            outcome.notice(
                NoticeKind::Unrecorded,
                "this outcome could not be recorded; the journal does not show how the call ended",
            );
        }
        (outcome, recorded)
    }

    /// Keeps an entry, where anybody keeps any.
    pub(super) async fn journal(&self, entry: Entry<'_>) -> Result<(), PortError> {
        let journal = &self.dispatch.ports().journal;
        if journal.is_none() { Ok(()) } else { journal.append(entry).await }
    }
}

/// Lets those who watch look at the committed fact.
pub(super) async fn notify(
    dispatch: &Dispatch,
    context: &CallContext,
    intent: IntentRecord,
    outcome: Box<Outcome>,
    recorded: bool,
) -> Box<Outcome> {
    let hooks = &context.hooks;
    let on_error = if outcome.is_ok() { &[][..] } else { &hooks.error[..] };
    let committed = Committed { intent: Arc::new(intent), outcome: Arc::new(*outcome), recorded };
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
    Box::new(Arc::unwrap_or_clone(committed.outcome))
}
