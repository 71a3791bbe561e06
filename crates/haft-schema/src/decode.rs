//! From what a model sent to an object of arguments.
//!
//! Steps, each taken only when the one before failed:
//!
//! 1. Nothing, or `null`, is an object without keys.
//! 2. The text is JSON.
//! 3. JSON stands in a code fence or between words.
//! 4. The text is nearly JSON: raw control characters, lone backslashes, halves of surrogate pairs, single quotes, trailing commas, Python
//!    literals, brackets left open where the sender vouches that nothing was cut off.
//! 5. An object was sent as a JSON text.
//!
//! Then, guided by the schema and only where it refuses what is there: a text that holds the array, object, number or
//! truth value asked for; a lone value where a list of such values is asked for; a null for a key that may be left out; a
//! choice in the wrong case; an unknown key.

pub(crate) mod coerce;
mod mend;
mod read;

use haft_protocol::limits::{ARGUMENTS_BYTES, ARGUMENTS_DEPTH};
use haft_protocol::{ErrorKind, Failure, RawArguments};
use serde_json::{Map, Value};

use crate::measure::{Measure, dismantle};
use crate::repair::{Repair, RepairKind, Repairs};
use crate::words;

/// How arguments are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reading {
    /// What happens to keys that the contract does not know.
    pub extra: Extra,
    /// What the sender said about the end of the text.
    pub ending: Ending,
}

/// What happens to keys that a contract does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Extra {
    /// They stay, and checking refuses them: for tools that have effects.
    #[default]
    Reject,
    /// They are dropped and reported: for tools that only read.
    Drop,
}

/// What a model's provider said about the end of its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ending {
    /// Nothing.
    #[default]
    Unknown,
    /// The model ended it: a bracket left open was forgotten.
    Finished,
    /// It was cut off at a limit: what is not complete is never completed.
    Cut,
}

/// Arguments that could be read, not yet checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded {
    /// The arguments.
    pub arguments: Map<String, Value>,
    /// What was changed to read them.
    pub repairs: Vec<Repair>,
}

/// Arguments that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The arguments are too large.
    #[error("the arguments take more than {limit} bytes")]
    TooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
    /// The arguments nest too deep.
    #[error("the arguments nest more than {limit} levels deep")]
    TooDeep {
        /// The limit, in levels.
        limit: usize,
    },
    /// The text ends before the arguments do.
    #[error("the arguments end in the middle{}", if *reported { ": the message was cut off at its length limit" } else { "" })]
    Cut {
        /// Whether the provider said so.
        reported: bool,
    },
    /// The text is not JSON.
    #[error("the arguments are not JSON: {reason} (line {line}, column {column}, near `{near}`)")]
    Syntax {
        /// What is wrong.
        reason: String,
        /// Where: the line, from 1.
        line: usize,
        /// Where: the character in its line, from 1.
        column: usize,
        /// The text around that place.
        near: String,
    },
    /// A key is given twice, with different values.
    #[error("the key `{pointer}` is given twice with different values")]
    RepeatedKey {
        /// The key, as a JSON Pointer.
        pointer: String,
    },
    /// The arguments are JSON, but no object.
    #[error("the arguments are {found}, expected an object")]
    NotAnObject {
        /// What they are.
        found: String,
    },
}

impl DecodeError {
    /// Returns what a model can do about it.
    pub fn model_text(&self) -> String {
        let advice = match self {
            Self::TooLarge { .. } | Self::TooDeep { .. } => "send less, in several calls",
            Self::Cut { .. } => "nothing was run; send the call again, in smaller parts",
            Self::Syntax { .. } => {
                "send one JSON object; inside texts write `\\\"`, `\\\\` and `\\n`"
            }
            Self::RepeatedKey { .. } => "give each key once",
            Self::NotAnObject { .. } => "send one JSON object",
        };
        format!("{self}; {advice}")
    }
}

impl From<DecodeError> for Failure {
    fn from(error: DecodeError) -> Self {
        Failure::new(ErrorKind::InvalidArguments, error.model_text())
    }
}

/// Reads an object of arguments, without regard to a schema.
pub(crate) fn read(
    raw: RawArguments,
    ending: Ending,
) -> Result<(Map<String, Value>, Repairs), DecodeError> {
    let mut repairs = Repairs::default();
    let value = match raw {
        RawArguments::Text(text) => read_text(&text, ending, &mut repairs)?,
        RawArguments::Json(value) => bounded(value)?,
    };
    let value = match value {
        Value::String(text) => {
            let inner = read_text(&text, Ending::Unknown, &mut repairs)?;
            repairs.note("", RepairKind::TextRead { into: "an object".to_owned() });
            inner
        }
        value => value,
    };
    match value {
        Value::Null => Ok((Map::new(), repairs)),
        Value::Object(object) => Ok((object, repairs)),
        other => Err(DecodeError::NotAnObject { found: words::value(&other) }),
    }
}

/// Checks the size of a value that arrived as one.
fn bounded(value: Value) -> Result<Value, DecodeError> {
    let measure = Measure::of(&value);
    if measure.depth > ARGUMENTS_DEPTH {
        dismantle(value);
        return Err(DecodeError::TooDeep { limit: ARGUMENTS_DEPTH });
    }
    if measure.bytes > ARGUMENTS_BYTES {
        return Err(DecodeError::TooLarge { limit: ARGUMENTS_BYTES });
    }
    Ok(value)
}

fn read_text(text: &str, ending: Ending, repairs: &mut Repairs) -> Result<Value, DecodeError> {
    if text.len() > ARGUMENTS_BYTES {
        return Err(DecodeError::TooLarge { limit: ARGUMENTS_BYTES });
    }
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Ok(Value::Null);
    }
    let first = match read::whole(text) {
        Ok(read) => return Ok(read.accept(repairs)),
        Err(error) if error.is_final() => return Err(error.into_decode_error(text, 0)),
        Err(error) => error,
    };
    if ending == Ending::Cut {
        return Err(DecodeError::Cut { reported: true });
    }
    let Some((before, object)) = text.find('{').and_then(|start| text.split_at_checked(start))
    else {
        return Err(syntax_error(text, 0, "there is no object in it".to_owned()));
    };
    if before.contains(['[', ']', '}', '"']) {
        return Err(first.into_decode_error(text, 0));
    }
    if let Ok((read, after)) = read::beginning(object)
        && mend::is_only_text(after)
    {
        repairs.note("", RepairKind::Surroundings);
        return Ok(read.accept(repairs));
    }
    let mended =
        mend::mend(object, ending).map_err(|obstacle| obstacle.into_error(text, before.len()))?;
    if !before.is_empty() || mended.cut_after {
        repairs.note("", RepairKind::Surroundings);
    }
    repairs.append(mended.repairs);
    match read::whole(&mended.text) {
        Ok(read) => Ok(read.accept(repairs)),
        Err(error) => Err(error.into_decode_error(&mended.text, 0)),
    }
}

/// Describes a place in a text for a message.
fn syntax_error(text: &str, offset: usize, reason: String) -> DecodeError {
    /// Characters shown before and after the place.
    const NEAR: usize = 20;
    let offset =
        (0..=offset.min(text.len())).rev().find(|it| text.is_char_boundary(*it)).unwrap_or(0);
    let (before, after) = text.split_at_checked(offset).unwrap_or((text, ""));
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|it| *it != '\n').count() + 1;
    let lead: Vec<char> = before.chars().rev().take(NEAR).collect();
    let near: String = lead.into_iter().rev().chain(after.chars().take(NEAR)).collect();
    let near = near.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
    DecodeError::Syntax { reason, line, column, near }
}
