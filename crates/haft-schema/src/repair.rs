//! What was changed to make arguments readable.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One change that made arguments readable: in the text, or in a value that its schema refused.
///
/// As text: `/tags: read a text as an array`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repair {
    /// Where, as a JSON Pointer into the arguments; empty for all of them. Very long pointers are cut.
    pub pointer: String,
    /// What was changed.
    #[serde(flatten)]
    pub kind: RepairKind,
}

/// The kinds of change that [`Contract::decode`](crate::Contract::decode) makes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "repair", rename_all = "snake_case")]
#[non_exhaustive]
pub enum RepairKind {
    /// The object was taken out of a code fence or other text around it.
    Surroundings,
    /// A text was read as the JSON it holds.
    TextRead {
        /// The type it became.
        into: String,
    },
    /// Raw control characters in a text, such as line breaks, were taken as they are.
    RawControls {
        /// How many.
        count: usize,
    },
    /// Backslashes that begin no escape of JSON were taken as they are.
    RawBackslashes {
        /// How many.
        count: usize,
    },
    /// Halves of surrogate pairs, which are no characters, became U+FFFD.
    HalfPairs {
        /// How many.
        count: usize,
    },
    /// Single quotes were taken as double quotes.
    SingleQuotes,
    /// A comma before a closing bracket was dropped.
    TrailingComma,
    /// `True`, `False` or `None` was read as JSON writes it.
    PythonLiteral,
    /// Brackets left open at the end were closed.
    Closed {
        /// How many.
        count: usize,
    },
    /// A key given more than once with one value was kept once.
    RepeatedKey,
    /// A null was removed where the key may be left out.
    NullRemoved,
    /// A value was given the spelling of the only allowed one that differs in case alone.
    Spelling {
        /// The allowed spelling.
        to: String,
    },
    /// A lone value was put into a list, which is all that the key takes.
    Listed,
    /// A key that the contract does not know, or not with this value of its tag, was dropped.
    KeyDropped {
        /// The values of the tag that the key belongs to.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        used_by: Vec<String>,
    },
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() { "arguments" } else { &self.pointer };
        write!(f, "{place}: {}", self.kind)
    }
}

impl fmt::Display for RepairKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        match self {
            Self::Surroundings => f.write_str("took the object out of the text around it"),
            Self::TextRead { into } => write!(f, "read a text as {into}"),
            Self::RawControls { count } => {
                write!(f, "took {count} raw control character{} as written", plural(*count))
            }
            Self::RawBackslashes { count } => {
                write!(
                    f,
                    "took {count} lone backslash{} as written",
                    if *count == 1 { "" } else { "es" }
                )
            }
            Self::HalfPairs { count: 1 } => {
                f.write_str("put U+FFFD for a half of a surrogate pair")
            }
            Self::HalfPairs { count } => {
                write!(f, "put U+FFFD for {count} halves of surrogate pairs")
            }
            Self::SingleQuotes => f.write_str("took single quotes as double quotes"),
            Self::TrailingComma => f.write_str("dropped a trailing comma"),
            Self::PythonLiteral => f.write_str("read a Python literal"),
            Self::Closed { count } => write!(f, "closed {count} open bracket{}", plural(*count)),
            Self::RepeatedKey => f.write_str("kept a repeated key once"),
            Self::NullRemoved => f.write_str("removed a null"),
            Self::Spelling { to } => write!(f, "spelled as {}", crate::words::quoted(to)),
            Self::Listed => f.write_str("took a lone value as a list of one"),
            Self::KeyDropped { used_by } if used_by.is_empty() => {
                f.write_str("dropped an unknown key")
            }
            Self::KeyDropped { used_by } => {
                let users = crate::words::names(used_by.iter().map(String::as_str));
                write!(f, "dropped a key that belongs to {users}")
            }
        }
    }
}

/// The repairs of one reading, bounded: text that needs more is no near miss.
#[derive(Debug, Default)]
pub(crate) struct Repairs(Vec<Repair>);

/// Repairs that one reading may take.
const MOST: usize = 64;

impl Repairs {
    /// Notes a repair; false when there have been too many.
    pub(crate) fn note(&mut self, pointer: &str, kind: RepairKind) -> bool {
        let repair = Repair { pointer: crate::pointer::shown(pointer), kind };
        if !self.0.contains(&repair) {
            self.0.push(repair);
        }
        !self.is_full()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.0.len() >= MOST
    }

    pub(crate) fn append(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    pub(crate) fn into_list(self) -> Vec<Repair> {
        self.0
    }
}
