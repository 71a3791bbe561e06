//! What waits for the thread that writes.
//!
//! Waking a thread takes longer than writing a record. So what nobody waits for wakes nobody: it stays in line for a
//! moment, and goes along with what comes next.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a job that nobody waits for stays in line at most.
const PATIENCE: Duration = Duration::from_millis(5);

/// Jobs in line that are too many to wait for more.
const CROWD: usize = 512;

/// When a job has to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    Now,
    /// Within a moment, or along with one that is due.
    Soon,
}

/// The line is closed: nobody takes from it.
#[derive(Debug)]
pub(super) struct Closed;

/// A line of jobs, put in by many and taken out by one.
#[derive(Debug)]
pub(super) struct Line<T> {
    state: Mutex<State<T>>,
    news: Condvar,
}

#[derive(Debug)]
struct State<T> {
    jobs: VecDeque<T>,
    is_due: bool,
    /// Whether the taker has to be woken for any job at all.
    sleeps: bool,
    closed: bool,
}

impl<T> Line<T> {
    pub(super) fn new() -> Self {
        let state = State { jobs: VecDeque::new(), is_due: false, sleeps: false, closed: false };
        Self { state: Mutex::new(state), news: Condvar::new() }
    }

    /// Puts a job at the end of the line.
    pub(super) fn put(&self, job: T, due: Due) -> Result<(), Closed> {
        let mut state = self.lock();
        if state.closed {
            return Err(Closed);
        }
        state.jobs.push_back(job);
        state.is_due |= due == Due::Now || state.jobs.len() >= CROWD;
        let wakes = state.is_due || state.sleeps;
        drop(state);
        if wakes {
            self.news.notify_one();
        }
        Ok(())
    }

    /// Waits for jobs, and takes all that are in line. `None` when the line is closed and empty.
    pub(super) fn take(&self) -> Option<VecDeque<T>> {
        let mut state = self.lock();
        while !state.is_due && !state.closed {
            let waited = self.news.wait_timeout(state, PATIENCE);
            let (back, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            state = back;
            if !timeout.timed_out() || state.is_due || state.closed {
                continue;
            }
            if !state.jobs.is_empty() {
                break;
            }
            state.sleeps = true;
            while state.jobs.is_empty() && !state.closed {
                state = self.news.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            state.sleeps = false;
        }
        state.is_due = false;
        Some(mem::take(&mut state.jobs)).filter(|jobs| !jobs.is_empty() || !state.closed)
    }

    /// Closes the line. What is in it can still be taken.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.news.notify_one();
    }

    /// Closes the line and drops what is in it.
    pub(super) fn abandon(&self) {
        let mut state = self.lock();
        state.closed = true;
        let jobs = mem::take(&mut state.jobs);
        drop(state);
        // Dropped without the lock: whoever waits for one of them may be about to put another in.
        drop(jobs);
    }

    /// Nothing panics while the line is locked; a poisoned one is whole.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_come_out_in_order_and_together() {
        let line = Line::new();
        line.put(1, Due::Soon).unwrap();
        line.put(2, Due::Soon).unwrap();
        line.put(3, Due::Now).unwrap();
        assert_eq!(line.take().unwrap(), [1, 2, 3]);
    }

    #[test]
    fn a_job_that_nobody_waits_for_comes_out_by_itself() {
        let line = Line::new();
        std::thread::scope(|scope| {
            let taken = scope.spawn(|| line.take());
            line.put(1, Due::Soon).unwrap();
            assert_eq!(taken.join().unwrap().unwrap(), [1]);
        });
    }

    #[test]
    fn a_closed_line_gives_what_is_in_it_and_takes_no_more() {
        let line = Line::new();
        line.put(1, Due::Soon).unwrap();
        line.close();
        assert!(line.put(2, Due::Now).is_err());
        assert_eq!(line.take().unwrap(), [1]);
        assert!(line.take().is_none());
    }

    #[test]
    fn an_abandoned_line_drops_what_is_in_it() {
        let line = Line::new();
        let job = std::sync::Arc::new(());
        line.put(std::sync::Arc::clone(&job), Due::Now).unwrap();
        line.abandon();
        assert_eq!(std::sync::Arc::strong_count(&job), 1);
        assert!(line.take().is_none());
    }
}
