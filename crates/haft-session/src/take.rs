//! Taking in what a model said.

use std::collections::HashSet;

use haft_model::Finished;
use haft_protocol::{CallId, MessageId, ModelId, Reply, ReplyPart, Timestamp, limits};

use crate::transcript::Transcript;

/// Makes the reply of what a model said: each call gets an id of ours, and keeps its provider's only where that tells it
/// from all others of the conversation.
///
/// Where the model was stopped in the middle, none of its calls counts as whole. The cost is that of the reply, however
/// long the conversation is.
pub fn reply_of(
    finished: Finished,
    transcript: &Transcript,
    model: ModelId,
    id: MessageId,
    at: Timestamp,
    mut call_id: impl FnMut() -> CallId,
) -> Reply {
    let Finished { mut parts, stop, usage, served_by: _ } = finished;
    let mut taken: HashSet<String> = HashSet::new();
    for part in &mut parts {
        let ReplyPart::Call(call) = part else { continue };
        call.id = call_id();
        call.is_whole &= stop.lets_calls_run();
        let is_own = |id: &String| is_usable(id) && !taken.contains(id) && !transcript.echoes(id);
        call.provider_id = call.provider_id.take().filter(is_own);
        taken.insert(call.echoed_id().into_owned());
    }
    Reply { id, at, model, parts, stop, usage }
}

/// Tells whether every provider takes an id back: some refuse other characters, and longer ones.
fn is_usable(id: &str) -> bool {
    !id.is_empty()
        && id.len() <= limits::PROVIDER_ID_BYTES
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}
