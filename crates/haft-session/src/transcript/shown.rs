//! What a request shows of a transcript.

use std::sync::Arc;

use haft_model::{Fragment, Fragments, RequestMessage};
use haft_protocol::{ContentPart, Entry, MessageId, Summary};
use rpds::VectorSync;

use super::Node;
use crate::compile::{Kept, LeftOut};

/// What stands between two things that were said one after the other, before the model replied.
const SAID_LATER: &str = "[said later, before you replied]";

/// What stands before something that was said when what is summarised was over.
const SAID_BEHIND: &str = "[said after what is summarised above]";

/// What stands between two replies between which nobody said anything that was kept.
const WENT_ON: &str = "[notice: you were asked to go on]";

/// What a request shows of a transcript, kept up with it as it grows.
///
/// So a request costs a copy of pointers to messages that are there, however many came before. Messages of user and model
/// take turns: what was said in a row is joined once, when it is added.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shown {
    fragments: Fragments,
    task: Option<MessageId>,
    summary: Option<MessageId>,
    /// Where the history begins that is shown as it was.
    from: usize,
    history: Span,
    silent: Span,
    summarised: Option<LeftOut>,
    /// Whether the last thing shown is a summary.
    ends_with_summary: bool,
}

/// Entries from a first one to a last one.
#[derive(Debug, Clone, Copy, Default)]
struct Span {
    ends: Option<(MessageId, MessageId)>,
    entries: usize,
}

impl Span {
    fn add(&mut self, id: MessageId) {
        let first = self.ends.map_or(id, |(first, _)| first);
        self.ends = Some((first, id));
        self.entries = self.entries.saturating_add(1);
    }
}

impl Shown {
    /// Shows the task, a summary, and the entries from a place on.
    pub(super) fn after(nodes: &VectorSync<Arc<Node>>, summary: &Summary, from: usize) -> Self {
        let mut shown = Self { from: from.max(1), ..Self::default() };
        if let Some(task) = nodes.first() {
            shown.add(task);
        }
        // The summary is the last entry, and is shown before what it does not stand for.
        if let Some(node) = nodes.last() {
            shown.add(node);
        }
        shown.summarised = Some(LeftOut {
            first: summary.first,
            last: summary.last,
            entries: usize::try_from(summary.entries).unwrap_or(usize::MAX),
            why: "summarised",
        });
        let behind = (shown.from..nodes.len()).filter_map(|place| nodes.get(place));
        for node in behind.filter(|node| !matches!(node.entry(), Entry::Summary(_))) {
            shown.add(node);
        }
        shown
    }

    /// Adds an entry of which nothing is open.
    pub(super) fn add(&mut self, node: &Node) {
        let id = node.entry().id();
        match node.entry() {
            Entry::User(_) | Entry::Step(_) if self.task.is_none() => {
                self.task = Some(id);
                self.from = self.from.max(1);
            }
            Entry::User(_) | Entry::Step(_) if node.fragments().is_empty() => self.silent.add(id),
            Entry::User(_) | Entry::Step(_) => self.history.add(id),
            Entry::Summary(_) => self.summary = Some(id),
        }
        let is_summary = matches!(node.entry(), Entry::Summary(_));
        let joint = match (is_summary, self.ends_with_summary) {
            // It says itself what it is.
            (true, _) => None,
            (false, true) => Some(SAID_BEHIND),
            (false, false) => Some(SAID_LATER),
        };
        for fragment in node.fragments().iter() {
            self.push(fragment, joint);
            self.ends_with_summary = is_summary;
        }
    }

    fn push(&mut self, fragment: &Arc<Fragment>, joint: Option<&str>) {
        let last = self.fragments.last().map(|it| it.message());
        match (last, fragment.message()) {
            (Some(RequestMessage::User(before)), RequestMessage::User(said)) => {
                let joint = joint.map(ContentPart::text);
                let merged = before.iter().cloned().chain(joint).chain(said.iter().cloned());
                let merged = Fragment::new(RequestMessage::User(merged.collect()));
                self.fragments.replace_last(merged);
            }
            (Some(RequestMessage::Reply(_)), RequestMessage::Reply(_)) => {
                let asked = Arc::new([ContentPart::text(WENT_ON)]);
                self.fragments.push(Fragment::new(RequestMessage::User(asked)));
                self.fragments.push(Arc::clone(fragment));
            }
            _ => self.fragments.push(Arc::clone(fragment)),
        }
    }

    /// Returns the messages.
    pub(crate) fn fragments(&self) -> &Fragments {
        &self.fragments
    }

    /// Returns the first thing that was said.
    pub(crate) fn task(&self) -> Option<MessageId> {
        self.task
    }

    /// Returns the summary that stands for older entries.
    pub(crate) fn summary(&self) -> Option<MessageId> {
        self.summary
    }

    /// Returns where the history begins that is shown as it was.
    pub(crate) fn from(&self) -> usize {
        self.from
    }

    /// Returns what of the history is shown as it was.
    pub(crate) fn kept(&self) -> Option<Kept> {
        let (first, last) = self.history.ends?;
        Some(Kept::Entries { first, last, entries: self.history.entries })
    }

    /// Returns what is not shown.
    pub(crate) fn left_out(&self) -> Vec<LeftOut> {
        let silent = self.silent.ends.map(|(first, last)| LeftOut {
            first,
            last,
            entries: self.silent.entries,
            why: "nothing was said in them",
        });
        self.summarised.iter().cloned().chain(silent).collect()
    }
}
