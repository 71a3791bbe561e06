//! Seeing that a model goes round in circles.

use std::collections::HashMap;

use haft_protocol::{Digest, Outcome, RawArguments, RequestedCall, Status, limits};

/// Counts calls that come again with the same result.
///
/// A call counts as a repetition only if its result is the same as well: asking again until something changes is no
/// circle. What changes a file makes earlier results of other calls old, so that a check that fails in the same way after
/// each of several edits is none either.
#[derive(Debug, Clone, Default)]
pub struct LoopGuard {
    /// The same call with the same result.
    same_call: HashMap<Digest, u32>,
    /// The same tool with the same failure, whatever the arguments.
    same_failure: HashMap<Digest, u32>,
}

/// What the guard makes of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// Nothing to say.
    Fresh,
    /// The model should be told.
    Repeated {
        /// How often it was seen.
        times: u32,
    },
    /// Enough.
    Stop {
        /// What was repeated, and how often.
        text: String,
    },
}

impl LoopGuard {
    /// Takes in a call that ended.
    pub fn see(&mut self, call: &RequestedCall, outcome: &Outcome) -> Seen {
        let arguments = match &call.arguments {
            RawArguments::Text(text) => serde_json::from_str(text)
                .map_or_else(|_| Digest::of_bytes(text), |value| Digest::of_json(&value)),
            RawArguments::Json(value) => Digest::of_json(value),
        };
        let text = outcome.model_text();
        let changes = !outcome.changes.is_empty();
        let by_call =
            Digest::of_parts([call.tool.as_bytes(), arguments.as_bytes(), text.as_bytes()]);
        if changes {
            self.same_failure.clear();
            self.same_call.retain(|key, _| *key == by_call);
        }
        let again = counted(&mut self.same_call, by_call);
        let failed = match &outcome.status {
            Status::Failed(_) | Status::Denied(_) => {
                let key = Digest::of_parts([call.tool.as_bytes(), text.as_bytes()]);
                counted(&mut self.same_failure, key)
            }
            Status::Ok | Status::Cancelled | Status::TimedOut { .. } => 0,
        };
        let what = |times: u32, what: &str| Seen::Stop {
            text: format!("{what} `{}` {times} times, with the same result each time", call.tool),
        };
        if again >= limits::REPEATED_CALLS_STOP {
            return what(again, "the same call of");
        }
        if failed >= limits::REPEATED_FAILURES_STOP {
            return what(failed, "calls of");
        }
        if again >= limits::REPEATED_CALLS_TOLD || failed >= limits::REPEATED_FAILURES_TOLD {
            return Seen::Repeated { times: again.max(failed) };
        }
        Seen::Fresh
    }
}

fn counted(counts: &mut HashMap<Digest, u32>, key: Digest) -> u32 {
    let count = counts.entry(key).or_default();
    *count = count.saturating_add(1);
    *count
}
