//! Making room: older messages give way to a summary.
//!
//! Nothing here asks a model. [`plan`] says what to summarise and makes the request for it, [`accept`] makes the summary of
//! what came, and [`Compaction`] says when to do so and when to stop trying.

mod full;
mod source;

use std::sync::Arc;

use haft_model::{Estimator, Finished, Request, Sampling, TokenCounter as _, ToolChoice};
use haft_protocol::{
    ContentPart, Entry, MessageId, ModelId, ReplyPart, StopReason, Summary, Timestamp, limits,
};

pub use full::{Compaction, Full};

use crate::transcript::{Node, Transcript};

/// How much room there is, in tokens as they are estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// What the entries may take that stay as they are.
    pub kept: u64,
    /// What they may take so that more of them stay than have room: the last [`limits::KEPT_STEPS`].
    pub most: u64,
    /// What the summary may take.
    pub summary: u64,
    /// What the request for the summary may take.
    pub request: u64,
}

/// What is to be summarised, and the request for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The first entry that the summary will stand for.
    pub first: MessageId,
    /// The last one.
    pub last: MessageId,
    /// How many entries it will stand for.
    pub entries: u64,
    /// The request for the summary.
    pub request: Arc<Request>,
    /// Tokens that what it replaces takes, as they are estimated.
    pub estimated_tokens: u64,
    /// What is added to the summary word for word.
    added: String,
    estimator: Estimator,
}

/// A summary that is not one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rejected {
    /// There is nothing in it.
    #[error("the model summarised {entries} messages as nothing")]
    Empty {
        /// How many entries it was to stand for.
        entries: u64,
    },
    /// The model asked for calls.
    #[error("the model asked for a call of `{tool}` where it was to summarise")]
    Calls {
        /// The tool of the first call.
        tool: String,
    },
    /// The model was stopped, or declined.
    #[error("the model did not finish its summary ({stop})")]
    Unfinished {
        /// Why it stopped.
        stop: StopReason,
    },
    /// It takes as much room as what it stands for.
    #[error(
        "the summary has about {summary} tokens, and what it stands for has {replaced}: it makes no room"
    )]
    NotSmaller {
        /// Tokens of the summary.
        summary: u64,
        /// Tokens of what it stands for.
        replaced: u64,
    },
}

/// Plans what to summarise, or returns nothing where there is nothing that a summary could take the place of.
///
/// The task, which is the first entry, stays, and so do the last entries: as many as have room, and one at least. An entry
/// holds calls with their results, so that no cut comes between them. An earlier summary becomes a part of the new one.
pub fn plan(
    transcript: &Transcript,
    room: &Room,
    sampling: &Sampling,
    estimator: &Estimator,
) -> Option<Plan> {
    if transcript.open_calls().next().is_some() {
        return None;
    }
    let shown = transcript.shown();
    let is_summary = |node: &Node| matches!(node.entry(), Entry::Summary(_));
    let history: Vec<(usize, &Arc<Node>)> =
        transcript.nodes_from(shown.from()).filter(|(_, node)| !is_summary(node)).collect();
    let kept = kept(&history, room, estimator);
    let older = history.get(..history.len().checked_sub(kept)?)?;
    let (last_place, last) = older.last()?;
    let first = transcript.nodes_from(1).next()?.1.entry().id();
    let all = || {
        let all = transcript.nodes_from(1).take_while(|(place, _)| place <= last_place);
        all.map(|(_, node)| node.entry()).filter(|it| !matches!(it, Entry::Summary(_)))
    };
    let before = shown.summary().and_then(|id| {
        let mut nodes = transcript.nodes_from(1).rev();
        nodes.find_map(|(_, node)| (node.entry().id() == id).then_some(node))
    });
    let replaced = before.into_iter().chain(older.iter().map(|(_, node)| *node));
    let estimated_tokens = replaced.map(|it| weight(it, estimator)).fold(0, u64::saturating_add);
    if estimated_tokens <= room.summary.min(limits::SUMMARY_TOKENS_MIN) {
        return None;
    }
    let kept_entries = history.iter().skip(older.len()).map(|(_, node)| node.entry());
    let added = source::added(all(), kept_entries);
    let before = before.and_then(|node| match node.entry() {
        Entry::Summary(summary) => Some(summary.text.as_str()),
        Entry::User(_) | Entry::Step(_) => None,
    });
    let task = transcript.entries().next();
    let entries = older.iter().map(|(_, node)| node.entry());
    let said = source::request(task, before, entries, room.request, estimator);
    let request = Request {
        system: Arc::from(include_str!("summarise.md").trim_end()),
        messages: vec![haft_model::Fragment::new(haft_model::RequestMessage::User(Arc::new([
            ContentPart::text(said),
        ])))]
        .into(),
        tools: Arc::new([]),
        choice: ToolChoice::None,
        format: None,
        sampling: Sampling {
            output_tokens: u32::try_from(room.summary).ok().and_then(std::num::NonZeroU32::new),
            ..sampling.clone()
        },
    };
    Some(Plan {
        first,
        last: last.entry().id(),
        entries: all().count() as u64,
        request: Arc::new(request),
        estimated_tokens,
        added,
        estimator: *estimator,
    })
}

/// Returns how many entries at the end stay as they are.
fn kept(history: &[(usize, &Arc<Node>)], room: &Room, estimator: &Estimator) -> usize {
    let (mut tokens, mut steps, mut kept) = (0_u64, 0_usize, 0_usize);
    for (_, node) in history.iter().rev() {
        tokens = tokens.saturating_add(weight(node, estimator));
        let wanted = if steps < limits::KEPT_STEPS { room.most } else { room.kept };
        if kept > 0 && tokens > wanted.max(room.kept) {
            break;
        }
        kept = kept.saturating_add(1);
        steps = steps.saturating_add(usize::from(matches!(node.entry(), Entry::Step(_))));
    }
    kept
}

fn weight(node: &Arc<Node>, estimator: &Estimator) -> u64 {
    let tokens = node.fragments().iter().map(|it| it.estimated_tokens(estimator));
    tokens.fold(0, u64::saturating_add)
}

/// Makes the summary of what a model said to a plan's request.
///
/// What was asked last and what was changed is added word for word, where the entries that say so give way.
///
/// # Errors
///
/// Fails where the model did something else than summarise, and where nothing would be won.
pub fn accept(
    plan: &Plan,
    finished: &Finished,
    model: ModelId,
    id: MessageId,
    at: Timestamp,
) -> Result<Summary, Rejected> {
    let mut text = String::new();
    for part in &finished.parts {
        match part {
            ReplyPart::Call(call) => return Err(Rejected::Calls { tool: call.tool.clone() }),
            ReplyPart::Text { text: more, .. } => text.push_str(more),
            ReplyPart::Reasoning { .. } | ReplyPart::Opaque(_) => {}
        }
    }
    match &finished.stop {
        StopReason::End | StopReason::Other(_) => {}
        // As much as was allowed is as much as was asked for.
        StopReason::Length => text.push_str(" […]"),
        stop @ (StopReason::Calls
        | StopReason::Window
        | StopReason::Filtered
        | StopReason::Refused
        | StopReason::CutShort) => return Err(Rejected::Unfinished { stop: stop.clone() }),
    }
    let text = text.trim();
    if text.is_empty() || text == "[…]" {
        return Err(Rejected::Empty { entries: plan.entries });
    }
    let text = format!("{text}{}", plan.added);
    let summary = plan.estimator.text(&text);
    if summary >= plan.estimated_tokens {
        return Err(Rejected::NotSmaller { summary, replaced: plan.estimated_tokens });
    }
    Ok(Summary {
        id,
        at,
        text,
        first: plan.first,
        last: plan.last,
        entries: plan.entries,
        model: Some(model),
        usage: finished.usage,
    })
}
