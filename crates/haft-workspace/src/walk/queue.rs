//! The work of a walk that nobody does yet.

use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::worker::Node;
use crate::sys::Dir;

/// One piece of work.
#[derive(Debug)]
pub(super) enum Work {
    /// Open a directory, given by its place among the entries of another, and look at what is in it.
    Enter { parent: Arc<Node>, entry: usize },
    /// Look at some of the entries of an open directory.
    Entries { node: Arc<Node>, dir: Arc<Dir>, range: Range<usize> },
}

/// Work that nobody does yet, the newest first: a walk goes deep before it goes wide, so that little waits.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: Vec<Work>,
    /// How many threads do work, and may add some.
    busy: usize,
    is_closed: bool,
}

impl Queue {
    /// Adds work.
    pub(super) fn add(&self, work: &mut Vec<Work>) {
        if work.is_empty() {
            return;
        }
        let count = work.len();
        self.lock().waiting.append(work);
        if count == 1 { self.changed.notify_one() } else { self.changed.notify_all() }
    }

    /// Takes work, waiting for some while another thread may add it; `None` when all is done.
    pub(super) fn take(&self) -> Option<Taken<'_>> {
        let mut state = self.lock();
        loop {
            if state.is_closed {
                return None;
            }
            if let Some(work) = state.waiting.pop() {
                state.busy += 1;
                return Some(Taken { queue: self, work: Some(work) });
            }
            if state.busy == 0 {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Lets go of all work.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        state.waiting.clear();
        drop(state);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Work that was taken. When this goes, be it in a panic, others stop waiting for what the work would have added.
#[derive(Debug)]
pub(super) struct Taken<'a> {
    queue: &'a Queue,
    work: Option<Work>,
}

impl Taken<'_> {
    pub(super) fn work(&mut self) -> Option<Work> {
        self.work.take()
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        state.busy -= 1;
        let is_done = state.busy == 0 && state.waiting.is_empty();
        drop(state);
        if std::thread::panicking() {
            self.queue.close();
        } else if is_done {
            self.queue.changed.notify_all();
        }
    }
}
