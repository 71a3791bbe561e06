//! JSON that was nearly written: one pass that copies what is right and replaces what has only one reading.
//!
//! Nothing is guessed. A text that mixes raw line breaks with `\n` may mean either by the latter; a quote in the middle
//! of a text may end it or not; a number at the very end may have had more digits. All of these are obstacles.

mod text;

use std::iter::Peekable;
use std::str::CharIndices;

use haft_protocol::limits::ARGUMENTS_DEPTH;

use super::{DecodeError, Ending, syntax_error};
use crate::pointer;
use crate::repair::{RepairKind, Repairs};

/// What a text became.
pub(super) struct Mended {
    pub(super) text: String,
    pub(super) repairs: Repairs,
    /// Whether something after the object was left out.
    pub(super) cut_after: bool,
}

/// Why a text cannot be mended.
#[derive(Debug)]
pub(super) enum Obstacle {
    /// The text ends inside something.
    Cut,
    TooDeep,
    /// There is more than one reading, or none.
    Unclear {
        offset: usize,
        reason: String,
    },
}

impl Obstacle {
    pub(super) fn into_error(self, text: &str, base: usize) -> DecodeError {
        match self {
            Self::Cut => DecodeError::Cut { reported: false },
            Self::TooDeep => DecodeError::TooDeep { limit: ARGUMENTS_DEPTH },
            Self::Unclear { offset, reason } => syntax_error(text, base + offset, reason),
        }
    }
}

/// Mends a text that begins with `{`.
pub(super) fn mend(text: &str, ending: Ending) -> Result<Mended, Obstacle> {
    let mut mender = Mender {
        rest: text.char_indices().peekable(),
        length: text.len(),
        out: String::with_capacity(text.len() + 16),
        repairs: Repairs::default(),
        pointer: String::new(),
        may_close: ending == Ending::Finished,
        closed: 0,
    };
    mender.value(1)?;
    if mender.closed > 0 {
        let count = mender.closed;
        mender.note(RepairKind::Closed { count })?;
    }
    let after = text.get(mender.offset()..).unwrap_or_default();
    if !is_only_text(after) {
        return Err(mender.unclear("there is more after the object"));
    }
    let cut_after = !after.trim().is_empty();
    Ok(Mended { text: mender.out, repairs: mender.repairs, cut_after })
}

/// Tells whether what follows an object is words or markup, and not more of the arguments.
pub(super) fn is_only_text(after: &str) -> bool {
    let words = after.trim_start_matches(|it: char| it.is_whitespace() || matches!(it, '}' | ']'));
    !words.starts_with([',', ':']) && !words.contains(['{', '[', '"']) && !words.contains("':")
}

struct Mender<'t> {
    rest: Peekable<CharIndices<'t>>,
    length: usize,
    out: String,
    repairs: Repairs,
    pointer: String,
    may_close: bool,
    closed: usize,
}

impl Mender<'_> {
    fn offset(&mut self) -> usize {
        self.rest.peek().map_or(self.length, |(offset, _)| *offset)
    }

    fn unclear(&mut self, reason: impl Into<String>) -> Obstacle {
        Obstacle::Unclear { offset: self.offset(), reason: reason.into() }
    }

    fn note(&mut self, kind: RepairKind) -> Result<(), Obstacle> {
        let everywhere = matches!(kind, RepairKind::Closed { .. } | RepairKind::SingleQuotes);
        let pointer = if everywhere { "" } else { &self.pointer };
        if self.repairs.note(pointer, kind) {
            Ok(())
        } else {
            Err(self.unclear("too much is wrong with it"))
        }
    }

    fn peek(&mut self) -> Option<char> {
        self.rest.peek().map(|(_, character)| *character)
    }

    fn take(&mut self) -> Option<char> {
        self.rest.next().map(|(_, character)| character)
    }

    fn copy(&mut self) {
        let character = self.take();
        self.out.extend(character);
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.take();
        }
    }

    /// Copies a value; true when its end cannot be mistaken, so that something may be closed after it.
    fn value(&mut self, depth: usize) -> Result<bool, Obstacle> {
        if depth > ARGUMENTS_DEPTH {
            return Err(Obstacle::TooDeep);
        }
        self.skip_space();
        match self.peek() {
            None => Err(Obstacle::Cut),
            Some('{') => self.container('}', depth).map(|()| true),
            Some('[') => self.container(']', depth).map(|()| true),
            Some('"' | '\'') => self.text().map(|_| true),
            Some('-' | '0'..='9') => {
                self.number();
                Ok(false)
            }
            Some(character) if character.is_ascii_alphabetic() => self.word().map(|()| true),
            Some(character) => Err(self.unclear(format!("expected a value, found `{character}`"))),
        }
    }

    fn container(&mut self, closer: char, depth: usize) -> Result<(), Obstacle> {
        self.copy();
        let length = self.pointer.len();
        let mut index = 0;
        let mut whole = false;
        loop {
            self.skip_space();
            match self.peek() {
                Some(end) if end == closer => {
                    self.copy();
                    return Ok(());
                }
                None if self.may_close && whole => {
                    self.out.push(closer);
                    self.closed += 1;
                    return Ok(());
                }
                None => return Err(Obstacle::Cut),
                Some(',') if index > 0 => {
                    self.take();
                    self.skip_space();
                    match self.peek() {
                        None => return Err(Obstacle::Cut),
                        Some(end) if end == closer => {
                            self.note(RepairKind::TrailingComma)?;
                            continue;
                        }
                        Some(_) => self.out.push(','),
                    }
                }
                Some(_) if index > 0 => {
                    let reason = format!(
                        "expected `,` or `{closer}` here; a quote inside a text is written `\\\"`"
                    );
                    return Err(self.unclear(reason));
                }
                Some(_) => {}
            }
            whole = self.entry(closer, index, depth)?;
            self.pointer.truncate(length);
            index += 1;
        }
    }

    fn entry(&mut self, closer: char, index: usize, depth: usize) -> Result<bool, Obstacle> {
        if closer == ']' {
            pointer::push_index(&mut self.pointer, index);
            return self.value(depth + 1);
        }
        self.skip_space();
        match self.peek() {
            Some('"' | '\'') => {}
            None => return Err(Obstacle::Cut),
            Some(_) => return Err(self.unclear("expected a key in double quotes")),
        }
        let key = self.text()?;
        let key: String = serde_json::from_str(&key).unwrap_or(key);
        pointer::push(&mut self.pointer, &key);
        self.skip_space();
        match self.peek() {
            Some(':') => self.copy(),
            None => return Err(Obstacle::Cut),
            Some(_) => return Err(self.unclear("expected `:` after the key")),
        }
        self.value(depth + 1)
    }

    /// Copies what may be a number; reading the result will tell.
    fn number(&mut self) {
        while let Some(character) = self.peek() {
            if !character.is_ascii_alphanumeric() && !matches!(character, '+' | '-' | '.') {
                break;
            }
            self.copy();
        }
    }

    fn word(&mut self) -> Result<(), Obstacle> {
        let mut word = String::new();
        while let Some(character) = self.peek().filter(|it| it.is_alphanumeric() || *it == '_') {
            word.push(character);
            self.take();
        }
        let python = match word.as_str() {
            "true" | "false" | "null" => None,
            "True" => Some("true"),
            "False" => Some("false"),
            "None" => Some("null"),
            _ if self.peek().is_none() => return Err(Obstacle::Cut),
            _ => {
                let word = crate::words::cut(&word);
                return Err(
                    self.unclear(format!("`{word}` is no value; texts stand in double quotes"))
                );
            }
        };
        self.out.push_str(python.unwrap_or(&word));
        if python.is_some() {
            self.note(RepairKind::PythonLiteral)?;
        }
        Ok(())
    }
}
