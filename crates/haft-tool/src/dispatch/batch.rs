//! The order within a batch.

use std::sync::Arc;

use tokio::sync::watch;

use crate::locks::Claim;

/// How far one call of a batch is.
#[derive(Debug, Clone)]
enum Stage {
    /// Nobody knows yet what it touches.
    Unbound,
    /// It will touch this.
    Claimed(Arc<[Claim]>),
    /// It has ended, or waits for an answer.
    Ended,
}

/// The order of the calls of a batch: each waits for the earlier ones whose order with it matters.
///
/// A call waits for earlier ones only and holds nothing meanwhile, so the waiting ends.
#[derive(Debug)]
pub(super) struct BatchOrder {
    stages: Vec<watch::Sender<Stage>>,
}

impl BatchOrder {
    pub(super) fn new(calls: usize) -> Self {
        Self { stages: (0..calls).map(|_| watch::Sender::new(Stage::Unbound)).collect() }
    }

    /// Returns the turn of each call, in order.
    pub(super) fn turns(self) -> impl Iterator<Item = Turn> {
        let receivers: Vec<watch::Receiver<Stage>> =
            self.stages.iter().map(watch::Sender::subscribe).collect();
        self.stages.into_iter().enumerate().map(move |(position, own)| Turn {
            own,
            earlier: receivers.iter().take(position).cloned().collect(),
        })
    }
}

/// One call's place in a batch. Dropping it ends the turn.
#[derive(Debug)]
pub(super) struct Turn {
    own: watch::Sender<Stage>,
    earlier: Vec<watch::Receiver<Stage>>,
}

impl Turn {
    /// Says what the call will touch, and waits for earlier calls that write any of it, or touch what it writes.
    pub(super) async fn claim(&mut self, claims: &[Claim]) {
        self.own.send_replace(Stage::Claimed(claims.into()));
        for earlier in &mut self.earlier {
            wait(earlier, |theirs| {
                theirs.iter().any(|it| claims.iter().any(|own| own.is_ordered_with(it)))
            })
            .await;
        }
    }

    /// Waits for every earlier call that writes anything.
    pub(super) async fn after_writers(&mut self) {
        for earlier in &mut self.earlier {
            wait(earlier, |theirs| theirs.iter().any(|it| it.access.writes())).await;
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.own.send_replace(Stage::Ended);
    }
}

/// Waits until a call has ended or has claimed nothing that matters. A closed channel is an ended call.
async fn wait(call: &mut watch::Receiver<Stage>, matters: impl Fn(&[Claim]) -> bool) {
    let _ = call
        .wait_for(|stage| match stage {
            Stage::Unbound => false,
            Stage::Claimed(theirs) => !matters(theirs),
            Stage::Ended => true,
        })
        .await;
}
