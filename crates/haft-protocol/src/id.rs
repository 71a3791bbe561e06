//! Identifiers: 128 bits that sort by time, written as 26 letters and digits.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Letters and digits of an id, in the order of their values (Crockford's base 32, lower case).
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Characters of an id's text form: 128 bits in groups of five.
const TEXT_CHARS: usize = 26;

/// An id that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdError {
    /// The text is not 26 characters of the id alphabet.
    #[error("`{text}` is not an id: expected {TEXT_CHARS} letters and digits, without i, l, o, u")]
    Malformed {
        /// What was given, cut to a length fit for a message.
        text: String,
    },
}

fn encode(bits: u128) -> [u8; TEXT_CHARS] {
    let mut text = [b'0'; TEXT_CHARS];
    let mut rest = bits;
    for slot in text.iter_mut().rev() {
        if let Some(letter) = ALPHABET.get((rest & 31) as usize) {
            *slot = *letter;
        }
        rest >>= 5;
    }
    text
}

fn decode(text: &str) -> Result<u128, IdError> {
    let malformed = || IdError::Malformed { text: text.chars().take(40).collect() };
    if text.len() != TEXT_CHARS {
        return Err(malformed());
    }
    let mut bits: u128 = 0;
    for byte in text.bytes() {
        let value = ALPHABET.iter().position(|letter| *letter == byte).ok_or_else(malformed)?;
        bits = bits
            .checked_mul(32)
            .and_then(|shifted| shifted.checked_add(value as u128))
            .ok_or_else(malformed)?;
    }
    Ok(bits)
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(u128);

        impl $name {
            /// Makes an id of a time in milliseconds since 1970 and 80 random bits (the upper ones are dropped).
            ///
            /// Ids made in this way sort by time.
            pub const fn from_parts(unix_ms: u64, random: u128) -> Self {
                Self(((unix_ms as u128 & 0xffff_ffff_ffff) << 80) | (random & ((1 << 80) - 1)))
            }

            /// Returns the milliseconds since 1970 that the id was made with.
            pub const fn unix_ms(self) -> u64 {
                (self.0 >> 80) as u64
            }

            /// Returns the last eight characters, enough to tell calls of one day apart.
            pub fn short(self) -> String {
                String::from(self).split_off(TEXT_CHARS - 8)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&String::from(*self))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                decode(text).map(Self)
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;

            fn try_from(text: String) -> Result<Self, IdError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                encode(id.0).iter().map(|byte| char::from(*byte)).collect()
            }
        }
    )*};
}

ids! {
    /// Identifies one call, from its proposal to its outcome and ever after in the journal.
    CallId;
    /// Identifies a call that waits for an answer.
    TicketId;
    /// Identifies one run: everything a person started with one command.
    RunId;
    /// Identifies one conversation with its registry and policy.
    BranchId;
    /// Identifies one message of a conversation.
    MessageId;
    /// Identifies stored bytes behind a handle.
    ArtifactId;
}
