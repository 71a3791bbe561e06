use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};

use super::{Charset, Encoding};

/// How many leading bytes decide the encoding and the line ends of a file, for readers and editors alike.
pub(crate) const PREFIX: usize = 64 * 1024;

/// How many leading bytes decide between text and binary data.
pub(crate) const SAMPLE: usize = 8192;

/// The most bytes the statistical detector looks at; it runs 27 state machines over each of them.
const DETECTOR_SAMPLE: usize = 64 * 1024;

/// The fewest UTF-16 units that may be recognised without a majority of ASCII.
const MIN_FOREIGN_UNITS: usize = 8;

/// Guesses the encoding of a text from its first bytes.
///
/// `whole_input` says that nothing follows `prefix`; otherwise a character cut at its end is no
/// evidence against an encoding. The first of these that fits wins:
///
/// 1. a byte order mark;
/// 2. UTF-8 without NUL bytes;
/// 3. UTF-16 without a mark, recognised by where its NUL bytes stand;
/// 4. UTF-8 with NUL bytes, or UTF-8 with damage: at least two good multi-byte characters for each
///    bad sequence, so that one broken byte does not turn every other letter into mojibake;
/// 5. the most likely legacy charset.
///
/// ```
/// use haft_text::sniff;
///
/// assert_eq!(sniff(b"plain", true).name(), "utf-8");
/// assert_eq!(sniff(b"h\0i\0\n\0", true).name(), "utf-16le");
/// assert_eq!(sniff(b"na\xefve caf\xe9", true).name(), "windows-1252");
/// ```
pub fn sniff(prefix: &[u8], whole_input: bool) -> Encoding {
    if let Some((encoding, _)) = encoding_rs::Encoding::for_bom(prefix) {
        return Encoding { charset: Charset::from_whatwg(encoding), bom: true };
    }
    let utf8 = is_utf8(prefix, whole_input);
    let charset = if utf8 && memchr::memchr(0, prefix).is_none() {
        Charset::Utf8
    } else if let Some(utf16) = utf16_without_bom(prefix, whole_input) {
        utf16
    } else if utf8 || is_damaged_utf8(prefix, whole_input) {
        Charset::Utf8
    } else {
        most_likely(prefix, whole_input)
    };
    Encoding { charset, bom: false }
}

/// Whether the bytes are UTF-8; a cut character at the end is fine when more input follows.
pub(crate) fn is_utf8(bytes: &[u8], whole_input: bool) -> bool {
    match std::str::from_utf8(bytes) {
        Ok(_) => true,
        Err(error) => !whole_input && error.error_len().is_none(),
    }
}

/// Recognises UTF-16 that lacks its byte order mark.
///
/// Text in UTF-16 has NUL bytes because ASCII characters, at least spaces and line ends, are in it.
/// A CJK text without a single one of those is not recognised.
fn utf16_without_bom(prefix: &[u8], whole_input: bool) -> Option<Charset> {
    let sample = head(prefix, SAMPLE);
    let ends_here = whole_input && sample.len() == prefix.len();
    if memchr::memchr(0, sample).is_none() || (ends_here && !sample.len().is_multiple_of(2)) {
        return None;
    }
    let clean_bytes = is_utf8(sample, ends_here) && !sample.iter().any(|&b| is_odd_control(b));
    let units = || sample.as_chunks::<2>().0.iter().copied();
    let little = Utf16Evidence::collect(units().map(u16::from_le_bytes), ends_here);
    let big = Utf16Evidence::collect(units().map(u16::from_be_bytes), ends_here);
    let little = little.filter(|evidence| evidence.convinces(clean_bytes));
    let big = big.filter(|evidence| evidence.convinces(clean_bytes));
    match (little, big) {
        (Some(little), Some(big)) if big.ascii > little.ascii => Some(Charset::Utf16Be),
        (Some(_), _) => Some(Charset::Utf16Le),
        (None, Some(_)) => Some(Charset::Utf16Be),
        (None, None) => None,
    }
}

struct Utf16Evidence {
    units: usize,
    ascii: usize,
    spaces: usize,
}

impl Utf16Evidence {
    /// Counts characters, or returns nothing when one of them has no place in a text.
    fn collect(units: impl ExactSizeIterator<Item = u16>, ends_here: bool) -> Option<Self> {
        let mut evidence = Self { units: units.len(), ascii: 0, spaces: 0 };
        let mut chars = char::decode_utf16(units).peekable();
        while let Some(char) = chars.next() {
            let Ok(char) = char else {
                // The sample may end between the halves of a surrogate pair.
                if !ends_here && chars.peek().is_none() {
                    break;
                }
                return None;
            };
            if is_implausible(char) {
                return None;
            }
            evidence.ascii += usize::from(char.is_ascii());
            evidence.spaces += usize::from(matches!(char, ' ' | '\n' | '\r'));
        }
        Some(evidence)
    }

    /// Bytes that are clean ASCII or UTF-8 apart from their NULs, such as a list of file names with
    /// NUL between them, can pass as UTF-16 too: for those the units must be nearly all ASCII.
    fn convinces(&self, clean_bytes: bool) -> bool {
        let mostly_ascii = self.units >= 2 && self.ascii * 10 >= self.units * 7;
        let foreign = self.units >= MIN_FOREIGN_UNITS && self.spaces > 0;
        mostly_ascii || (foreign && !clean_bytes)
    }
}

/// Control characters that do not occur in text, NUL apart.
fn is_odd_control(byte: u8) -> bool {
    byte != 0 && byte.is_ascii_control() && !is_text_control(char::from(byte))
}

fn is_text_control(char: char) -> bool {
    matches!(char, '\t' | '\n' | '\r' | '\x0c' | '\x1b')
}

fn is_implausible(char: char) -> bool {
    let code = u32::from(char);
    let private = (0xE000..=0xF8FF).contains(&code);
    let noncharacter = (0xFDD0..=0xFDEF).contains(&code) || code & 0xFFFE == 0xFFFE;
    (char.is_control() && !is_text_control(char)) || private || noncharacter
}

fn is_damaged_utf8(prefix: &[u8], whole_input: bool) -> bool {
    let sample = head(prefix, DETECTOR_SAMPLE);
    let mut good = 0_usize;
    let mut bad = 0_usize;
    for chunk in sample.utf8_chunks() {
        good += chunk.valid().chars().filter(|char| !char.is_ascii()).count();
        bad += usize::from(!chunk.invalid().is_empty());
    }
    if !whole_input || sample.len() < prefix.len() {
        // The last bad sequence may only be cut.
        bad = bad.saturating_sub(1);
    }
    good >= 2 && good >= bad * 2
}

fn most_likely(prefix: &[u8], whole_input: bool) -> Charset {
    let sample = head(prefix, DETECTOR_SAMPLE);
    // ISO-2022-JP is pure ASCII with escapes; terminal output looks the same.
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(sample, whole_input && sample.len() == prefix.len());
    Charset::from_whatwg(detector.guess(None, Utf8Detection::Deny))
}

fn head(bytes: &[u8], max: usize) -> &[u8] {
    bytes.get(..max).unwrap_or(bytes)
}
