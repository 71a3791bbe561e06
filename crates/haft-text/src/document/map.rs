//! Decoding that remembers where each character comes from.

use std::borrow::Cow;

use encoding_rs::DecoderResult;

use crate::encoding::{Charset, Encoding};

/// How many bytes of text stand between two marks of a map.
const MARK_EVERY: usize = 1024;

/// The most bytes that one step goes.
const STEP: usize = 1024;

/// The way from a text back to its bytes.
#[derive(Debug)]
pub(super) enum Map {
    /// Each byte of the text is the byte that stands so much further on.
    Shifted(usize),
    /// From the last mark before it, each character is found by decoding again.
    Marked(Charset, Vec<Mark>),
}

/// A position where a character begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    text: usize,
    byte: usize,
}

/// Decodes a file; the number counts malformed sequences.
pub(super) fn read(bytes: &[u8], encoding: Encoding) -> (Cow<'_, str>, Map, u64) {
    let shift = encoding.mark().len();
    let body = bytes.get(shift..).unwrap_or_default();
    if encoding.charset == Charset::Utf8
        && let Ok(text) = std::str::from_utf8(body)
    {
        return (Cow::Borrowed(text), Map::Shifted(shift), 0);
    }
    let mut text = String::with_capacity(body.len());
    let mut marks = vec![Mark { text: 0, byte: shift }];
    let mut marked = 0;
    let mut malformed = 0;
    let mut rest = body;
    while !rest.is_empty() {
        if text.len() >= marked + MARK_EVERY {
            marked = text.len();
            marks.push(Mark { text: marked, byte: bytes.len() - rest.len() });
        }
        let step = step(encoding.charset, rest, &mut text);
        malformed += u64::from(step.is_malformed);
        rest = rest.get(step.bytes..).unwrap_or_default();
    }
    (Cow::Owned(text), Map::Marked(encoding.charset, marks), malformed)
}

impl Map {
    /// The byte at which the character at this position of the text begins.
    pub(super) fn byte_at(&self, bytes: &[u8], position: usize) -> usize {
        let (charset, marks) = match self {
            Self::Shifted(shift) => return (position + shift).min(bytes.len()),
            Self::Marked(charset, marks) => (*charset, marks),
        };
        let next = marks.partition_point(|mark| mark.text <= position);
        let Some(Mark { mut text, mut byte }) = marks.get(next.saturating_sub(1)).copied() else {
            return bytes.len();
        };
        let mut piece = String::with_capacity(STEP);
        while text < position {
            let rest = bytes.get(byte..).unwrap_or_default();
            if rest.is_empty() {
                break;
            }
            piece.clear();
            let step = step(charset, rest, &mut piece);
            if text + piece.len() > position {
                return if step.is_even { byte + (position - text) } else { byte };
            }
            text += piece.len();
            byte += step.bytes;
        }
        byte
    }
}

/// One step through the bytes.
struct Step {
    bytes: usize,
    /// Whether each byte became one byte of text.
    is_even: bool,
    is_malformed: bool,
}

impl Step {
    fn even(bytes: usize) -> Self {
        Self { bytes, is_even: true, is_malformed: false }
    }

    fn char(bytes: usize) -> Self {
        Self { bytes, is_even: false, is_malformed: false }
    }

    fn malformed(bytes: usize, text: &mut String) -> Self {
        text.push(char::REPLACEMENT_CHARACTER);
        Self { bytes: bytes.max(1), is_even: false, is_malformed: true }
    }
}

/// Decodes one character, or several that have as many bytes as their text, to the end of `text`.
///
/// `bytes` is not empty and begins where a character does.
fn step(charset: Charset, bytes: &[u8], text: &mut String) -> Step {
    let near = bytes.get(..STEP).unwrap_or(bytes);
    match charset {
        Charset::Utf8 => step_utf8(near, text),
        Charset::Utf16Le => step_utf16(near, u16::from_le_bytes, text),
        Charset::Utf16Be => step_utf16(near, u16::from_be_bytes, text),
        Charset::Legacy(_) => {
            let ascii = encoding_rs::Encoding::ascii_valid_up_to(near);
            match near.get(..ascii).map(std::str::from_utf8) {
                Some(Ok(run)) if !run.is_empty() => {
                    text.push_str(run);
                    Step::even(ascii)
                }
                _ => step_legacy(charset, near, text),
            }
        }
    }
}

fn step_utf8(bytes: &[u8], text: &mut String) -> Step {
    let Some(chunk) = bytes.utf8_chunks().next() else { return Step::char(bytes.len()) };
    match chunk.valid() {
        "" => Step::malformed(chunk.invalid().len(), text),
        valid => {
            text.push_str(valid);
            Step::even(valid.len())
        }
    }
}

fn step_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16, text: &mut String) -> Step {
    let (pairs, odd) = bytes.as_chunks::<2>();
    let mut units = pairs.iter().copied().map(unit);
    let first = units.next();
    match first.map(|first| char::decode_utf16([first]).next()) {
        None => Step::malformed(odd.len(), text),
        Some(Some(Ok(char))) => {
            text.push(char);
            Step::char(2)
        }
        Some(_) => {
            let both = [first.unwrap_or_default(), units.next().unwrap_or_default()];
            match char::decode_utf16(both).next() {
                Some(Ok(char)) => {
                    text.push(char);
                    Step::char(4)
                }
                // Half a unit after half a pair, at the very end, is part of the same damage.
                _ if pairs.len() == 1 && (0xD800..0xDC00).contains(&both[0]) => {
                    Step::malformed(bytes.len(), text)
                }
                _ => Step::malformed(2, text),
            }
        }
    }
}

/// Decodes one character of an older charset. None of those that are guessed keeps a state from one
/// character to the next.
fn step_legacy(charset: Charset, bytes: &[u8], text: &mut String) -> Step {
    let mut decoder = charset.whatwg().new_decoder_without_bom_handling();
    let mut decoded = [0; 16];
    for (at, byte) in bytes.iter().enumerate() {
        let (result, read, written) =
            decoder.decode_to_utf8_without_replacement(&[*byte], &mut decoded, false);
        if let DecoderResult::Malformed(_, after) = result {
            return Step::malformed((at + read).saturating_sub(usize::from(after)), text);
        }
        if let Some(Ok(chars)) = decoded.get(..written).map(std::str::from_utf8)
            && !chars.is_empty()
        {
            text.push_str(chars);
            return Step::char(at + 1);
        }
    }
    Step::malformed(bytes.len(), text)
}
