//! One file as text with places.

use std::ops::Range;

use haft_policy::Origin;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::{ConfigError, Place, Problem};

/// Characters of a line that an error shows.
const EXCERPT_CHARS: usize = 160;

/// A file that is being read.
pub(crate) struct Document<'t> {
    /// The file, as a person would name it.
    pub(crate) file: &'t str,
    pub(crate) text: &'t str,
    /// The layer and trust of everything in it.
    pub(crate) origin: Origin,
}

impl<'t> Document<'t> {
    /// Reads bytes as text.
    pub(crate) fn new(file: &'t str, bytes: &'t [u8], origin: Origin) -> Result<Self, ConfigError> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Self { file, text, origin }),
            Err(error) => {
                let (valid, _) = bytes.split_at_checked(error.valid_up_to()).unwrap_or_default();
                let text = std::str::from_utf8(valid).unwrap_or_default();
                let document = Self { file, text, origin };
                Err(document.error(text.len()..text.len(), Problem::NotText))
            }
        }
    }

    pub(crate) fn parse(&self) -> Result<Spanned<DeTable<'t>>, ConfigError> {
        DeTable::parse(self.text).map_err(|error| {
            let message = match error.span() {
                Some(_) => error.message().to_owned(),
                // The one error that has no place.
                None => "it nests too deeply".to_owned(),
            };
            self.error(error.span().unwrap_or(0..0), Problem::Syntax { message })
        })
    }

    pub(crate) fn error(&self, span: Range<usize>, problem: Problem) -> ConfigError {
        ConfigError::Invalid { place: Box::new(self.place(span)), problem }
    }

    /// Returns where in the file something stands, for its origin.
    pub(crate) fn origin_of(&self, span: Range<usize>) -> Origin {
        let place = self.place(span);
        Origin {
            line: Some(place.line),
            text: place.excerpt.trim().to_owned(),
            ..self.origin.clone()
        }
    }

    pub(crate) fn place(&self, span: Range<usize>) -> Place {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let rest = self.text.get(line_start..).unwrap_or_default();
        let line = rest.lines().next().unwrap_or_default();
        let column = before.get(line_start..).unwrap_or_default().chars().count();
        let meant = self.text.get(span).unwrap_or_default();
        let width = meant.lines().next().unwrap_or_default().chars().count();
        let excerpt = line.chars().take(EXCERPT_CHARS).map(shown).collect::<String>();
        let cut = line.chars().count() > EXCERPT_CHARS;
        let room = (EXCERPT_CHARS + 1).saturating_sub(column);
        Place {
            file: self.file.chars().map(shown).collect(),
            line: before.matches('\n').count() as u32 + 1,
            column: column as u32 + 1,
            excerpt: if cut { format!("{excerpt}…") } else { excerpt },
            width: width.max(1).min(room) as u32,
        }
    }
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
