//! What a client has to show.

use std::fmt;
use std::hint::black_box;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use haft_protocol::Digest;

/// What lets a client in: 256 random bits, known to whoever was given them. It shows itself nowhere unasked.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// Makes a token that nobody has.
    pub(super) fn random() -> std::io::Result<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
        Ok(Self(URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// Returns the token, to be given to a client and kept nowhere.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns a name for the token from which nobody learns it.
    pub(super) fn fingerprint(&self) -> String {
        Digest::of_bytes(&self.0).short()
    }

    /// Tells whether this is what a client sent, in a time that tells nothing about where the two differ.
    pub(super) fn is(&self, sent: &[u8]) -> bool {
        let own = self.0.as_bytes();
        let differing = own.iter().zip(sent).fold(0, |bits, (a, b)| black_box(bits | (a ^ b)));
        own.len() == sent.len() && differing == 0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_itself_is_the_token() {
        let token = Token("abcd".to_owned());
        assert!(token.is(b"abcd"));
        for other in ["", "abc", "abcde", "abce", "Abcd", "abcdabcd"] {
            assert!(!token.is(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn tokens_are_long_differ_and_do_not_show_themselves() {
        let (one, other) = (Token::random().unwrap(), Token::random().unwrap());
        assert_eq!(one.reveal().len(), 43);
        assert_ne!(one.reveal(), other.reveal());
        assert!(!format!("{one:?} {}", one.fingerprint()).contains(one.reveal()));
    }
}
