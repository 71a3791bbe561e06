//! SHA-256 digests of bytes and of JSON values.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest, written as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest([u8; 32]);

/// A digest that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a digest: expected 64 hexadecimal digits")]
pub struct DigestError {
    /// What was given, cut to a length fit for a message.
    pub text: String,
}

impl Digest {
    /// Digests bytes.
    pub fn of_bytes(bytes: impl AsRef<[u8]>) -> Self {
        Self(Sha256::digest(bytes.as_ref()).into())
    }

    /// Digests a sequence of parts so that no two different sequences share their input.
    pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut state = Sha256::new();
        for part in parts {
            state.update((part.len() as u64).to_le_bytes());
            state.update(part);
        }
        Self(state.finalize().into())
    }

    /// Digests a JSON value in a form where the order of keys does not matter.
    ///
    /// Numbers count as written: `1` and `1.0` differ.
    pub fn of_json(value: &Value) -> Self {
        let mut state = Sha256::new();
        feed(&mut state, value);
        Self(state.finalize().into())
    }

    /// Digests a JSON object, as [`Digest::of_json`] does.
    pub fn of_object(object: &serde_json::Map<String, Value>) -> Self {
        let mut state = Sha256::new();
        feed_object(&mut state, object);
        Self(state.finalize().into())
    }

    /// Returns the 32 bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns the first eight hexadecimal digits.
    pub fn short(&self) -> String {
        self.to_string().chars().take(8).collect()
    }
}

/// Digests bytes that arrive in pieces.
///
/// ```
/// use haft_protocol::{Digest, Digester};
///
/// let mut digester = Digester::default();
/// digester.update("in two ");
/// digester.update("pieces");
/// assert_eq!(digester.finish(), (Digest::of_bytes("in two pieces"), 13));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Digester {
    state: Sha256,
    bytes: u64,
}

impl Digester {
    /// Takes in a piece.
    pub fn update(&mut self, piece: impl AsRef<[u8]>) {
        self.state.update(piece.as_ref());
        self.bytes += piece.as_ref().len() as u64;
    }

    /// Returns the digest of all pieces and how many bytes they were.
    pub fn finish(self) -> (Digest, u64) {
        (Digest(self.state.finalize().into()), self.bytes)
    }
}

/// Feeds tagged, length-prefixed pieces. Values nest no deeper than the JSON parser allowed (128).
fn feed(state: &mut Sha256, value: &Value) {
    match value {
        Value::Null => state.update(b"n"),
        Value::Bool(true) => state.update(b"t"),
        Value::Bool(false) => state.update(b"f"),
        Value::Number(number) => feed_text(state, b"#", &number.to_string()),
        Value::String(text) => feed_text(state, b"\"", text),
        Value::Array(items) => {
            state.update(b"[");
            state.update((items.len() as u64).to_le_bytes());
            for item in items {
                feed(state, item);
            }
        }
        Value::Object(object) => feed_object(state, object),
    }
}

fn feed_object(state: &mut Sha256, object: &serde_json::Map<String, Value>) {
    state.update(b"{");
    state.update((object.len() as u64).to_le_bytes());
    let mut entries: Vec<_> = object.iter().collect();
    entries.sort_unstable_by_key(|(key, _)| key.as_str());
    for (key, item) in entries {
        feed_text(state, b"k", key);
        feed(state, item);
    }
}

fn feed_text(state: &mut Sha256, mark: &[u8], text: &str) {
    state.update(mark);
    state.update((text.len() as u64).to_le_bytes());
    state.update(text.as_bytes());
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digit = |half: u8| char::from(if half < 10 { b'0' + half } else { b'a' + half - 10 });
        let digits = self.0.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
        f.write_str(&digits.collect::<String>())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({}…)", self.short())
    }
}

impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        let malformed = || DigestError { text: text.chars().take(80).collect() };
        let digits: Vec<u8> = text
            .bytes()
            .map(|byte| char::from(byte).to_digit(16).map(|digit| digit as u8))
            .collect::<Option<_>>()
            .ok_or_else(malformed)?;
        let bytes: Vec<u8> = digits
            .chunks_exact(2)
            .map(|pair| pair.iter().fold(0, |byte, digit| (byte << 4) | digit))
            .collect();
        match <[u8; 32]>::try_from(bytes) {
            Ok(bytes) if text.len() == 64 => Ok(Self(bytes)),
            _ => Err(malformed()),
        }
    }
}

impl TryFrom<String> for Digest {
    type Error = DigestError;

    fn try_from(text: String) -> Result<Self, DigestError> {
        text.parse()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> String {
        digest.to_string()
    }
}
