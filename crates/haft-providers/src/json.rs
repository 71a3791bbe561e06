//! JSON as servers write it: halves of surrogate pairs mended, objects kept byte for byte.

use std::borrow::Cow;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// The first of sixteen characters that Unicode keeps for no text: three of them stand for a half of a pair that may get
/// its other half in the next piece of a stream.
const MARK: u32 = 0xfdd0;

/// Returns JSON text that can be read.
///
/// A half of a surrogate pair, such as `\ud99c`, is no character, and our reader refuses the text it stands in. Where the
/// other half may come in the next piece of a stream, at an end of a string, marks stand for it that [`Joining`] reads;
/// elsewhere the sign of replacement does.
pub(crate) fn mend_piece(text: &str) -> Cow<'_, str> {
    mend_halves(text, true)
}

/// Returns JSON text that can be read and has no other half to wait for.
pub(crate) fn mend(text: &str) -> Cow<'_, str> {
    mend_halves(text, false)
}

fn mend_halves(text: &str, wait: bool) -> Cow<'_, str> {
    let mut mended = String::new();
    let mut kept = 0;
    let mut at = 0;
    let bytes = text.as_bytes();
    let mut behind_escape = None;
    while let Some(next) = bytes.get(at..).and_then(backslash) {
        let start = at + next;
        let Some(unit) = unit_at(bytes, start) else {
            at = start + 2;
            behind_escape = Some(at);
            continue;
        };
        let (high, low) = (is_high(unit), is_low(unit));
        let paired = high && unit_at(bytes, start + 6).is_some_and(is_low);
        at = start + if paired { 12 } else { 6 };
        let opens = start.checked_sub(1).and_then(|before| bytes.get(before)) == Some(&b'"')
            && behind_escape != Some(start);
        let closes = bytes.get(at) == Some(&b'"');
        behind_escape = Some(at);
        if paired || !(high || low) {
            continue;
        }
        mended.push_str(text.get(kept..start).unwrap_or_default());
        kept = at;
        if wait && ((high && closes) || (low && opens)) {
            mended.extend(marks(unit));
        } else {
            mended.push('\u{fffd}');
        }
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    mended.push_str(text.get(kept..).unwrap_or_default());
    Cow::Owned(mended)
}

fn backslash(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| *byte == b'\\')
}

/// Returns the number of an escape such as `\ud83d`.
fn unit_at(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    let digits = std::str::from_utf8(digits).ok()?;
    digits.bytes().all(|it| it.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

fn is_high(unit: u16) -> bool {
    (0xd800..0xdc00).contains(&unit)
}

fn is_low(unit: u16) -> bool {
    (0xdc00..0xe000).contains(&unit)
}

fn marks(unit: u16) -> impl Iterator<Item = char> {
    let offset = u32::from(unit - 0xd800);
    [offset >> 8, offset >> 4, offset].into_iter().filter_map(|it| char::from_u32(MARK + (it & 15)))
}

fn unmark(text: &str) -> Option<(u16, &str)> {
    let mut rest = text.chars();
    let mut offset = 0;
    for _ in 0..3 {
        let digit = u32::from(rest.next()?).checked_sub(MARK).filter(|digit| *digit < 16)?;
        offset = offset * 16 + digit;
    }
    let unit = u16::try_from(0xd800 + offset).ok().filter(|unit| is_high(*unit) || is_low(*unit));
    Some((unit?, rest.as_str()))
}

/// Text that comes in pieces, with halves of pairs joined across them.
#[derive(Debug, Default)]
pub(crate) struct Joining {
    text: String,
    half: Option<u16>,
}

impl Joining {
    /// Takes the next piece and returns what is new to be seen.
    pub(crate) fn push(&mut self, piece: &str) -> String {
        let mut new = String::with_capacity(piece.len());
        let mut rest = piece;
        if let Some(high) = self.half.take_if(|_| !piece.is_empty()) {
            match unmark(rest) {
                Some((low, behind)) if is_low(low) => {
                    new.extend(char::decode_utf16([high, low]).filter_map(Result::ok));
                    rest = behind;
                }
                _ => new.push('\u{fffd}'),
            }
        }
        while let Some(at) = rest.find(|it| (MARK..MARK + 16).contains(&u32::from(it))) {
            let (before, from) = rest.split_at(at);
            new.push_str(before);
            match unmark(from) {
                Some((high, "")) if is_high(high) => {
                    self.half = Some(high);
                    rest = "";
                }
                Some((_, behind)) => {
                    new.push('\u{fffd}');
                    rest = behind;
                }
                None => {
                    let mut chars = from.chars();
                    new.extend(chars.next());
                    rest = chars.as_str();
                }
            }
        }
        new.push_str(rest);
        self.text.push_str(&new);
        new
    }

    /// Returns the whole text.
    pub(crate) fn finish(mut self) -> String {
        if self.half.is_some() {
            self.text.push('\u{fffd}');
        }
        self.text
    }

    /// Returns what there is so far, but for a half that waits.
    pub(crate) fn so_far(&self) -> &str {
        &self.text
    }
}

/// Returns a text in which no marks stand for halves any more.
pub(crate) fn joined(text: &str) -> String {
    let mut joining = Joining::default();
    joining.push(text);
    joining.finish()
}

/// Writes a value as JSON that stays as it is.
pub(crate) fn raw(value: &(impl Serialize + ?Sized)) -> Result<Box<RawValue>, serde_json::Error> {
    serde_json::value::to_raw_value(value)
}

/// Reads JSON that stays as it is.
pub(crate) fn read_raw(text: &str) -> Option<Box<RawValue>> {
    serde_json::from_str(text).ok()
}

/// An object whose values are kept byte for byte, in the order they came in.
#[derive(Debug, Clone, Default)]
pub(crate) struct RawObject(pub(crate) Vec<(String, Box<RawValue>)>);

impl RawObject {
    /// Returns the text of a value.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(key, _)| key == name)?;
        Some(value.get())
    }

    /// Returns a value that is a text.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        let text: String = serde_json::from_str(self.get(name)?).ok()?;
        Some(joined(&text))
    }

    /// Puts a value where one of that name was, else at the end.
    pub(crate) fn set(
        &mut self,
        name: &str,
        value: &(impl Serialize + ?Sized),
    ) -> Result<(), serde_json::Error> {
        let value = raw(value)?;
        match self.0.iter_mut().find(|(key, _)| key == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.to_owned(), value)),
        }
        Ok(())
    }
}

impl Serialize for RawObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for RawObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = RawObject;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawObject, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(RawObject(entries))
            }
        }

        deserializer.deserialize_map(Entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn escaped(units: &[u16]) -> String {
        let escapes: Vec<_> = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
        format!("\"{}\"", escapes.concat())
    }

    fn text(json: &str) -> String {
        serde_json::from_str(&mend_piece(json)).unwrap()
    }

    #[test]
    fn o_083_a_half_of_a_pair_is_replaced_and_the_rest_is_read() {
        assert_eq!(joined(&text(r#""\ud99c x""#)), "\u{fffd} x");
        assert_eq!(joined(&text(r#""x \udc00""#)), "x \u{fffd}");
        assert_eq!(joined(&text(r#""\ud800""#)), "\u{fffd}");
        assert_eq!(joined(&text(r#""a\udc00\ud800b""#)), "a\u{fffd}\u{fffd}b");
        assert_eq!(mend(r#"{"q":"\ud99c x"}"#), "{\"q\":\"\u{fffd} x\"}");
        assert_eq!(mend(r#"{"q":"\ud83d"}"#), "{\"q\":\"\u{fffd}\"}");
    }

    #[test]
    fn o_083_a_pair_that_was_split_is_joined() {
        let mut joining = Joining::default();
        let seen: Vec<_> =
            [r#""so \ud83d""#, r#""\ude00 it is""#].map(text).map(|it| joining.push(&it)).into();
        assert_eq!(seen, ["so ", "😀 it is"]);
        assert_eq!(joining.finish(), "so 😀 it is");

        let mut joining = Joining::default();
        let seen: Vec<_> =
            [r#""\ud83d""#, r#""""#, r#""no""#].map(text).map(|it| joining.push(&it)).into();
        assert_eq!(seen, ["", "", "\u{fffd}no"]);
    }

    #[test]
    fn what_is_whole_stays_as_it_is() {
        for json in
            [r#""\ud83d\ude00""#, r#""\\ud83d""#, r#""\\\\ud800""#, r#""\"\u00e4""#, "\"€\""]
        {
            assert!(matches!(mend(json), Cow::Borrowed(_)), "{json}");
        }
        assert_eq!(mend(r#""\"\udc00""#), "\"\\\"\u{fffd}\"");
        assert_eq!(mend_piece(r#""\"\udc00x""#), "\"\\\"\u{fffd}x\"");
    }

    #[test]
    fn an_object_keeps_its_bytes() {
        let json = r#"{"b":1.50,"a":{ "x" : 1e3 },"b":"\u00e4"}"#;
        let object: RawObject = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&object).unwrap(), json);
    }

    proptest! {
        #[test]
        fn whatever_escapes_there_are_the_text_is_read(units in prop::collection::vec(
            prop_oneof![0xd7feu16..0xe002, Just(0x41)], 0..8,
        )) {
            let json = escaped(&units);
            prop_assert_eq!(joined(&text(&json)), String::from_utf16_lossy(&units));
            let whole: String = serde_json::from_str(&mend(&json)).unwrap();
            prop_assert_eq!(whole, String::from_utf16_lossy(&units));
        }

        #[test]
        fn nothing_breaks_it(json in r#"["\\ud83c0-9a-f€]{0,24}"#, wait: bool) {
            let _ = mend_halves(&json, wait);
            let _ = joined(&json);
        }

        #[test]
        fn pieces_come_to_the_whole(units in prop::collection::vec(0xd700u16..0xe100, 1..8), cut in any::<prop::sample::Index>()) {
            let cut = cut.index(units.len());
            let mut joining = Joining::default();
            for piece in [&units[..cut], &units[cut..]] {
                joining.push(&text(&escaped(piece)));
            }
            prop_assert_eq!(joining.finish(), String::from_utf16_lossy(&units));
        }
    }
}
