//! The steps of a change, for whoever wants to be there between two of them.

use std::fmt;
use std::sync::Arc;

/// One step on the way of a change, told when it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Step {
    /// What would be taken away is kept.
    Kept,
    /// The change is on record.
    Announced,
    /// A directory on the way was made.
    DirectoryMade,
    /// An empty file was made beside the place.
    FileMade,
    /// The new content is in it, and outlasts a power failure.
    FileWritten,
    /// What stands at the place was compared with what was expected.
    Compared,
    /// The change happened.
    Done,
    /// The change outlasts a power failure.
    Synced,
    /// The record says that the change happened.
    Settled,
}

/// Somebody who is told of steps: a test that ends the process between two of them, or changes files there.
#[derive(Clone, Default)]
pub(crate) struct Watch(Option<Arc<dyn Fn(Step) + Send + Sync>>);

impl Watch {
    pub(crate) fn new(watch: impl Fn(Step) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(watch)))
    }

    pub(crate) fn tell(&self, step: Step) {
        if let Some(watch) = &self.0 {
            watch(step);
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Watch(somebody)" } else { "Watch(nobody)" })
    }
}
