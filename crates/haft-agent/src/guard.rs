//! Seeing that a model goes round in circles.

use std::collections::HashMap;

use haft_protocol::{Digest, Outcome, RawArguments, RequestedCall, Status, limits};
use serde_json::Value;

/// Counts calls that come again with the same result.
///
/// A call counts as a repetition only if its result is the same as well: asking again until something changes is no
/// circle. What changes a file makes earlier results of other calls old, so that a check that fails in the same way after
/// each of several edits is none either; the change itself is counted on.
#[derive(Debug, Clone, Default)]
pub struct LoopGuard {
    /// The same call with the same result, where it changed nothing.
    same_call: HashMap<Digest, u32>,
    /// The same call that changed the same.
    same_change: HashMap<Digest, u32>,
    /// Calls that differ in numbers only, with the same result.
    similar_call: HashMap<Digest, u32>,
    /// The same tool with the same failure, whatever the arguments.
    same_failure: HashMap<Digest, u32>,
    /// Steps in a row of which every call failed.
    failed_steps: u32,
}

/// What the guard makes of calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// Nothing to say.
    Fresh,
    /// The model should be told this.
    Repeated {
        /// What it repeats.
        text: String,
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
        let (tool, arguments) = (call.tool.as_bytes(), arguments(call));
        let text = outcome.model_text();
        let exactly = Digest::of_json(&arguments);
        let by_call = Digest::of_parts([tool, exactly.as_bytes(), text.as_bytes()]);
        let again = if outcome.changes.is_empty() {
            counted(&mut self.same_call, by_call)
        } else {
            self.same_call.clear();
            self.similar_call.clear();
            self.same_failure.clear();
            counted(&mut self.same_change, by_call)
        };
        let without_numbers = Digest::of_json(&blurred(&arguments));
        let by_shape = Digest::of_parts([tool, without_numbers.as_bytes(), text.as_bytes()]);
        let similar =
            if outcome.changes.is_empty() { counted(&mut self.similar_call, by_shape) } else { 0 };
        let failed = match &outcome.status {
            Status::Failed(_) | Status::Denied(_) | Status::TimedOut { .. } => {
                counted(&mut self.same_failure, Digest::of_parts([tool, text.as_bytes()]))
            }
            Status::Ok | Status::Cancelled => 0,
        };
        let tool = shown(&call.tool);
        let counts = [
            (
                again,
                (limits::REPEATED_CALLS_TOLD, limits::REPEATED_CALLS_STOP),
                format!("the same call of `{tool}` ended in the same way {again} times"),
            ),
            (
                similar,
                (limits::SIMILAR_CALLS_TOLD, limits::SIMILAR_CALLS_STOP),
                format!(
                    "calls of `{tool}` that differ in numbers only ended in the same way {similar} times"
                ),
            ),
            (
                failed,
                (limits::REPEATED_FAILURES_TOLD, limits::REPEATED_FAILURES_STOP),
                format!("calls of `{tool}` failed in the same words {failed} times"),
            ),
        ];
        let reached = |which: fn(&(u32, u32)) -> u32| {
            counts.iter().find(|(times, at, _)| *times >= which(at)).map(|(_, _, text)| text)
        };
        if let Some(text) = reached(|(_, stop)| *stop) {
            return Seen::Stop { text: text.clone() };
        }
        match reached(|(told, _)| *told) {
            Some(text) => Seen::Repeated {
                text: format!("{text}; do something else, or say what is missing"),
            },
            None => Seen::Fresh,
        }
    }

    /// Takes in the end of a step, after all its calls.
    pub fn see_step(&mut self, ends: &[(RequestedCall, Outcome)]) -> Seen {
        let Some((call, outcome)) = ends.last() else { return Seen::Fresh };
        if ends.iter().any(|(_, outcome)| outcome.is_ok()) {
            self.failed_steps = 0;
            return Seen::Fresh;
        }
        self.failed_steps = self.failed_steps.saturating_add(1);
        let times = self.failed_steps;
        let last = haft_text::head(&outcome.model_text(), 300).to_owned();
        if times >= limits::FAILED_STEPS_STOP {
            let text = format!(
                "every call of {times} steps in a row failed; the last, of `{}`: {last}",
                shown(&call.tool)
            );
            return Seen::Stop { text };
        }
        if times == limits::FAILED_STEPS_TOLD {
            let text = format!(
                "every call of {times} steps in a row failed; look at what the tools are and what they take, or say what is missing"
            );
            return Seen::Repeated { text };
        }
        Seen::Fresh
    }
}

/// Returns a name as it is shown: bounded, and on one line.
fn shown(name: &str) -> String {
    haft_text::visible_line(haft_text::head(name, 100)).into_owned()
}

fn arguments(call: &RequestedCall) -> Value {
    match &call.arguments {
        RawArguments::Text(text) => {
            serde_json::from_str(text).unwrap_or_else(|_| Value::from(text.as_str()))
        }
        RawArguments::Json(value) => value.clone(),
    }
}

/// Takes the numbers out of arguments, those in texts as well.
fn blurred(arguments: &Value) -> Value {
    match arguments {
        Value::Number(_) => Value::Null,
        Value::String(text) => {
            let mut blurred = String::with_capacity(text.len());
            for character in text.chars() {
                let character = if character.is_ascii_digit() { '#' } else { character };
                if character != '#' || !blurred.ends_with('#') {
                    blurred.push(character);
                }
            }
            Value::String(blurred)
        }
        Value::Array(items) => items.iter().map(blurred).collect(),
        Value::Object(map) => {
            let pairs = map.iter().map(|(key, value)| (key.clone(), blurred(value)));
            Value::Object(pairs.collect())
        }
        Value::Null | Value::Bool(_) => arguments.clone(),
    }
}

fn counted(counts: &mut HashMap<Digest, u32>, key: Digest) -> u32 {
    let count = counts.entry(key).or_default();
    *count = count.saturating_add(1);
    *count
}
