//! JSON Pointers, built piece by piece.

/// Characters of a pointer that a message carries; keys come from a model and may be of any length.
const SHOWN_CHARS: usize = 160;

/// Appends a key, escaped as RFC 6901 asks.
pub(crate) fn push(pointer: &mut String, key: &str) {
    pointer.push('/');
    for character in key.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

/// Appends a position in an array.
pub(crate) fn push_index(pointer: &mut String, index: usize) {
    pointer.push('/');
    pointer.push_str(&index.to_string());
}

/// Returns the pointer with one more key.
pub(crate) fn joined(pointer: &str, key: &str) -> String {
    let mut longer = pointer.to_owned();
    push(&mut longer, key);
    longer
}

/// Runs `body` with the key appended and takes it away again.
pub(crate) fn within<T>(pointer: &mut String, key: &str, body: impl FnOnce(&mut String) -> T) -> T {
    let length = pointer.len();
    push(pointer, key);
    let result = body(pointer);
    pointer.truncate(length);
    result
}

/// Returns the pointer without its last part; empty for the root.
pub(crate) fn parent(pointer: &str) -> &str {
    pointer.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// Cuts a pointer to a length fit for a message, and keeps it on one line: its keys are anybody's words.
pub(crate) fn shown(pointer: &str) -> String {
    let mut shown = String::new();
    for character in crate::words::cut_at(pointer, SHOWN_CHARS).chars() {
        match character {
            '"' | '\'' | '\\' => shown.push(character),
            _ => shown.extend(character.escape_debug()),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_escaped() {
        assert_eq!(joined("/a", "b/c~d"), "/a/b~1c~0d");
    }

    #[test]
    fn what_is_shown_stays_on_one_line() {
        assert_eq!(shown("/x\nnotice: y\u{202e}/it's"), r"/x\nnotice: y\u{202e}/it's");
    }

    #[test]
    fn parent_of_the_root_is_the_root() {
        assert_eq!(parent("/a/b"), "/a");
        assert_eq!(parent("/a"), "");
        assert_eq!(parent(""), "");
    }

    #[test]
    fn long_pointers_are_cut() {
        let long = joined("", &"ä".repeat(500));
        assert_eq!(shown(&long).chars().count(), SHOWN_CHARS + 1);
    }
}
