//! Texts as they read once their escapes are taken away.

/// Returns a text with the escapes of JSON decoded, as far as they are ones. `None` where there are none.
pub(super) fn decoded(text: &str) -> Option<String> {
    if !text.contains('\\') {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut changed = false;
    let mut rest = text.chars();
    while let Some(letter) = rest.next() {
        let mut ahead = rest.clone();
        let plain = match (letter, ahead.next()) {
            ('\\', Some('n')) => Some('\n'),
            ('\\', Some('r')) => Some('\r'),
            ('\\', Some('t')) => Some('\t'),
            ('\\', Some(same @ ('"' | '\'' | '\\' | '/'))) => Some(same),
            ('\\', Some('u')) => {
                let mut digit = || ahead.next().and_then(|digit| digit.to_digit(16));
                digit()
                    .zip(digit())
                    .zip(digit().zip(digit()))
                    .and_then(|((a, b), (c, d))| char::from_u32(a << 12 | b << 8 | c << 4 | d))
            }
            _ => None,
        };
        match plain {
            Some(plain) => {
                out.push(plain);
                rest = ahead;
                changed = true;
            }
            None => out.push(letter),
        }
    }
    changed.then_some(out)
}

/// Tells whether a text escapes letters that need no escape.
pub(super) fn hides_letters(text: &str) -> bool {
    text.contains("\\u00")
}
