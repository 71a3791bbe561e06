//! Estimates held against what a provider counted.

use haft_protocol::TokenUsage;

/// Reports above the estimate by more than this factor are not believed.
const ABSURD: u64 = 4;
/// Reports below the estimate by more than this factor mean that the server left something out.
const FAR_BELOW: u64 = 4;
/// Tokens below which a report is not held against the estimate: fixed parts of either may be the whole difference.
const SMALL: u64 = 2_000;

/// The one gauge of how full a window is: the last report that could be believed, and an estimate of what came since.
///
/// ```
/// use haft_model::{Anchor, Anchored};
/// use haft_protocol::TokenUsage;
///
/// let mut anchor = Anchor::default();
/// assert_eq!(anchor.tokens(10_000), 10_000);
/// let usage = TokenUsage { input: Some(8_000), ..TokenUsage::default() };
/// assert_eq!(anchor.report(10_000, &usage, Some(32_000)), Anchored::Taken);
/// // What was counted stays counted, what came since is estimated.
/// assert_eq!(anchor.tokens(12_000), 10_000);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Anchor {
    last: Option<Report>,
}

/// A report that was believed, and the estimate for the same prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Report {
    estimated: u64,
    counted: u64,
}

/// What was made of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchored {
    /// It is what later estimates start from.
    Taken,
    /// There was none, or it contradicted itself.
    Unreported,
    /// It cannot be: more than the window has, nothing at all, or many times the estimate. It is ignored.
    Absurd {
        /// Tokens that were reported.
        counted: u64,
    },
    /// It is so far below the estimate that the server must have left a part of the prompt out. It is ignored.
    FarBelow {
        /// Tokens that were reported.
        counted: u64,
        /// Tokens that were estimated.
        estimated: u64,
    },
}

impl Anchor {
    /// Holds an estimate against what a provider counted for the same prompt.
    ///
    /// `estimated` is the counter's, not [`Anchor::tokens`] of it. `window` is the window's size, where it is known.
    pub fn report(&mut self, estimated: u64, usage: &TokenUsage, window: Option<u64>) -> Anchored {
        let Some(counted) = usage.prompt().filter(|_| !usage.doubtful) else {
            return Anchored::Unreported;
        };
        let most = estimated.max(SMALL).saturating_mul(ABSURD);
        if counted == 0 || counted > most || window.is_some_and(|window| counted > window) {
            return Anchored::Absurd { counted };
        }
        if estimated > SMALL && counted < estimated / FAR_BELOW {
            return Anchored::FarBelow { counted, estimated };
        }
        self.last = Some(Report { estimated, counted });
        Anchored::Taken
    }

    /// Returns how many tokens a prompt takes, given the counter's estimate of the whole of it.
    pub fn tokens(&self, estimated: u64) -> u64 {
        let Some(last) = self.last else { return estimated };
        match estimated.checked_sub(last.estimated) {
            // More of what was counted too low before is counted too low again.
            Some(since) => last.counted.saturating_add(since.max(last.scaled(since))),
            None => last.scaled(estimated),
        }
    }
}

impl Report {
    /// Brings an estimate to the scale of the report, rounded up.
    fn scaled(self, estimated: u64) -> u64 {
        let scaled = u128::from(estimated) * u128::from(self.counted);
        let scaled = scaled.div_ceil(u128::from(self.estimated.max(1)));
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }
}
