//! What a file holds, judged by its bytes and never by its name.

mod image;
mod magic;

use crate::encoding::{Charset, Encoding, SAMPLE, is_utf8, sniff};

pub use image::{ImageFault, ImageInfo, ImageKind, image_info};

/// What the first bytes of a file say about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// There are no bytes.
    Empty,
    /// Text in this encoding. SVG, HTML and every other markup is text.
    Text(Encoding),
    /// An image by its signature; [`image_info`] tells whether it is a sound one.
    Image(ImageKind),
    /// Anything else, described in a few words such as `PDF document`.
    Binary(&'static str),
}

/// What is said of bytes that match no known format.
const UNKNOWN: &str = "binary data";

impl Kind {
    /// Judges a file by its first bytes; 8 KiB are enough to tell text from the rest, and up to
    /// 64 KiB make the guess of an encoding better.
    ///
    /// `whole_input` says that nothing follows `prefix`. Bytes that read as clean text are text,
    /// even when they begin with letters that some format uses (`BM`, `MZ`, `GIF89a`); only
    /// `%PDF-` counts regardless. A NUL among the first 8192 bytes makes a file binary unless it is
    /// UTF-16.
    ///
    /// ```
    /// use haft_text::Kind;
    ///
    /// assert!(matches!(Kind::sniff(b"<svg/>", true), Kind::Text(_)));
    /// assert_eq!(Kind::sniff(b"\x7fELF\x02\x01\x01\0", false), Kind::Binary("ELF executable"));
    /// ```
    pub fn sniff(prefix: &[u8], whole_input: bool) -> Self {
        if prefix.is_empty() {
            return Self::Empty;
        }
        let sample = prefix.get(..SAMPLE).unwrap_or(prefix);
        let ends_here = whole_input && sample.len() == prefix.len();
        if reads_as_text(sample, ends_here) && !sample.starts_with(b"%PDF-") {
            return Self::Text(sniff(prefix, whole_input));
        }
        if let Some(image) = ImageKind::of_signature(sample) {
            return Self::Image(image);
        }
        if let Some(description) = magic::describe(sample) {
            return Self::Binary(description);
        }
        let encoding = sniff(prefix, whole_input);
        let binary = if memchr::memchr(0, sample).is_some() {
            !matches!(encoding.charset, Charset::Utf16Le | Charset::Utf16Be)
        } else {
            !is_utf8(sample, ends_here) && is_noise(sample)
        };
        if binary { Self::Binary(UNKNOWN) } else { Self::Text(encoding) }
    }
}

fn reads_as_text(sample: &[u8], ends_here: bool) -> bool {
    is_utf8(sample, ends_here) && !sample.iter().any(|&byte| is_noise_byte(byte))
}

/// Legacy text has next to no control characters; a tenth of compressed or random bytes are some.
fn is_noise(sample: &[u8]) -> bool {
    sample.iter().filter(|&&byte| is_noise_byte(byte)).count() * 20 > sample.len()
}

/// Control characters that neither text nor a captured terminal session would hold.
fn is_noise_byte(byte: u8) -> bool {
    byte.is_ascii_control() && !matches!(byte, 0x07..=0x0d | 0x1b)
}
