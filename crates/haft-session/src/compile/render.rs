//! What a model reads of each entry.

use std::sync::Arc;

use haft_model::{CallResult, Fragment, RequestMessage};
use haft_protocol::{ContentPart, Entry, Notice, Outcome, ReplyPart, RequestedCall, Step, Summary};

/// Makes the messages of an entry: of a step the reply and, where it asked for calls, their ends.
pub(crate) fn fragments(entry: &Entry) -> Arc<[Arc<Fragment>]> {
    match entry {
        Entry::User(message) => {
            let notices = message.notices.iter().map(notice);
            let said = message.content.iter().cloned().chain(notices).collect();
            Arc::new([Fragment::new(RequestMessage::User(said))])
        }
        Entry::Summary(it) => {
            let said = Arc::new([ContentPart::text(summary(it))]);
            Arc::new([Fragment::new(RequestMessage::User(said))])
        }
        Entry::Step(step) => of_step(step),
    }
}

fn of_step(step: &Step) -> Arc<[Arc<Fragment>]> {
    let says_nothing = step.reply.parts.iter().all(|part| match part {
        ReplyPart::Text { text, opaque } | ReplyPart::Reasoning { text, opaque } => {
            text.is_empty() && opaque.is_none()
        }
        ReplyPart::Call(_) | ReplyPart::Opaque(_) => false,
    });
    // A provider refuses a reply of nothing, and it tells the model nothing.
    if says_nothing {
        return Arc::new([]);
    }
    let reply = Fragment::new(RequestMessage::Reply(Arc::clone(&step.reply)));
    let results: Option<Vec<CallResult>> =
        step.calls().map(|(call, end)| Some(result(call, end?))).collect();
    match results {
        // A step with an open call is shown as a whole or not at all.
        None => Arc::new([]),
        Some(results) if results.is_empty() => Arc::new([reply]),
        Some(results) => Arc::new([reply, Fragment::new(RequestMessage::Results(results.into()))]),
    }
}

fn result(call: &RequestedCall, outcome: &Outcome) -> CallResult {
    let images = outcome.content.iter().filter(|it| matches!(it, ContentPart::Image { .. }));
    let text = outcome.model_text();
    CallResult {
        provider_id: Arc::from(&*call.echoed_id()),
        tool: Arc::from(call.tool.as_str()),
        // Some providers refuse an empty result, and a model takes it for a fault.
        text: if text.is_empty() { Arc::from("[done, nothing to show]") } else { Arc::from(text) },
        images: images.cloned().collect(),
        is_error: !outcome.is_ok(),
    }
}

/// Makes the part of a notice, in a form that no data is mistaken for.
pub(super) fn notice(notice: &Notice) -> ContentPart {
    ContentPart::text(format!("[notice: {notice}]"))
}

fn summary(summary: &Summary) -> String {
    format!(
        "[notice: {} earlier messages are summarised here; the files are as they are now, so look again before you change them]\n{}",
        summary.entries, summary.text
    )
}
