//! The calls of one reply.

use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use haft_protocol::{
    CallId, Entry, ErrorKind, Failure, Outcome, RequestedCall, RunEntry, TicketId, ToolCall,
};
use haft_session::{KeeperError, State};
use haft_tool::{CallContext, Dispatch, Dispatched};

use crate::event::{RunEvent, Watcher};
use crate::purse::Purse;

/// How the calls of one reply stand.
#[derive(Debug)]
pub(crate) enum Called {
    /// All of them ended, in the order of the calls.
    All(Vec<(RequestedCall, Outcome)>),
    /// One waits for a person; those that ended are in the transcript.
    Waits(TicketId),
    /// The record could not be kept.
    Unrecorded(KeeperError),
}

/// What calls are made with.
pub(crate) struct Making<'a> {
    pub(crate) dispatch: &'a Dispatch,
    pub(crate) context: &'a CallContext,
    pub(crate) watcher: &'a Watcher,
    pub(crate) purse: &'a Purse,
}

impl Making<'_> {
    /// Makes calls of the last reply, each under the id given with it, keeps how each ended as it ends, and adds that to
    /// the transcript.
    pub(crate) async fn make(
        &self,
        state: &mut State,
        calls: Vec<(CallId, RequestedCall)>,
    ) -> Called {
        let (whole, cut): (Vec<_>, Vec<_>) = calls.into_iter().partition(|(_, call)| call.is_whole);
        for (_, call) in cut {
            let outcome = Outcome::from(cut_short(&call.tool));
            if let Err(error) = end(state, &call, outcome, self.watcher).await {
                return Called::Unrecorded(error);
            }
        }
        for (_, call) in &whole {
            self.watcher.see(&RunEvent::CallStarted { call: call.clone() });
        }
        let asked = whole.iter().map(|(id, call)| ToolCall {
            id: *id,
            provider_id: call.provider_id.clone(),
            tool: call.tool.clone(),
            arguments: call.arguments.clone(),
        });
        let handles = self.dispatch.start_batch(self.context, asked.collect());
        let mut under_way: FuturesUnordered<_> = whole
            .iter()
            .zip(handles)
            .map(|((_, call), handle)| async move { (call, handle.await) })
            .collect();
        let mut time_is_up = std::pin::pin!(self.purse.time_is_up());
        let mut is_out_of_time = false;
        let (mut waits, mut unkept) = (None, None);
        loop {
            let ended = tokio::select! {
                biased;
                ended = under_way.next() => ended,
                () = &mut time_is_up, if !is_out_of_time => {
                    is_out_of_time = true;
                    self.context.cancellation.cancel();
                    continue;
                }
            };
            let Some((call, ended)) = ended else { break };
            let kept = match ended {
                Dispatched::Done(outcome) => end(state, call, *outcome, self.watcher).await,
                Dispatched::Waiting(ticket) => {
                    let ticket = ticket.record().ticket;
                    waits = waits.or(Some(ticket));
                    let entry = RunEntry::Waits { call: call.id, ticket, kept: None };
                    state.parts.keeper.keep(&entry).await
                }
            };
            unkept = unkept.or(kept.err());
        }
        if let Some(error) = unkept {
            return Called::Unrecorded(error);
        }
        match waits {
            Some(ticket) => Called::Waits(ticket),
            None => Called::All(ends(state)),
        }
    }
}

/// Ends the open calls of the last reply without making any.
pub(crate) async fn pass_over(state: &mut State, watcher: &Watcher) -> Called {
    let open: Vec<RequestedCall> = state.transcript.open_calls().cloned().collect();
    for call in open {
        let outcome = Outcome::from(cut_short(&call.tool));
        if let Err(error) = end(state, &call, outcome, watcher).await {
            return Called::Unrecorded(error);
        }
    }
    Called::All(ends(state))
}

/// Returns how the calls of the last reply ended.
pub(crate) fn ends(state: &State) -> Vec<(RequestedCall, Outcome)> {
    let Some(Entry::Step(step)) = state.transcript.last() else { return Vec::new() };
    step.calls().filter_map(|(call, end)| Some((call.clone(), (**end?).clone()))).collect()
}

/// Keeps how a call ended, and adds it to the transcript.
pub(crate) async fn end(
    state: &mut State,
    call: &RequestedCall,
    outcome: Outcome,
    watcher: &Watcher,
) -> Result<(), KeeperError> {
    let entry = RunEntry::Ended { call: call.id, outcome: Box::new(outcome) };
    let kept = state.parts.keeper.keep(&entry).await;
    let RunEntry::Ended { outcome, .. } = entry else { return kept };
    let outcome: Arc<Outcome> = Arc::from(outcome);
    if let Err(error) = state.transcript.end(call.id, Arc::clone(&outcome)) {
        tracing::error!(%error, "a call that was not open ended");
    }
    watcher.see(&RunEvent::CallEnded { call: call.id, tool: call.tool.clone(), outcome });
    kept
}

fn cut_short(tool: &str) -> Failure {
    let text = format!(
        "your reply was cut off before the arguments of `{}` were whole, so the call was not made",
        haft_text::visible_line(haft_text::head(tool, 100))
    );
    Failure::new(ErrorKind::InvalidArguments, text).hint(
        "make the call again in smaller pieces, such as several edits instead of one long write",
    )
}
