//! Waits, and words for them.

use std::fmt;
use std::time::Duration;

use crate::ModelErrorKind;

/// A wait before a request is made, in words: `waiting 3 s: rate limited (attempt 2 of 5)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Why.
    pub reason: WaitReason,
    /// How long, where that is known.
    pub wait: Option<Duration>,
    /// The attempt that comes after it, from 1; 0 where it is not about attempts.
    pub attempt: u32,
    /// Attempts there are at most.
    pub attempts: u32,
}

/// Why a request waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitReason {
    /// An attempt failed in a way that may pass.
    Retry(ModelErrorKind),
    /// Its account may not ask so much in so short a time.
    Pace,
    /// As many requests of its account as may be are under way.
    Turn,
}

impl Waiting {
    pub(crate) const fn for_account(reason: WaitReason, wait: Option<Duration>) -> Self {
        Self { reason, wait, attempt: 0, attempts: 0 }
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("waiting")?;
        if let Some(wait) = self.wait {
            write!(f, " {}", duration(wait))?;
        }
        write!(f, ": {}", self.reason)?;
        if self.attempt > 0 {
            write!(f, " (attempt {} of {})", self.attempt, self.attempts)?;
        }
        Ok(())
    }
}

impl fmt::Display for WaitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Retry(ModelErrorKind::Transport) => "the connection failed",
            Self::Retry(ModelErrorKind::Stalled) => "nothing came",
            Self::Retry(ModelErrorKind::RateLimited) => "rate limited",
            Self::Retry(ModelErrorKind::Overloaded) => "the server has too much to do",
            Self::Retry(ModelErrorKind::CutShort) => "the reply broke off before it began",
            Self::Retry(_) => "the server failed",
            Self::Pace => "the account's pace",
            Self::Turn => "other requests of the account come first",
        })
    }
}

/// How much longer one request may wait.
pub(crate) struct Patience(Duration);

impl Patience {
    pub(crate) const fn new(left: Duration) -> Self {
        Self(left)
    }

    pub(crate) fn has(&self, wait: Duration) -> bool {
        wait <= self.0
    }

    pub(crate) fn spend(&mut self, wait: Duration) {
        self.0 = self.0.saturating_sub(wait);
    }
}

/// Writes a duration in the units a person would, rounded up to seconds.
pub(crate) fn duration(time: Duration) -> String {
    let seconds = time.as_secs().saturating_add(u64::from(time.subsec_nanos() > 0));
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, 0) => format!("{minutes} min"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, 0, _) => format!("{hours} h"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_told_in_words() {
        let waiting = Waiting {
            reason: WaitReason::Retry(ModelErrorKind::RateLimited),
            wait: Some(Duration::from_millis(2_100)),
            attempt: 2,
            attempts: 5,
        };
        assert_eq!(waiting.to_string(), "waiting 3 s: rate limited (attempt 2 of 5)");
        let waiting = Waiting::for_account(WaitReason::Turn, None);
        assert_eq!(waiting.to_string(), "waiting: other requests of the account come first");
    }

    #[test]
    fn durations_have_at_most_two_units() {
        let written = [1, 60, 61, 3_600, 5_430].map(|it| duration(Duration::from_secs(it)));
        assert_eq!(written, ["1 s", "1 min", "1 min 1 s", "1 h", "1 h 30 min"]);
    }
}
