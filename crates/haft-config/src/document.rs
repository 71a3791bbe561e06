//! One file as text with places.

use std::ops::Range;
use std::sync::Arc;

use haft_policy::Origin;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::{ConfigError, Place, Problem};

/// Characters of a line that an error shows.
const EXCERPT_CHARS: usize = 120;
/// Characters that are shown before a place far to the right.
const EXCERPT_BEFORE: usize = 40;
/// Characters that have to fit behind a place.
const EXCERPT_AFTER: usize = 40;

/// Characters of a file that a message repeats.
const MESSAGE_CHARS: usize = 500;

/// A text and its name, for places in it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Text {
    /// The file, as a person would name it.
    pub(crate) file: String,
    pub(crate) text: String,
}

/// A file that is being read.
pub(crate) struct Document<'t> {
    pub(crate) text: &'t Arc<Text>,
    /// The layer, the file and the trust of everything in it.
    origin: Origin,
    /// Where each line begins.
    lines: Vec<usize>,
}

impl Text {
    /// Reads bytes as text.
    pub(crate) fn new(file: &str, bytes: &[u8]) -> Result<Self, ConfigError> {
        let file = file.to_owned();
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Self { file, text: text.to_owned() }),
            Err(error) => {
                let (valid, _) = bytes.split_at_checked(error.valid_up_to()).unwrap_or_default();
                let text = Self { file, text: String::from_utf8_lossy(valid).into_owned() };
                let end = text.text.len();
                Err(text.error(end..end, Problem::NotText))
            }
        }
    }

    pub(crate) fn error(&self, span: Range<usize>, problem: Problem) -> ConfigError {
        ConfigError::Invalid { place: Box::new(self.place(span)), problem }
    }

    pub(crate) fn place(&self, span: Range<usize>) -> Place {
        let before = self.text.get(..span.start).unwrap_or(&self.text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line =
            self.text.get(line_start..).unwrap_or_default().lines().next().unwrap_or_default();
        let column = before.get(line_start..).unwrap_or_default().chars().count();
        let meant = self.text.get(span).unwrap_or_default().lines().next().unwrap_or_default();

        // Of a long line, the part around the place is shown.
        let skipped =
            if column + EXCERPT_AFTER > EXCERPT_CHARS { column - EXCERPT_BEFORE } else { 0 };
        let mut rest = line.chars().skip(skipped);
        let mut excerpt: String = rest.by_ref().take(EXCERPT_CHARS).map(shown).collect();
        if skipped > 0 {
            excerpt.insert(0, '…');
        }
        if rest.next().is_some() {
            excerpt.push('…');
        }
        let mark = column - skipped + usize::from(skipped > 0);
        let room = excerpt.chars().count().saturating_sub(mark);
        Place {
            file: self.file.chars().map(shown).collect(),
            line: before.matches('\n').count() as u32 + 1,
            column: column as u32 + 1,
            excerpt,
            mark: mark as u32,
            width: meant.chars().count().min(room).max(1) as u32,
        }
    }
}

impl<'t> Document<'t> {
    pub(crate) fn new(text: &'t Arc<Text>, origin: Origin) -> Self {
        let breaks = text.text.match_indices('\n').map(|(at, _)| at + 1);
        Self { text, origin, lines: [0].into_iter().chain(breaks).collect() }
    }

    pub(crate) fn parse(&self) -> Result<Spanned<DeTable<'t>>, ConfigError> {
        DeTable::parse(&self.text.text).map_err(|error| {
            let message = match error.message() {
                limit if limit.contains("recurs") => "it nests too deeply".to_owned(),
                message => escaped(message),
            };
            self.error(error.span().unwrap_or(0..0), Problem::Syntax { message })
        })
    }

    pub(crate) fn error(&self, span: Range<usize>, problem: Problem) -> ConfigError {
        self.text.error(span, problem)
    }

    /// Returns where in the file something stands, for its origin. This is asked for every value, so it looks at no
    /// more of the file than it shows.
    pub(crate) fn origin_of(&self, span: Range<usize>) -> Origin {
        let line = self.lines.partition_point(|start| *start <= span.start);
        let start = line.checked_sub(1).and_then(|index| self.lines.get(index));
        let text = start.and_then(|start| self.text.text.get(*start..)).unwrap_or_default();
        let text: String = text
            .chars()
            .take(EXCERPT_CHARS)
            .take_while(|it| !matches!(it, '\r' | '\n'))
            .map(shown)
            .collect();
        Origin { line: Some(line as u32), text: text.trim().to_owned(), ..self.origin.clone() }
    }
}

/// Escapes what would not stay on one line or would disguise itself, and cuts to a length fit for a message.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::new();
    let mut characters = text.chars();
    for character in characters.by_ref().take(MESSAGE_CHARS) {
        match character {
            '"' | '\'' | '\\' => out.push(character),
            _ => out.extend(character.escape_debug()),
        }
    }
    if characters.next().is_some() {
        out.push('…');
    }
    out
}

/// Keeps one character one column wide and unable to disguise its neighbours.
fn shown(character: char) -> char {
    match character {
        '\t' => ' ',
        '"' | '\'' | '\\' => character,
        _ if character.escape_debug().len() > 1 => char::REPLACEMENT_CHARACTER,
        _ => character,
    }
}

/// Returns what a person calls a type of TOML.
pub(crate) fn type_of(value: &DeValue<'_>) -> String {
    match value.type_str() {
        "string" => "text".to_owned(),
        "integer" => "a whole number".to_owned(),
        "float" => "a number with a point".to_owned(),
        "boolean" => "true or false".to_owned(),
        "datetime" => "a date".to_owned(),
        "array" => "a list".to_owned(),
        _ => "a table".to_owned(),
    }
}
