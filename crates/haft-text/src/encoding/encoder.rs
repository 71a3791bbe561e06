use std::borrow::Cow;

use encoding_rs::EncoderResult;

use super::{Charset, Encoding};

/// A character that an encoding cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{encoding} cannot hold U+{code:04X} (line {line}, column {column} of the text)",
    encoding = encoding.name(), code = u32::from(*char)
)]
#[non_exhaustive]
pub struct Unmappable {
    /// The character.
    pub char: char,
    /// The encoding.
    pub encoding: Encoding,
    /// The line of the text that the character is in, from 1.
    pub line: u64,
    /// The character of that line that it is, from 1.
    pub column: u64,
}

/// Encodes text, without a byte order mark.
pub(super) fn encode(encoding: Encoding, text: &str) -> Result<Cow<'_, [u8]>, Unmappable> {
    match encoding.charset {
        Charset::Utf8 => Ok(Cow::Borrowed(text.as_bytes())),
        Charset::Utf16Le => Ok(text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        Charset::Utf16Be => Ok(text.encode_utf16().flat_map(u16::to_be_bytes).collect()),
        Charset::Legacy(_) => encode_legacy(encoding, text),
    }
}

fn encode_legacy(encoding: Encoding, text: &str) -> Result<Cow<'_, [u8]>, Unmappable> {
    if let Some(bytes) = encode_whole(encoding, text)
        && encoding.decode(&bytes).text == text
    {
        return Ok(Cow::Owned(bytes));
    }
    // Some tables write two characters as one byte, such as the yen sign and the backslash.
    let comes_back = |char: char| {
        let text = char.to_string();
        encode_whole(encoding, &text).is_some_and(|bytes| encoding.decode(&bytes).text == text)
    };
    let mut line = 1;
    let mut column = 1;
    for char in text.chars() {
        if !char.is_ascii() && !comes_back(char) {
            return Err(Unmappable { char, encoding, line, column });
        }
        (line, column) = if char == '\n' { (line + 1, 1) } else { (line, column + 1) };
    }
    // Each comes back alone and not all together: the first that is more than ASCII stands for them.
    let char = text.chars().find(|char| !char.is_ascii()).unwrap_or_default();
    Err(Unmappable { char, encoding, line: 1, column: 1 })
}

fn encode_whole(encoding: Encoding, text: &str) -> Option<Vec<u8>> {
    let mut encoder = encoding.charset.whatwg().new_encoder();
    let most = encoder.max_buffer_length_from_utf8_without_replacement(text.len())?;
    let mut bytes = Vec::with_capacity(most);
    match encoder.encode_from_utf8_to_vec_without_replacement(text, &mut bytes, true).0 {
        EncoderResult::InputEmpty => Some(bytes),
        EncoderResult::OutputFull | EncoderResult::Unmappable(_) => None,
    }
}
