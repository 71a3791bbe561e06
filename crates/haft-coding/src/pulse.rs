//! Signs of life of long work.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use haft_protocol::Progress;
use haft_tool::Call;

/// Tells whoever watches a call how far it is, once a second at most and never in the first second.
pub(crate) struct Pulse<'a> {
    call: &'a Call,
    unit: &'static str,
    /// How much is counted between two looks at the clock.
    every: u64,
    begun: Instant,
    done: AtomicU64,
    told_second: AtomicU64,
}

impl<'a> Pulse<'a> {
    /// Starts to count in `unit`, a plural and what is done with it, of which each one may take long.
    pub(crate) fn new(call: &'a Call, unit: &'static str) -> Self {
        Self {
            call,
            unit,
            every: 1,
            begun: Instant::now(),
            done: AtomicU64::new(0),
            told_second: AtomicU64::new(0),
        }
    }

    /// Starts to count entries of directories, of which each takes less time than a look at the clock is worth.
    pub(crate) fn of_entries(call: &'a Call) -> Self {
        Self { every: 64, ..Self::new(call, "entries looked at") }
    }

    /// Counts what was done; nothing at all is a sign of life too.
    pub(crate) fn add(&self, number: u64) {
        let before = self.done.fetch_add(number, Ordering::Relaxed);
        let done = before + number;
        if number > 0 && before / self.every == done / self.every {
            return;
        }
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
