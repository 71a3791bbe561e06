use std::num::NonZeroUsize;
use std::ops::Range;

use memchr::memmem::Finder;

use super::Shift;
use crate::stop::{CalledOff, Patience, Stop};

/// Where a needle was found.
#[derive(Debug, Default)]
pub(super) struct Hits {
    pub(super) places: Vec<Place>,
    pub(super) is_overlapping: bool,
    pub(super) has_more: bool,
}

/// One place in the text of a document.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) text: Range<usize>,
    pub(super) shift: Shift,
    pub(super) shifts_first: bool,
}

/// How many bytes of needles are compared beyond the length of the haystack before a search is given
/// up. Only a needle that overlaps itself, found and turned down again and again, gets there.
const MOST_COMPARED: usize = 16 * 1024 * 1024;

/// What it costs to look at a hit, in bytes that are passed over.
const HIT: usize = 64;

/// Looks for all places of a needle, overlapping ones too, until two overlap.
///
/// `accept` says which part of the document a hit at this position of the haystack is, nothing when
/// it is none after all.
pub(super) fn collect(
    haystack: &str,
    needle: &str,
    most: NonZeroUsize,
    stop: Stop<'_>,
    mut accept: impl FnMut(usize) -> Option<Place>,
) -> Result<Hits, CalledOff> {
    let mut hits = Hits::default();
    if needle.is_empty() {
        return Ok(hits);
    }
    let finder = Finder::new(needle);
    let mut patience = Patience::new(stop);
    let mut left = haystack.len().saturating_add(MOST_COMPARED);
    let mut from = 0;
    while let Some(rest) = haystack.as_bytes().get(from..)
        && let Some(offset) = finder.find(rest)
    {
        let at = from + offset;
        from = at + 1;
        patience.work(HIT.max(needle.len()))?;
        let Some(rest) = left.checked_sub(needle.len()) else { return Ok(Hits::default()) };
        left = rest;
        let Some(place) = accept(at) else { continue };
        let last_end = hits.places.last().map_or(0, |last| last.text.end);
        if place.text.start < last_end {
            hits.is_overlapping = true;
            hits.places.push(place);
            break;
        }
        if hits.places.len() == most.get() {
            hits.has_more = true;
            break;
        }
        hits.places.push(place);
    }
    Ok(hits)
}
