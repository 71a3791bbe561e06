use encoding_rs::DecoderResult;

use super::{Charset, Encoding};

/// The most decoded bytes that one call of a sink receives.
const CHUNK: usize = 8 * 1024;

/// Turns a stream of bytes into UTF-8 text, chunk by chunk, in constant memory.
///
/// Every malformed sequence becomes one U+FFFD and is counted. A byte order mark of the encoding is
/// dropped, whether or not the encoding promised one.
///
/// ```
/// use haft_text::{Decoder, sniff};
///
/// let bytes = b"caf\xe9 cr\xe8me";
/// let mut decoder = Decoder::new(sniff(bytes, true));
/// let mut text = String::new();
/// for piece in bytes.chunks(3) {
///     decoder.decode(piece, &mut |chunk| text.push_str(chunk));
/// }
/// decoder.finish(&mut |chunk| text.push_str(chunk));
/// assert_eq!(text, "café crème");
/// assert_eq!(decoder.invalid(), 0);
/// ```
pub struct Decoder {
    charset: Charset,
    inner: encoding_rs::Decoder,
    chunk: String,
    invalid: u64,
}

impl Decoder {
    /// Starts a text in this encoding.
    pub fn new(encoding: Encoding) -> Self {
        let inner = encoding.charset.whatwg().new_decoder_with_bom_removal();
        Self::with(encoding.charset, inner)
    }

    /// Starts inside a text, where a U+FEFF is not a byte order mark.
    pub(crate) fn inside(charset: Charset) -> Self {
        Self::with(charset, charset.whatwg().new_decoder_without_bom_handling())
    }

    fn with(charset: Charset, inner: encoding_rs::Decoder) -> Self {
        Self { charset, inner, chunk: String::with_capacity(CHUNK), invalid: 0 }
    }

    /// Decodes the next bytes and hands the text to `sink` in chunks of at most 8 KiB.
    ///
    /// A character that is cut at the end of `bytes` is kept for the next call.
    pub fn decode(&mut self, bytes: &[u8], sink: &mut dyn FnMut(&str)) {
        self.drive(bytes, false, sink);
    }

    /// Ends the text: a character that never became complete turns into U+FFFD.
    ///
    /// The decoder is then ready for another text of the same charset; [`invalid`](Self::invalid)
    /// goes on counting.
    pub fn finish(&mut self, sink: &mut dyn FnMut(&str)) {
        self.drive(&[], true, sink);
        self.inner = self.charset.whatwg().new_decoder_without_bom_handling();
    }

    /// The number of malformed sequences so far.
    pub fn invalid(&self) -> u64 {
        self.invalid
    }

    fn drive(&mut self, bytes: &[u8], last: bool, sink: &mut dyn FnMut(&str)) {
        let mut rest = bytes;
        loop {
            let (result, read) =
                self.inner.decode_to_string_without_replacement(rest, &mut self.chunk, last);
            rest = rest.get(read..).unwrap_or_default();
            match result {
                DecoderResult::InputEmpty => return self.hand_over(sink),
                DecoderResult::OutputFull => self.hand_over(sink),
                DecoderResult::Malformed(..) => {
                    let replacement = char::REPLACEMENT_CHARACTER;
                    if self.chunk.capacity() - self.chunk.len() < replacement.len_utf8() {
                        self.hand_over(sink);
                    }
                    self.chunk.push(replacement);
                    self.invalid += 1;
                }
            }
        }
    }

    fn hand_over(&mut self, sink: &mut dyn FnMut(&str)) {
        if !self.chunk.is_empty() {
            sink(&self.chunk);
            self.chunk.clear();
        }
    }
}

/// A whole text after decoding.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decoded {
    /// The text, without its byte order mark.
    pub text: String,
    /// How many malformed sequences became U+FFFD.
    pub invalid: u64,
}

impl Decoded {
    pub(super) fn from_bytes(bytes: &[u8], encoding: Encoding) -> Self {
        let mut text = String::with_capacity(bytes.len());
        let mut decoder = Decoder::new(encoding);
        decoder.decode(bytes, &mut |chunk| text.push_str(chunk));
        decoder.finish(&mut |chunk| text.push_str(chunk));
        Self { text, invalid: decoder.invalid() }
    }
}
