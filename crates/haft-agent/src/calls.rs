//! The calls of one reply.

use std::sync::Arc;

use haft_protocol::{
    ErrorKind, Failure, Outcome, RequestedCall, RunEntry, StopReason, TicketId, ToolCall,
};
use haft_session::{KeeperError, State};
use haft_tool::{CallContext, Dispatch, Dispatched};

use crate::event::{RunEvent, Watcher};

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

/// Makes the open calls of the last reply, keeps how each ended, and adds that to the transcript.
pub(crate) async fn make(
    dispatch: &Dispatch,
    context: &CallContext,
    state: &mut State,
    stop: &StopReason,
    watcher: &Watcher,
) -> Called {
    let calls: Vec<RequestedCall> = state.transcript.open_calls().cloned().collect();
    let (whole, cut): (Vec<RequestedCall>, Vec<RequestedCall>) =
        calls.iter().cloned().partition(|call| call.is_whole && stop.lets_calls_run());
    for call in cut {
        let outcome = Outcome::from(cut_short(&call));
        if let Err(error) = end(state, &call, outcome, watcher).await {
            return Called::Unrecorded(error);
        }
    }
    let handles: Vec<_> = {
        for call in &whole {
            watcher.see(&RunEvent::CallStarted { call: call.clone() });
        }
        let asked = whole.iter().map(|call| ToolCall {
            id: call.id,
            provider_id: call.provider_id.clone(),
            tool: call.tool.clone(),
            arguments: call.arguments.clone(),
        });
        dispatch.start_batch(context, asked.collect())
    };
    let mut waits = None;
    let mut unkept = None;
    // Kept in the order of the calls: what ended meanwhile is in the journal of calls already.
    for (call, handle) in whole.iter().zip(handles) {
        match handle.await {
            Dispatched::Done(outcome) => {
                if unkept.is_none() {
                    unkept = end(state, call, outcome, watcher).await.err();
                }
            }
            Dispatched::Waiting(ticket) => {
                let ticket = ticket.record().ticket;
                let entry = RunEntry::Waits { call: call.id, ticket, kept: None };
                if unkept.is_none() {
                    unkept = state.parts.keeper.keep(&entry).await.err();
                }
                waits = waits.or(Some(ticket));
            }
        }
    }
    if let Some(error) = unkept {
        return Called::Unrecorded(error);
    }
    if let Some(ticket) = waits {
        return Called::Waits(ticket);
    }
    Called::All(ends(state, &calls))
}

/// Returns how calls of the last reply ended.
fn ends(state: &State, calls: &[RequestedCall]) -> Vec<(RequestedCall, Outcome)> {
    let Some(haft_protocol::Entry::Step(step)) = state.transcript.last() else { return Vec::new() };
    let made = step.calls().filter(|(call, _)| calls.iter().any(|it| it.id == call.id));
    made.filter_map(|(call, end)| Some((call.clone(), (**end?).clone()))).collect()
}

/// Keeps how a call ended, and adds it to the transcript.
pub(crate) async fn end(
    state: &mut State,
    call: &RequestedCall,
    outcome: Outcome,
    watcher: &Watcher,
) -> Result<(), KeeperError> {
    let entry = RunEntry::Ended { call: call.id, outcome: Box::new(outcome.clone()) };
    let kept = state.parts.keeper.keep(&entry).await;
    let outcome = Arc::new(outcome);
    if let Err(error) = state.transcript.end(call.id, Arc::clone(&outcome)) {
        tracing::error!(%error, "a call that was not open ended");
    }
    watcher.see(&RunEvent::CallEnded { call: call.id, tool: call.tool.clone(), outcome });
    kept
}

fn cut_short(call: &RequestedCall) -> Failure {
    let text = format!(
        "your reply was cut off before the arguments of `{}` were whole, so the call was not made",
        call.tool
    );
    Failure::new(ErrorKind::InvalidArguments, text).hint(
        "make the call again in smaller pieces, such as several edits instead of one long write",
    )
}
