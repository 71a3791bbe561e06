//! Taking in what a model said.

use haft_model::Finished;
use haft_protocol::{CallId, Entry, MessageId, ModelId, Reply, ReplyPart, Timestamp, limits};

use crate::transcript::Transcript;

/// Makes the reply of what a model said: each call gets an id of ours, and keeps its provider's only where that tells it
/// from all others of the conversation.
///
/// Where the model was stopped in the middle, none of its calls counts as whole.
pub fn reply_of(
    finished: Finished,
    transcript: &Transcript,
    model: ModelId,
    id: MessageId,
    at: Timestamp,
    mut call_id: impl FnMut() -> CallId,
) -> Reply {
    let Finished { mut parts, stop, usage, served_by: _ } = finished;
    let mut taken: Vec<String> = Vec::new();
    for part in &mut parts {
        let ReplyPart::Call(call) = part else { continue };
        call.id = call_id();
        call.is_whole &= stop.lets_calls_run();
        call.provider_id = call.provider_id.take().filter(|id| {
            is_usable(id) && !taken.iter().any(|it| it == id) && !is_known(transcript, id)
        });
        taken.push(call.echoed_id().into_owned());
    }
    Reply { id, at, model, parts, stop, usage }
}

fn is_usable(id: &str) -> bool {
    !id.is_empty()
        && id.len() <= limits::PROVIDER_ID_BYTES
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

fn is_known(transcript: &Transcript, id: &str) -> bool {
    let steps = transcript.entries().filter_map(|entry| match entry {
        Entry::Step(step) => Some(step),
        Entry::User(_) | Entry::Summary(_) => None,
    });
    steps.flat_map(|step| step.reply.calls()).any(|call| call.echoed_id() == id)
}
