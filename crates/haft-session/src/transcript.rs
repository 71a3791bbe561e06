//! What was said, and what came of it.

mod shown;

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use haft_model::Fragment;
use haft_protocol::{
    CallId, Entry, MessageId, Outcome, Reply, RequestedCall, Step, Summary, UserMessage,
};
use rpds::{HashTrieMapSync, HashTrieSetSync, VectorSync};

pub(crate) use shown::Shown;

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
    /// A message without a word or an image in it.
    #[error("message {id} is empty: a model cannot be told nothing")]
    Empty {
        /// The message.
        id: MessageId,
    },
    /// A summary of entries that are not there.
    #[error("there is no entry {id} to be summarised")]
    NoSuchEntry {
        /// The entry.
        id: MessageId,
    },
    /// A summary that ends before it begins.
    #[error("a summary from entry {first} to entry {last} ends before it begins")]
    Backwards {
        /// The first entry that it stands for.
        first: MessageId,
        /// The last entry that it stands for.
        last: MessageId,
    },
    /// Two entries have the same id.
    #[error("entry {id} is in the transcript already")]
    SameEntry {
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

    fn is_open(&self) -> bool {
        matches!(&self.entry, Entry::Step(step) if step.open_calls().next().is_some())
    }
}

/// What was said, and what came of it, in order.
///
/// A clone costs the same however long the transcript is, and shares what is made of its entries. Adding an entry costs
/// what the entry costs, and next to nothing for those before it.
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    nodes: VectorSync<Arc<Node>>,
    /// Where each entry stands.
    places: HashTrieMapSync<MessageId, usize>,
    calls: HashTrieSetSync<CallId>,
    /// The ids by which providers know calls.
    echoed: HashTrieSetSync<Arc<str>>,
    shown: Shown,
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

    /// Tells whether a call goes by this id at the provider's.
    pub fn echoes(&self, provider_id: &str) -> bool {
        self.echoed.contains(provider_id)
    }

    /// Adds what somebody said.
    ///
    /// # Errors
    ///
    /// Fails while calls are open, and where nothing was said.
    pub fn say(&mut self, message: UserMessage) -> Result<(), TranscriptError> {
        if message.is_empty() {
            return Err(TranscriptError::Empty { id: message.id });
        }
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
        let mut seen = HashSet::new();
        let is_known = |call: &&RequestedCall| self.calls.contains(&call.id);
        if let Some(call) = reply.calls().find(|call| is_known(call) || !seen.insert(call.id)) {
            return Err(TranscriptError::SameCall { call: call.id });
        }
        let echoed: Vec<Arc<str>> = reply.calls().map(|call| call.echoed_id().into()).collect();
        self.add(Entry::Step(Step::new(reply)))?;
        for call in seen {
            self.calls.insert_mut(call);
        }
        for id in echoed {
            self.echoed.insert_mut(id);
        }
        Ok(())
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
        let node = Node::new(Entry::Step(step));
        self.show(&node);
        self.nodes.set_mut(self.nodes.len().saturating_sub(1), node);
        Ok(())
    }

    /// Adds a summary of earlier entries, which takes their place in requests.
    ///
    /// # Errors
    ///
    /// Fails while calls are open, and where it speaks of entries that are not there.
    pub fn summarise(&mut self, summary: Summary) -> Result<(), TranscriptError> {
        let place = |id: MessageId| {
            self.places.get(&id).copied().ok_or(TranscriptError::NoSuchEntry { id })
        };
        let (first, last) = (summary.first, summary.last);
        if place(first)? > place(last)? {
            return Err(TranscriptError::Backwards { first, last });
        }
        self.add(Entry::Summary(summary))
    }

    /// What a request shows.
    pub(crate) fn shown(&self) -> &Shown {
        &self.shown
    }

    /// Returns the entries from a place on.
    pub(crate) fn nodes_from(
        &self,
        place: usize,
    ) -> impl DoubleEndedIterator<Item = (usize, &Arc<Node>)> {
        (place..self.nodes.len()).filter_map(|place| Some((place, self.nodes.get(place)?)))
    }

    fn add(&mut self, entry: Entry) -> Result<(), TranscriptError> {
        let open = self.open_calls().count();
        if open > 0 {
            return Err(TranscriptError::Open { open });
        }
        let id = entry.id();
        if self.places.contains_key(&id) {
            return Err(TranscriptError::SameEntry { id });
        }
        let node = Node::new(entry);
        self.places.insert_mut(id, self.nodes.len());
        self.nodes.push_back_mut(Arc::clone(&node));
        match node.entry() {
            Entry::Summary(summary) => {
                let place = self.places.get(&summary.last).copied().unwrap_or(0);
                self.shown = Shown::after(&self.nodes, summary, place.saturating_add(1));
            }
            Entry::User(_) | Entry::Step(_) => self.show(&node),
        }
        Ok(())
    }

    /// Shows an entry in requests, once nothing of it is open.
    fn show(&mut self, node: &Arc<Node>) {
        if !node.is_open() {
            self.shown.add(node);
        }
    }
}
