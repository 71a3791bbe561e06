//! Signs of life of long work.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use haft_protocol::Progress;
use haft_tool::Call;

/// Tells whoever watches a call how far it is, once a second at most and never in the first second.
pub(crate) struct Pulse<'a> {
    call: &'a Call,
    unit: &'static str,
    begun: Instant,
    done: AtomicU64,
    told_second: AtomicU64,
}

impl<'a> Pulse<'a> {
    /// Starts to count in `unit`, a plural.
    pub(crate) fn new(call: &'a Call, unit: &'static str) -> Self {
        let begun = Instant::now();
        Self { call, unit, begun, done: AtomicU64::new(0), told_second: AtomicU64::new(0) }
    }

    /// Counts what was done.
    pub(crate) fn add(&self, number: u64) {
        let done = self.done.fetch_add(number, Ordering::Relaxed) + number;
        let second = self.begun.elapsed().as_secs();
        if self.told_second.fetch_max(second, Ordering::Relaxed) < second {
            self.call.progress(Progress { done, total: None, unit: self.unit.to_owned() });
        }
    }

    /// Tells whether the call was called off.
    pub(crate) fn is_called_off(&self) -> bool {
        self.call.cancellation().is_cancelled()
    }
}
