//! What was said, and what came of it.

use std::sync::{Arc, OnceLock};

use haft_model::Fragment;
use haft_protocol::{
    CallId, Entry, MessageId, Outcome, Reply, RequestedCall, Step, Summary, UserMessage,
};
use rpds::VectorSync;

use crate::compile::fragments;

/// A change that a transcript cannot take.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TranscriptError {
    /// Calls of the last reply have no end yet.
    #[error(
        "the last reply has {open} calls without an end; they have to end before anything else is said"
    )]
    Open {
        /// How many.
        open: usize,
    },
    /// A call that nobody asked for, or that has its end.
    #[error("call {call} is not among the open calls of the last reply")]
    NotOpen {
        /// The call.
        call: CallId,
    },
    /// A reply to nothing.
    #[error("a transcript begins with what somebody says to the model, not with a reply")]
    NothingAsked,
    /// A summary of entries that are not there.
    #[error("there is no entry {id} to be summarised")]
    NoSuchEntry {
        /// The entry.
        id: MessageId,
    },
    /// Two calls of one reply, or calls of two, have the same id.
    #[error("call {call} is in the transcript already")]
    SameCall {
        /// The call.
        call: CallId,
    },
}

/// One entry with what is made of it once for all requests.
#[derive(Debug)]
pub struct Node {
    entry: Entry,
    fragments: OnceLock<Arc<[Arc<Fragment>]>>,
}

impl Node {
    fn new(entry: Entry) -> Arc<Self> {
        Arc::new(Self { entry, fragments: OnceLock::new() })
    }

    /// Returns the entry.
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// Returns the messages that a request shows of the entry; none of a step that is open.
    pub fn fragments(&self) -> &Arc<[Arc<Fragment>]> {
        self.fragments.get_or_init(|| fragments(&self.entry))
    }
}

/// What was said, and what came of it, in order.
///
/// A clone costs the same however long the transcript is, and shares what is made of its entries.
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    nodes: VectorSync<Arc<Node>>,
}

impl Transcript {
    /// Makes an empty transcript.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the entries.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &Entry> {
        self.nodes.iter().map(|node| node.entry())
    }

    /// Returns the entries with what is made of them.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = &Arc<Node>> + ExactSizeIterator {
        self.nodes.iter()
    }

    /// Returns how many entries there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Tells whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns the last entry.
    pub fn last(&self) -> Option<&Entry> {
        self.nodes.last().map(|node| node.entry())
    }

    /// Returns the calls of the last reply that have no end yet.
    pub fn open_calls(&self) -> impl Iterator<Item = &RequestedCall> {
        let step = match self.last() {
            Some(Entry::Step(step)) => Some(step),
            Some(Entry::User(_) | Entry::Summary(_)) | None => None,
        };
        step.into_iter().flat_map(Step::open_calls)
    }

    /// Adds what somebody said.
    ///
    /// # Errors
    ///
    /// Fails while calls are open.
    pub fn say(&mut self, message: UserMessage) -> Result<(), TranscriptError> {
        self.add(Entry::User(message))
    }

    /// Adds what the model said. Its calls are open.
    ///
    /// # Errors
    ///
    /// Fails while calls are open, where nobody said anything before, and where a call's id is not its own.
    pub fn reply(&mut self, reply: Reply) -> Result<(), TranscriptError> {
        if self.is_empty() {
            return Err(TranscriptError::NothingAsked);
        }
        let mut seen = std::collections::HashSet::new();
        if let Some(call) = reply.calls().find(|call| !seen.insert(call.id)) {
            return Err(TranscriptError::SameCall { call: call.id });
        }
        self.add(Entry::Step(Step::new(reply)))
    }

    /// Says how an open call ended.
    ///
    /// # Errors
    ///
    /// Fails where the last reply has no such open call.
    pub fn end(&mut self, call: CallId, outcome: Arc<Outcome>) -> Result<(), TranscriptError> {
        let not_open = TranscriptError::NotOpen { call };
        let Some(Entry::Step(step)) = self.last() else { return Err(not_open) };
        let open = step.calls().position(|(it, end)| it.id == call && end.is_none());
        let mut step = step.clone();
        let slot = open.and_then(|index| step.results.get_mut(index)).ok_or(not_open)?;
        *slot = Some(outcome);
        let last = self.nodes.len().saturating_sub(1);
        self.nodes.set_mut(last, Node::new(Entry::Step(step)));
        Ok(())
    }

    /// Adds a summary of earlier entries.
    ///
    /// # Errors
    ///
    /// Fails while calls are open, and where it speaks of entries that are not there.
    pub fn summarise(&mut self, summary: Summary) -> Result<(), TranscriptError> {
        for id in [summary.first, summary.last] {
            if !self.entries().any(|entry| entry.id() == id) {
                return Err(TranscriptError::NoSuchEntry { id });
            }
        }
        self.add(Entry::Summary(summary))
    }

    fn add(&mut self, entry: Entry) -> Result<(), TranscriptError> {
        let open = self.open_calls().count();
        if open > 0 {
            return Err(TranscriptError::Open { open });
        }
        self.nodes.push_back_mut(Node::new(entry));
        Ok(())
    }
}
