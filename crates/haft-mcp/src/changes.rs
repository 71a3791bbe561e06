//! Telling clients that the list of tools is another one.

use haft_tool::{Cancellation, Watching};
use rmcp::model::SubscriptionFilter;
use rmcp::service::SubscriptionContext;
use rmcp::{Peer, RoleServer};

/// Tells a client with a session, until it goes.
pub(crate) async fn announce(peer: Peer<RoleServer>, mut watching: Watching, until: &Cancellation) {
    loop {
        tokio::select! {
            changed = watching.changed() => {
                if changed.is_none() || peer.notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
            () = until.cancelled() => return,
        }
    }
}

/// Returns what a client may listen to.
pub(crate) fn offered() -> SubscriptionFilter {
    let mut filter = SubscriptionFilter::default();
    filter.tools_list_changed = Some(true);
    filter
}

/// Tells a client that listens, until it stops.
pub(crate) async fn tell(context: &SubscriptionContext, mut watching: Watching) {
    loop {
        tokio::select! {
            changed = watching.changed() => {
                if changed.is_none() {
                    return;
                }
                // A filter that leaves the tools out is the client's own choice.
                let _ = context.sink().notify_tool_list_changed().await;
            }
            () = context.cancelled() => return,
        }
    }
}
