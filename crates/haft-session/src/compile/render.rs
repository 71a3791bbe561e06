//! What a model reads of each entry.

use std::sync::Arc;

use haft_model::{CallResult, Fragment, RequestMessage};
use haft_protocol::{
    ContentPart, Entry, Notice, Outcome, Reply, ReplyPart, RequestedCall, Step, Summary,
    UserMessage,
};

/// What stands for a result in which there is nothing to read. Some providers refuse an empty one, and a model takes it for
/// a fault.
const NOTHING_TO_SHOW: &str = "[done, nothing to show]";

/// Makes the messages of an entry: of a step the reply and, where it asked for calls, their ends.
pub(crate) fn fragments(entry: &Entry) -> Arc<[Arc<Fragment>]> {
    match entry {
        Entry::User(message) => match said(message) {
            parts if parts.is_empty() => Arc::new([]),
            parts => Arc::new([Fragment::new(RequestMessage::User(parts))]),
        },
        Entry::Summary(it) => {
            let said = Arc::new([ContentPart::text(summary(it))]);
            Arc::new([Fragment::new(RequestMessage::User(said))])
        }
        Entry::Step(step) => of_step(step),
    }
}

/// Returns what a model reads of what somebody said. Blank texts are left out: providers refuse them.
pub(crate) fn said(message: &UserMessage) -> Arc<[ContentPart]> {
    let is_blank = |part: &&ContentPart| part.as_text().is_some_and(|text| text.trim().is_empty());
    let said = message.content.iter().filter(|part| !is_blank(part)).cloned();
    said.chain(message.notices.iter().map(notice)).collect()
}

fn of_step(step: &Step) -> Arc<[Arc<Fragment>]> {
    if says_nothing(&step.reply) {
        return Arc::new([]);
    }
    let results: Option<Vec<CallResult>> =
        step.calls().map(|(call, end)| Some(result(call, end?))).collect();
    let reply = || Fragment::new(RequestMessage::Reply(Arc::clone(&step.reply)));
    match results {
        // A step with an open call is shown as a whole or not at all.
        None => Arc::new([]),
        Some(results) if results.is_empty() => Arc::new([reply()]),
        Some(results) => {
            Arc::new([reply(), Fragment::new(RequestMessage::Results(results.into()))])
        }
    }
}

/// Tells whether a reply has neither a word nor a call. Providers refuse it, thoughts without either too, and it tells a
/// model nothing.
fn says_nothing(reply: &Reply) -> bool {
    reply.parts.iter().all(|part| match part {
        ReplyPart::Text { text, opaque } => text.trim().is_empty() && opaque.is_none(),
        ReplyPart::Reasoning { .. } => true,
        ReplyPart::Call(_) | ReplyPart::Opaque(_) => false,
    })
}

fn result(call: &RequestedCall, outcome: &Outcome) -> CallResult {
    let images = outcome.content.iter().filter(|it| matches!(it, ContentPart::Image { .. }));
    let text = outcome.model_text();
    CallResult {
        provider_id: Arc::from(&*call.echoed_id()),
        tool: Arc::from(call.tool.as_str()),
        text: Arc::from(if text.trim().is_empty() { NOTHING_TO_SHOW } else { text.as_str() }),
        images: images.cloned().collect(),
        is_error: !outcome.is_ok(),
    }
}

/// Makes the part of a notice, in a form that no data is mistaken for.
pub(super) fn notice(notice: &Notice) -> ContentPart {
    ContentPart::text(format!("[notice: {notice}]"))
}

/// Says what a summary is before it says what is in it.
fn summary(summary: &Summary) -> String {
    format!(
        "[notice: {} earlier messages are summarised here. Files are as they are now: look again before you change one]\n{}",
        summary.entries, summary.text
    )
}
