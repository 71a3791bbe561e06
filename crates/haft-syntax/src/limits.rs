//! How much work an answer may be.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

use haft_protocol::limits;

/// How much work an answer may be. A clone shares the question whether to stop.
#[derive(Clone)]
pub struct Limits {
    /// Bytes of a text; a larger one is an error.
    pub bytes: NonZeroUsize,
    /// Items kept; the rest are counted.
    pub items: usize,
    /// Asked now and then during the work; `true` ends it with an error. Never, as it is by default.
    pub is_over: Arc<dyn Fn() -> bool + Send + Sync>,
}

impl Limits {
    /// Returns limits that end the work when `is_over` says so.
    pub fn until(is_over: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { is_over: Arc::new(is_over), ..Self::default() }
    }

    /// Sets how many items are kept.
    pub fn keep(mut self, items: usize) -> Self {
        self.items = items;
        self
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: NonZeroUsize::new(limits::SYNTAX_FILE_BYTES).unwrap_or(NonZeroUsize::MAX),
            items: limits::SYNTAX_ITEMS,
            is_over: Arc::new(|| false),
        }
    }
}

impl fmt::Debug for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limits")
            .field("bytes", &self.bytes)
            .field("items", &self.items)
            .finish_non_exhaustive()
    }
}

/// What was found in a text, in the order of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found<T> {
    /// The first items.
    pub items: Vec<T>,
    /// How many there are.
    pub total: usize,
    /// Whether the text breaks the grammar somewhere, so that something may be missing or be taken for what it is not.
    pub has_errors: bool,
}

impl<T> Found<T> {
    pub(crate) fn new(has_errors: bool) -> Self {
        Self { items: Vec::new(), total: 0, has_errors }
    }

    /// Turns the items into something else.
    pub fn map<U>(self, each: impl FnMut(T) -> U) -> Found<U> {
        let Self { items, total, has_errors } = self;
        Found { items: items.into_iter().map(each).collect(), total, has_errors }
    }

    /// Counts an item, and keeps it where there is room.
    pub(crate) fn offer(&mut self, most: usize, item: impl FnOnce() -> T) {
        self.total += 1;
        if self.items.len() < most {
            self.items.push(item());
        }
    }
}
