//! How many bytes all connections together keep in memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes for all.
#[derive(Debug)]
pub(super) struct Budget {
    most: usize,
    taken: AtomicUsize,
}

/// A part of the bytes, given back when it is dropped.
#[derive(Debug)]
pub(super) struct Share {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Budget {
    /// Makes a budget that nobody has taken anything of.
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, taken: AtomicUsize::new(0) })
    }

    /// Tells whether everything is taken.
    pub(super) fn is_spent(&self) -> bool {
        self.taken.load(Ordering::Relaxed) >= self.most
    }

    /// Returns a share of nothing so far.
    pub(super) fn share(self: &Arc<Self>) -> Share {
        Share { budget: Arc::clone(self), bytes: 0 }
    }

    /// Returns a share for bytes that are in memory already, whether or not there was room for them.
    pub(super) fn share_of(self: &Arc<Self>, bytes: usize) -> Share {
        self.taken.fetch_add(bytes, Ordering::Relaxed);
        Share { budget: Arc::clone(self), bytes }
    }
}

impl Share {
    /// Takes as much as is missing to so many bytes, and tells whether there was room for it.
    pub(super) fn reach(&mut self, bytes: usize) -> bool {
        let more = bytes.saturating_sub(self.bytes);
        let most = self.budget.most;
        let with_more = |taken: usize| taken.checked_add(more).filter(|it| *it <= most);
        let taken = &self.budget.taken;
        let has_room = taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, with_more).is_ok();
        if has_room {
            self.bytes += more;
        }
        has_room
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.taken.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_given_back() {
        let budget = Budget::new(10);
        let (mut one, mut other) = (budget.share(), budget.share());
        assert!(one.reach(4) && one.reach(6) && other.reach(4));
        assert!(budget.is_spent() && !one.reach(7) && one.reach(6));
        drop(other);
        assert!(!budget.is_spent() && one.reach(10));
        let over = budget.share_of(5);
        drop(one);
        assert!(!budget.share().reach(6));
        drop(over);
        assert!(budget.share().reach(10));
    }
}
