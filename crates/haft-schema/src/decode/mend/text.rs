//! Texts that were nearly written as JSON.

use std::fmt::Write as _;

use super::{Mender, Obstacle};
use crate::repair::RepairKind;

/// What was seen in a text, to tell whether it has one reading.
#[derive(Default)]
struct Seen {
    raw_controls: usize,
    raw_backslashes: usize,
    halves: usize,
    /// Characters that appear both raw and as escapes have two readings.
    raw: Vec<char>,
    escaped: Vec<char>,
}

fn add(characters: &mut Vec<char>, character: char) {
    if !characters.contains(&character) {
        characters.push(character);
    }
}

impl Mender<'_> {
    /// Copies a text in either kind of quotes, and returns it as written out.
    pub(super) fn text(&mut self) -> Result<String, Obstacle> {
        let Some(quote) = self.take() else { return Err(Obstacle::Cut) };
        let start = self.out.len();
        let mut seen = Seen::default();
        self.out.push('"');
        loop {
            match self.take() {
                None => return Err(Obstacle::Cut),
                Some(end) if end == quote => break,
                Some('\\') => self.escape(quote, &mut seen)?,
                Some('"') => self.out.push_str("\\\""),
                Some(control) if control < ' ' => {
                    seen.raw_controls += 1;
                    add(&mut seen.raw, control);
                    // Writing to a string does not fail.
                    let _ = write!(self.out, "\\u{:04x}", u32::from(control));
                }
                Some(other) => self.out.push(other),
            }
        }
        self.out.push('"');
        self.judge(quote, &seen)?;
        Ok(self.out.get(start..).unwrap_or_default().to_owned())
    }

    /// Copies an escape, or doubles a backslash that begins none.
    fn escape(&mut self, quote: char, seen: &mut Seen) -> Result<(), Obstacle> {
        match self.peek() {
            None => return Err(Obstacle::Cut),
            Some('\'') if quote == '\'' => self.copy(),
            Some('\'') => {
                return Err(
                    self.unclear("`\\'` is no escape of JSON; write `'`, or `\\\\'` for both")
                );
            }
            Some(escape @ ('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't')) => {
                self.take();
                add(&mut seen.escaped, escape);
                self.out.push('\\');
                self.out.push(escape);
            }
            Some('u') if self.unit(1).is_some() => self.unicode(seen),
            Some('x' | 'N' | 'U' | '0'..='7') if quote == '\'' => {
                return Err(self.unclear("this is an escape of Python, not of JSON"));
            }
            Some(_) => {
                seen.raw_backslashes += 1;
                self.out.push_str("\\\\");
            }
        }
        Ok(())
    }

    /// Copies an escape of four digits, with its other half where it is one of a pair. A half alone is no character.
    fn unicode(&mut self, seen: &mut Seen) {
        const HIGH: std::ops::RangeInclusive<u32> = 0xd800..=0xdbff;
        const LOW: std::ops::RangeInclusive<u32> = 0xdc00..=0xdfff;
        let unit = self.unit(1).unwrap_or_default();
        let mut rest = self.rest.clone().skip(5).map(|(_, character)| character);
        let next = (rest.next() == Some('\\') && rest.next() == Some('u')).then(|| self.unit(7));
        let length = match next.flatten() {
            Some(next) if HIGH.contains(&unit) && LOW.contains(&next) => 11,
            _ if HIGH.contains(&unit) || LOW.contains(&unit) => {
                seen.halves += 1;
                self.out.push(char::REPLACEMENT_CHARACTER);
                self.rest.by_ref().take(5).for_each(drop);
                return;
            }
            _ => 5,
        };
        self.out.push('\\');
        self.out.extend(self.rest.by_ref().take(length).map(|(_, character)| character));
    }

    /// Returns the number that four hexadecimal digits write, so many characters from here.
    fn unit(&self, from: usize) -> Option<u32> {
        let mut digits = self.rest.clone().skip(from).map(|(_, character)| character);
        (0..4).try_fold(0, |unit, _| Some(unit * 16 + digits.next()?.to_digit(16)?))
    }

    /// Decides whether the text has one reading, and notes what was repaired.
    fn judge(&mut self, quote: char, seen: &Seen) -> Result<(), Obstacle> {
        let mixes = |raw, escape| seen.raw.contains(&raw) && seen.escaped.contains(&escape);
        if mixes('\n', 'n') || mixes('\t', 't') || mixes('\r', 'r') {
            return Err(self.unclear(
                "a text mixes raw line breaks or tabs with `\\n` or `\\t`; write all of them as escapes",
            ));
        }
        if seen.raw_backslashes > 0 && seen.escaped.iter().any(|it| matches!(it, 'b' | 'f')) {
            return Err(self.unclear(
                "a text has lone backslashes beside `\\b` or `\\f`; write every backslash as `\\\\`",
            ));
        }
        if quote == '\'' {
            self.skip_space();
            if !matches!(self.peek(), None | Some(',' | ':' | '}' | ']')) {
                return Err(
                    self.unclear("a single quote in the middle of a text; use double quotes")
                );
            }
            self.note(RepairKind::SingleQuotes)?;
        }
        if seen.raw_controls > 0 {
            self.note(RepairKind::RawControls { count: seen.raw_controls })?;
        }
        if seen.halves > 0 {
            self.note(RepairKind::HalfPairs { count: seen.halves })?;
        }
        if seen.raw_backslashes > 0 {
            self.note(RepairKind::RawBackslashes { count: seen.raw_backslashes })?;
        }
        Ok(())
    }
}
