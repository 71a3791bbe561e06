//! Names of files: how they are shown, which differ too little to be told apart, which are near.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;

use haft_protocol::limits;
use haft_text::visible_line;
use unicode_normalization::{UnicodeNormalization, is_nfc};

use crate::sys::Dir;

/// How alike two names must be for one to be offered in place of the other, out of 1: by what they begin with, or by
/// how few letters differ.
const NEAR: (f64, f64) = (0.8, 0.6);

/// How many pairs of letters are compared at most to find near names.
const NEAR_PAIRS: usize = 20_000_000;

/// Shows a name on one line: bytes that are not UTF-8 as `\xNN`, characters that act or hide made visible.
pub(crate) fn shown(name: &OsStr) -> Cow<'_, str> {
    if let Some(text) = name.to_str() {
        return visible_line(text);
    }
    let mut shown = String::with_capacity(name.len() + 16);
    for chunk in name.as_bytes().utf8_chunks() {
        shown.push_str(&visible_line(chunk.valid()));
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(shown, "\\x{byte:02x}");
        }
    }
    Cow::Owned(shown)
}

/// Shows a name so that two names that look the same do not: what is not ASCII and has no shape by its code point.
pub(crate) fn spelled_out(name: &str) -> String {
    let mut spelled = String::with_capacity(name.len() + 16);
    for char in name.nfc() {
        if char.is_whitespace() && char != ' ' {
            // Writing to a string cannot fail.
            let _ = write!(spelled, "<U+{:04X}>", u32::from(char));
        } else {
            spelled.push(char);
        }
    }
    spelled
}

/// What names that a reader cannot tell apart have in common: every space a plain one, accents composed.
fn folded(name: &str) -> Cow<'_, str> {
    if name.is_ascii() {
        return Cow::Borrowed(name);
    }
    let spaced = |char: char| if char.is_whitespace() { ' ' } else { char };
    if is_nfc(name) { name.chars().map(spaced).collect() } else { name.nfc().map(spaced).collect() }
}

/// The names in a directory that stand for one that is not there.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Alike {
    /// None, or the directory cannot be read.
    None,
    /// This one.
    One(OsString),
    /// Several; nobody can say which is meant.
    Several(Vec<OsString>),
}

/// Looks for names that a reader of a listing could have written down as `name`.
pub(crate) fn alike(dir: &Dir, name: &str) -> Alike {
    // A name of plain characters has no other spelling worth a look at the whole directory.
    if name.is_ascii() && !name.contains([' ', '\\']) {
        return Alike::None;
    }
    let wanted = folded(name);
    let mut found = siblings(dir, |sibling| folded(&shown(sibling)) == wanted);
    match found.len() {
        0 => Alike::None,
        1 => found.pop().map_or(Alike::None, Alike::One),
        _ => {
            found.sort_unstable();
            Alike::Several(found)
        }
    }
}

/// Returns the names most like `name`, best first, among those that may be shown.
pub(crate) fn near(dir: &Dir, name: &str, may_show: impl Fn(&OsStr) -> bool) -> Vec<OsString> {
    let wanted = name.to_lowercase();
    let mut near: Vec<(f64, OsString)> = Vec::new();
    let mut pairs = NEAR_PAIRS;
    siblings(dir, |sibling| {
        let shown = shown(sibling);
        let lower = shown.to_lowercase();
        pairs = pairs.saturating_sub(wanted.len() * lower.len());
        if pairs == 0 {
            return false;
        }
        let begins = strsim::jaro_winkler(&wanted, &lower);
        let differs = strsim::normalized_damerau_levenshtein(&wanted, &lower);
        if (begins >= NEAR.0 || differs >= NEAR.1) && may_show(sibling) {
            near.push((begins.max(differs), sibling.to_owned()));
        }
        false
    });
    near.sort_by(|(a, a_name), (b, b_name)| b.total_cmp(a).then_with(|| a_name.cmp(b_name)));
    near.truncate(limits::NEAREST_NAMES);
    near.into_iter().map(|(_, name)| name).collect()
}

fn siblings(dir: &Dir, mut is_wanted: impl FnMut(&OsStr) -> bool) -> Vec<OsString> {
    let mut found = Vec::new();
    let Ok(dir) = dir.readable() else { return found };
    let mut left = limits::NEIGHBOURS;
    // What could be read before a failure still counts: this only helps to phrase an answer.
    let _ = dir.names(&mut Vec::new(), |name, _| {
        if is_wanted(name) {
            found.push(name.to_owned());
        }
        left = left.saturating_sub(1);
        left > 0
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_shown(name: &[u8], expect: &str) {
        assert_eq!(shown(OsStr::from_bytes(name)), expect);
    }

    #[test]
    fn names_are_shown_on_one_line_with_every_byte_visible() {
        check_shown(b"plain.txt", "plain.txt");
        check_shown("größe.txt".as_bytes(), "größe.txt");
        check_shown(b"caf\xe9.txt", r"caf\xe9.txt");
        check_shown(b"a\nnotice: b", r"a\nnotice: b");
        check_shown("x\u{202e}gpj.exe".as_bytes(), r"x\u{202e}gpj.exe");
        check_shown(b"\xff\nz\xc3", r"\xff\nz\xc3");
    }

    #[test]
    fn folding_makes_spaces_plain_and_accents_composed() {
        assert_eq!(folded("shot 3.00\u{202f}PM.png"), "shot 3.00 PM.png");
        assert_eq!(folded("v\u{a0}1"), "v 1");
        assert_eq!(folded("cafe\u{301}"), "café");
        assert_eq!(folded("plain"), "plain");
    }

    #[test]
    fn spelling_out_tells_spaces_apart() {
        assert_eq!(spelled_out("3.00\u{202f}PM"), "3.00<U+202F>PM");
    }
}
