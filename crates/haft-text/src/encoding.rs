//! What bytes a text is written in.

mod decoder;
mod encoder;
mod sniff;

use std::borrow::Cow;
use std::fmt;

pub use decoder::{Decoded, Decoder};
pub use encoder::Unmappable;
pub use sniff::sniff;
pub(crate) use sniff::{PREFIX, SAMPLE, is_utf8};

/// A charset and whether the text starts with a byte order mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Encoding {
    /// The mapping between bytes and characters.
    pub charset: Charset,
    /// Whether a byte order mark stands in front of the text. It is never part of decoded text.
    pub bom: bool,
}

/// A mapping between bytes and characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Charset {
    /// UTF-8, which includes ASCII.
    Utf8,
    /// UTF-16, low byte first.
    Utf16Le,
    /// UTF-16, high byte first.
    Utf16Be,
    /// One of the older charsets of the WHATWG Encoding Standard.
    Legacy(Legacy),
}

/// A single-byte or multi-byte charset from before Unicode.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Legacy(&'static encoding_rs::Encoding);

impl Encoding {
    /// UTF-8 without a byte order mark.
    pub const UTF_8: Self = Self { charset: Charset::Utf8, bom: false };

    /// The lower-case WHATWG name of the charset, such as `utf-8`, `windows-1252` or `shift_jis`.
    pub fn name(self) -> &'static str {
        self.charset.name()
    }

    /// Decodes a whole text that is in memory; see [`Decoder`] for streams.
    pub fn decode(self, bytes: &[u8]) -> Decoded {
        Decoded::from_bytes(bytes, self)
    }

    /// Encodes text, without a byte order mark.
    ///
    /// ```
    /// use haft_text::sniff;
    ///
    /// let encoding = sniff(b"na\xefve caf\xe9", true);
    /// assert_eq!(encoding.encode("d\u{e9}j\u{e0}")?.as_ref(), b"d\xe9j\xe0");
    /// assert_eq!(encoding.encode("a \u{2192} b").unwrap_err().char, '\u{2192}');
    /// # Ok::<(), haft_text::Unmappable>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Unmappable`] for the first character that does not come back when it is decoded again.
    pub fn encode(self, text: &str) -> Result<Cow<'_, [u8]>, Unmappable> {
        encoder::encode(self, text)
    }

    /// The byte order mark in front of the text, nothing where there is none.
    pub(crate) fn mark(self) -> &'static [u8] {
        match (self.bom, self.charset) {
            (false, _) | (true, Charset::Legacy(_)) => b"",
            (true, Charset::Utf8) => b"\xef\xbb\xbf",
            (true, Charset::Utf16Le) => b"\xff\xfe",
            (true, Charset::Utf16Be) => b"\xfe\xff",
        }
    }

    /// The length of the byte order mark in front of the text, 0 when there is none.
    pub(crate) fn bom_len(self) -> usize {
        self.mark().len()
    }
}

impl Charset {
    /// The lower-case WHATWG name, such as `utf-16le` or `koi8-r`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16Le => "utf-16le",
            Self::Utf16Be => "utf-16be",
            Self::Legacy(legacy) => legacy.name(),
        }
    }

    fn from_whatwg(encoding: &'static encoding_rs::Encoding) -> Self {
        if encoding == encoding_rs::UTF_8 {
            Self::Utf8
        } else if encoding == encoding_rs::UTF_16LE {
            Self::Utf16Le
        } else if encoding == encoding_rs::UTF_16BE {
            Self::Utf16Be
        } else {
            Self::Legacy(Legacy(encoding))
        }
    }

    pub(crate) fn whatwg(self) -> &'static encoding_rs::Encoding {
        match self {
            Self::Utf8 => encoding_rs::UTF_8,
            Self::Utf16Le => encoding_rs::UTF_16LE,
            Self::Utf16Be => encoding_rs::UTF_16BE,
            Self::Legacy(Legacy(encoding)) => encoding,
        }
    }
}

/// The lower-case spelling of those WHATWG names that hold capitals; it is how
/// `TextDecoder.encoding` answers, so one spelling serves people and programs.
const LOWER_CASE: [&str; 22] = [
    "big5",
    "euc-jp",
    "euc-kr",
    "gbk",
    "ibm866",
    "iso-2022-jp",
    "iso-8859-2",
    "iso-8859-3",
    "iso-8859-4",
    "iso-8859-5",
    "iso-8859-6",
    "iso-8859-7",
    "iso-8859-8",
    "iso-8859-8-i",
    "iso-8859-10",
    "iso-8859-13",
    "iso-8859-14",
    "iso-8859-15",
    "iso-8859-16",
    "koi8-r",
    "koi8-u",
    "shift_jis",
];

impl Legacy {
    /// The lower-case WHATWG name.
    pub fn name(self) -> &'static str {
        let name = self.0.name();
        LOWER_CASE.into_iter().find(|lower| lower.eq_ignore_ascii_case(name)).unwrap_or(name)
    }
}

impl fmt::Debug for Legacy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Encoding {
    /// Writes the name, and ` with BOM` when there is a byte order mark.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        if self.bom { f.write_str(" with BOM") } else { Ok(()) }
    }
}
