//! What is on record of a run, without what differs from one run to the next.

use std::fmt;

use haft::models::{Entry, RunEntry, mend};
use serde_json::Value;

/// What was said and done, one part a line, and how the run stands.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Record {
    parts: Vec<String>,
    pub(super) state: String,
}

impl Record {
    /// Reads a run, as the command shows it to programs.
    pub(super) fn of(shown: &Value) -> Self {
        let entries: Vec<RunEntry> = serde_json::from_value(shown["entries"].clone()).unwrap();
        let mended = mend(&entries);
        assert!(mended.remarks.is_empty(), "{:?}", mended.remarks);
        let mut lines = Vec::new();
        for entry in mended.transcript.entries() {
            match entry {
                Entry::User(message) => lines.push(format!("user {:?}", message.content)),
                Entry::Summary(summary) => lines.push(format!("summary {}", summary.text)),
                Entry::Step(step) => {
                    lines.push(format!("reply {:?} {:?}", step.reply.text(), step.reply.stop));
                    for (call, end) in step.calls() {
                        let end = end.map(|it| it.model_text().replace('\n', " / "));
                        lines.push(format!("call {} {:?}: {end:?}", call.tool, call.arguments));
                    }
                }
            }
        }
        Self {
            parts: lines,
            state: format!("{}, {}", shown["run"]["state"], shown["run"]["cause"]),
        }
    }

    /// Returns the calls of which the model was told that their end is not known.
    pub(super) fn unknown(&self) -> Vec<&str> {
        let is_told = |it: &&str| it.contains("Whether it took effect is not known");
        self.parts.iter().map(String::as_str).filter(is_told).collect()
    }

    /// Returns what is not as in another one, which has as many parts.
    pub(super) fn differing(&self, other: &Self) -> Vec<&str> {
        assert_eq!(self.parts.len(), other.parts.len(), "\n{self}\n---\n{other}");
        let pairs = self.parts.iter().zip(&other.parts);
        pairs.filter(|(one, two)| one != two).map(|(one, _)| one.as_str()).collect()
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}
