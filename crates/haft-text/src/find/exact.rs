use std::num::NonZeroUsize;

use super::Shift;
use super::hits::{Hits, Place, collect};
use crate::document::Document;
use crate::stop::{CalledOff, Stop};

pub(super) fn find(
    document: &Document<'_>,
    old: &str,
    most: NonZeroUsize,
    stop: Stop<'_>,
) -> Result<Hits, CalledOff> {
    let text = document.text();
    collect(text, old, most, stop, |start| {
        let range = start..start + old.len();
        let splits_crlf = old.starts_with('\n')
            && start
                .checked_sub(1)
                .is_some_and(|before| text.as_bytes().get(before) == Some(&b'\r'));
        let is_place = !splits_crlf && is_sound(document, old, &range);
        is_place.then_some(Place { text: range, shift: Shift::None, shifts_first: false })
    })
}

/// Whether the replacement characters in a hit are characters of the file.
pub(super) fn is_sound(document: &Document<'_>, old: &str, range: &std::ops::Range<usize>) -> bool {
    if document.malformed() == 0 || !old.contains(char::REPLACEMENT_CHARACTER) {
        return true;
    }
    let bytes = document.bytes().get(document.bytes_of(range.clone())).unwrap_or_default();
    document.encoding().decode(bytes).invalid == 0
}
