use std::num::NonZeroUsize;

use super::{Edit, EditRules};
use crate::document::Document;
use crate::stop::{CalledOff, Stop};

/// Takes away the line numbers of a read that were copied with the lines, where that makes the edit
/// one that can be found.
pub(super) fn without_numbers(
    document: &Document<'_>,
    edit: &Edit,
    rules: &EditRules,
    stop: Stop<'_>,
) -> Result<Option<Edit>, CalledOff> {
    let Some(old) = stripped(&edit.old) else { return Ok(None) };
    let new = stripped(&edit.new).unwrap_or_else(|| edit.new.clone());
    let is_found = || document.find_until(&old, rules.highest, NonZeroUsize::MIN, stop);
    let is_meant = old != new && is_found()?.is_some();
    Ok(is_meant.then_some(Edit { old, new, replace_all: edit.replace_all }))
}

/// Strips a number and a tab from the front of every line; nothing where a line has none.
fn stripped(text: &str) -> Option<String> {
    let mut lines = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let after =
            line.trim_start_matches(' ').trim_start_matches(|char: char| char.is_ascii_digit());
        let number = line.strip_suffix(after).unwrap_or_default();
        if !number.ends_with(|char: char| char.is_ascii_digit()) {
            return None;
        }
        lines.push_str(after.strip_prefix('\t')?);
    }
    (!lines.is_empty()).then_some(lines)
}
