//! Private keys whose lines are texts of their own.

use std::borrow::Cow;

use serde_json::Value;

use super::{REDACTED, shapes};

/// What every first and last line of a private key has in it.
const MARK: &str = "PRIVATE KEY";

/// Follows private keys from text to text, as when each line of a file is a text of its own.
#[derive(Debug, Default)]
pub(crate) struct KeyTrail {
    open: bool,
}

impl KeyTrail {
    /// Returns the next text without what belongs to a key that an earlier text began.
    pub(crate) fn next<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        if !self.open {
            self.open = borders(text).last().is_some_and(|border| border.begins);
            return Cow::Borrowed(text);
        }
        let Some(end) = borders(text).find(|border| !border.begins) else {
            return if text.is_empty() { Cow::Borrowed(text) } else { Cow::Borrowed(REDACTED) };
        };
        let rest = text.get(end.to..).unwrap_or_default();
        self.open = borders(rest).last().is_some_and(|border| border.begins);
        Cow::Owned(format!("{REDACTED}{rest}"))
    }

    /// Says that the texts to come belong to something else.
    pub(crate) fn end(&mut self) {
        self.open = false;
    }
}

/// Tells whether a text may have a private key in it, or a part of one with its first or last line.
pub(super) fn are_in(text: &str) -> bool {
    text.contains(MARK)
}

/// Tells whether any text of a value may have a private key in it. Values may be nested without end.
pub(super) fn are_in_value(value: &Value) -> bool {
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        match value {
            Value::String(text) if are_in(text) => return true,
            Value::Array(items) => pending.extend(items),
            Value::Object(object) => pending.extend(object.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    false
}

/// Tells whether a text has a line that may be one of a private key.
pub(super) fn has_line(text: &str) -> bool {
    shapes::key_line().is_none_or(|line| line.is_match(text.as_bytes()))
}

struct Border {
    begins: bool,
    to: usize,
}

fn borders(text: &str) -> impl Iterator<Item = Border> {
    let border = if are_in(text) { shapes::key_border() } else { None };
    border.into_iter().flat_map(|border| {
        border.captures_iter(text.as_bytes()).filter_map(|found| {
            Some(Border { begins: found.get(1).is_some(), to: found.get(0)?.end() })
        })
    })
}
