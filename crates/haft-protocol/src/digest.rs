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
        let mut feed = Feed::new();
        feed.value(value);
        feed.finish()
    }

    /// Digests a JSON object, as [`Digest::of_json`] does.
    pub fn of_object(object: &serde_json::Map<String, Value>) -> Self {
        let mut feed = Feed::new();
        feed.object(object);
        feed.finish()
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

/// Bytes that are put together before they are hashed: a piece alone costs more than its bytes.
const PIECE: usize = 512;

/// Takes in JSON values as tagged, length-prefixed pieces. Values nest no deeper than the JSON parser allowed (128).
struct Feed {
    state: Sha256,
    pending: [u8; PIECE],
    used: usize,
}

impl Feed {
    fn new() -> Self {
        Self { state: Sha256::new(), pending: [0; PIECE], used: 0 }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.piece(b"n"),
            Value::Bool(true) => self.piece(b"t"),
            Value::Bool(false) => self.piece(b"f"),
            Value::Number(number) => self.text(b"#", &number.to_string()),
            Value::String(text) => self.text(b"\"", text),
            Value::Array(items) => {
                self.piece(b"[");
                self.length(items.len());
                for item in items {
                    self.value(item);
                }
            }
            Value::Object(object) => self.object(object),
        }
    }

    fn object(&mut self, object: &serde_json::Map<String, Value>) {
        self.piece(b"{");
        self.length(object.len());
        let mut entries: Vec<_> = object.iter().collect();
        entries.sort_unstable_by_key(|(key, _)| key.as_str());
        for (key, item) in entries {
            self.text(b"k", key);
            self.value(item);
        }
    }

    fn text(&mut self, mark: &[u8], text: &str) {
        self.piece(mark);
        self.length(text.len());
        self.piece(text.as_bytes());
    }

    fn length(&mut self, length: usize) {
        self.piece(&(length as u64).to_le_bytes());
    }

    fn piece(&mut self, piece: &[u8]) {
        if let Some(room) = self.pending.get_mut(self.used..self.used + piece.len()) {
            room.copy_from_slice(piece);
            self.used += piece.len();
        } else {
            self.flush();
            self.state.update(piece);
        }
    }

    fn flush(&mut self) {
        self.state.update(self.pending.get(..self.used).unwrap_or_default());
        self.used = 0;
    }

    fn finish(mut self) -> Digest {
        self.flush();
        Digest(self.state.finalize().into())
    }
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
