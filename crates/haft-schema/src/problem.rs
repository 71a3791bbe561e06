//! What is wrong with a value, in words a model can act on.

use std::fmt;

use haft_protocol::limits::PROBLEMS_SHOWN;
use haft_protocol::{ErrorKind, Failure};
use serde::{Deserialize, Serialize};

use crate::words;

/// Characters of what should be there; a schema may allow any number of things.
const EXPECTED_CHARS: usize = 1_000;

/// What kind of rule a value broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Rule {
    /// The value of the tag is none of the contract's actions.
    Tag,
    /// A key that the contract does not know.
    UnknownKey,
    /// A key of another action.
    OtherAction,
    /// An argument that is fixed to another value.
    Fixed,
    /// A key that must be present is missing.
    Missing,
    /// The value has another type.
    Type,
    /// The value is none of those allowed.
    Choice,
    /// The value is outside a range, or has too few or too many parts.
    Range,
    /// The text does not match a pattern.
    Pattern,
    /// The value fits no alternative, or too many.
    Alternative,
    /// The value nests too deep or would take too long to check.
    Bound,
    /// Another keyword refused the value.
    Other,
}

/// One thing that is wrong with a value.
///
/// As text: `/limit: found -1, expected an integer from 1 to 2000`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Where, as a JSON Pointer into the value; empty for the value itself. Very long pointers are cut.
    pub pointer: String,
    /// What is there.
    pub found: String,
    /// What should be there.
    pub expected: String,
    /// The rule that was broken.
    pub rule: Rule,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pointer, found, expected, rule } = self;
        let place = if pointer.is_empty() { "the value" } else { pointer };
        match rule {
            Rule::Tag | Rule::UnknownKey | Rule::OtherAction | Rule::Bound => {
                write!(f, "{place}: {found}; {expected}")
            }
            Rule::Missing => write!(f, "{place}: missing, expected {expected}"),
            _ => write!(f, "{place}: found {found}, expected {expected}"),
        }
    }
}

/// What is wrong with a value: the first few problems, and how many more there are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problems {
    /// The problems, most telling first.
    pub shown: Vec<Problem>,
    /// How many more there are.
    pub left_out: usize,
}

impl Problems {
    /// Sorts problems, drops repetitions and keeps the first eight.
    pub(crate) fn new(mut all: Vec<Problem>) -> Self {
        for problem in &mut all {
            problem.expected = words::cut_at(&problem.expected, EXPECTED_CHARS);
        }
        all.sort_by_key(|problem| problem.rule);
        let mut shown: Vec<Problem> = Vec::new();
        let mut left_out = 0;
        for problem in all {
            if shown.contains(&problem) {
                continue;
            }
            if shown.len() < PROBLEMS_SHOWN {
                shown.push(problem);
            } else {
                left_out += 1;
            }
        }
        Self { shown, left_out }
    }

    pub(crate) fn one(problem: Problem) -> Self {
        Self::new(vec![problem])
    }

    /// Returns the problems as lines for a model.
    pub fn model_text(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.shown.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{problem}")?;
        }
        match self.left_out {
            0 => Ok(()),
            1 => f.write_str("\nand 1 more problem"),
            more => write!(f, "\nand {more} more problems"),
        }
    }
}

impl std::error::Error for Problems {}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Self {
        Failure::new(ErrorKind::InvalidArguments, problems.model_text())
    }
}
