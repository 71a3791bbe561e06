//! Ids of calls in the form a server takes.

use std::borrow::Cow;

use haft_protocol::Digest;

use crate::Ids;

/// Characters of an id at most; more are refused by some.
const CHARS: usize = 40;

/// Returns an id that the server takes: the given one where it may be, else always the same other one for it.
pub(crate) fn fitting(id: &str, ids: Ids) -> Cow<'_, str> {
    let fits = match ids {
        Ids::Any => {
            let taken = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_');
            !id.is_empty() && id.len() <= CHARS && id.bytes().all(taken)
        }
        Ids::Nine => id.len() == 9 && id.bytes().all(|it| it.is_ascii_alphanumeric()),
    };
    if fits {
        return Cow::Borrowed(id);
    }
    let digits = Digest::of_bytes(id).to_string();
    Cow::Owned(match ids {
        Ids::Any => format!("call_{}", digits.get(..24).unwrap_or(&digits)),
        Ids::Nine => digits.get(..9).unwrap_or(&digits).to_owned(),
    })
}
