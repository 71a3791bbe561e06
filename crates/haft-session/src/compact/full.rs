//! When to make room, and when that does not help.

use haft_protocol::limits;

use super::{Plan, Room, plan};
use crate::compile::{Ask, Weight};
use crate::gauge::{Gauge, Level};

/// Says when older messages are summarised, and when no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compaction {
    percent: u64,
    useless: u32,
}

/// A window that is full, and that no summary makes room in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Full {
    /// What is the same in every request leaves no room for a conversation.
    #[error(
        "the model's window of {window} tokens is too small for this: about {fixed} of them are taken before anything is said and done ({parts}); show the model fewer tools, give it a shorter task or instructions, or take a model with a larger window"
    )]
    Fixed {
        /// Tokens of the window.
        window: u64,
        /// Tokens of what stays the same.
        fixed: u64,
        /// What they are for.
        parts: String,
    },
    /// There is nothing older that could be summarised.
    #[error(
        "the model's window of {window} tokens is full, and there is nothing older to be summarised: about {fixed} tokens are taken before anything is said and done ({parts}), and about {last} by what was said and done last; ask for less at once, or take a model with a larger window"
    )]
    Last {
        /// Tokens of the window.
        window: u64,
        /// Tokens of what stays the same.
        fixed: u64,
        /// What they are for.
        parts: String,
        /// Tokens of the history.
        last: u64,
    },
    /// Summaries did not help.
    #[error(
        "older messages were summarised {times} times in a row and it did not help: of the model's window of {window} tokens, about {fixed} are taken before anything is said and done ({parts}); show the model fewer tools, or take a model with a larger window"
    )]
    Useless {
        /// How often.
        times: u32,
        /// Tokens of the window.
        window: u64,
        /// Tokens of what stays the same.
        fixed: u64,
        /// What they are for.
        parts: String,
    },
}

impl Default for Compaction {
    fn default() -> Self {
        Self::at(limits::WINDOW_PERCENT)
    }
}

impl Compaction {
    /// Makes room when more than this many percent of a window are taken.
    pub fn at(percent: u64) -> Self {
        Self { percent: percent.clamp(1, 100), useless: 0 }
    }

    /// Tells whether a window is so full that room should be made.
    pub fn is_due(&self, level: &Level) -> bool {
        level.is_over(self.percent)
    }

    /// Plans a summary for a request that is too long, or would soon be.
    ///
    /// The level is that of the request. Where its window is not known, half of what it has has to go.
    ///
    /// # Errors
    ///
    /// Fails where no summary would help, and says what fills the window. A request that [fits](Level::fits) can be made
    /// all the same.
    pub fn plan(&self, ask: &Ask<'_>, gauge: &Gauge, level: &Level) -> Result<Plan, Full> {
        let estimator = gauge.estimator();
        let window = level.window.unwrap_or(level.tokens);
        let weights = ask.weigh(estimator);
        let sum = |is_fixed: bool| {
            let those = weights.iter().filter(|it| it.kind.is_fixed() == is_fixed);
            those.map(|it| it.estimated_tokens).fold(0, u64::saturating_add)
        };
        let (fixed, last) = (sum(true), sum(false));
        let parts = parts(&weights);
        if self.useless >= limits::USELESS_SUMMARIES {
            return Err(Full::Useless { times: self.useless, window, fixed, parts });
        }
        let summary = (window / 8).clamp(limits::SUMMARY_TOKENS_MIN, limits::SUMMARY_TOKENS);
        let room_within = |percent: u64| {
            let allowed = level.in_estimates(window / 100 * percent + window % 100 * percent / 100);
            allowed.checked_sub(fixed)?.checked_sub(summary)
        };
        let Some(most) = room_within(self.percent) else {
            return Err(Full::Fixed { window, fixed, parts });
        };
        let room = Room {
            kept: room_within(limits::SUMMARISED_PERCENT.min(self.percent)).unwrap_or(0),
            most,
            summary,
            request: level.in_estimates(window / 10 * 9).saturating_sub(summary),
        };
        plan(ask.transcript, &room, &ask.sampling, estimator).ok_or(Full::Last {
            window,
            fixed,
            parts,
            last,
        })
    }

    /// Takes in how full the window was before a summary, and how full it is with it. It helped where room need not be made
    /// again at once.
    pub fn summarised(&mut self, before: &Level, after: &Level) {
        let helped = !self.is_due(after) && after.estimated < before.estimated;
        self.useless = if helped { 0 } else { self.useless.saturating_add(1) };
    }

    /// Takes in that no summary came of it: it was rejected, or the model could not be asked.
    pub fn failed(&mut self) {
        self.useless = self.useless.saturating_add(1);
    }
}

/// Says what is taken before anything is said and done, the largest part first.
fn parts(weights: &[Weight]) -> String {
    let mut fixed: Vec<&Weight> =
        weights.iter().filter(|it| it.kind.is_fixed() && it.estimated_tokens > 0).collect();
    fixed.sort_by_key(|it| std::cmp::Reverse(it.estimated_tokens));
    let parts: Vec<String> =
        fixed.iter().map(|it| format!("{} {}", it.kind.in_words(), it.estimated_tokens)).collect();
    parts.join(", ")
}
