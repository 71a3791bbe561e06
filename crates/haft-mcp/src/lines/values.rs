//! How many values a message holds, told before any of them is made.

/// Values of one message. In memory each may take fifty times the byte or two that it takes on a line.
pub(super) const MOST: usize = 500_000;

/// Tells whether a line holds more values than a message may.
///
/// What separates values is counted, at first wherever it stands: few lines have that much of it, even in their texts.
pub(super) fn are_too_many(line: &[u8]) -> bool {
    line.len() > MOST
        && line.iter().filter(|byte| is_separator(**byte)).count() > MOST
        && outside_of_strings(line) > MOST
}

fn is_separator(byte: u8) -> bool {
    matches!(byte, b',' | b'[' | b'{')
}

fn outside_of_strings(line: &[u8]) -> usize {
    let (mut in_string, mut is_escaped, mut count) = (false, false, 0);
    for byte in line {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_string,
            b'"' => in_string = !in_string,
            _ if !in_string && is_separator(*byte) => count += 1,
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_and_texts_are_not_looked_into() {
        assert!(!are_too_many(b"{}"));
        assert!(are_too_many("[],".repeat(MOST).as_bytes()));
        assert!(are_too_many("1,".repeat(MOST + 1).as_bytes()));
        assert!(!are_too_many("1,".repeat(MOST - 1).as_bytes()));
        let text = format!(r#"{{"a":"{}","b":1}}"#, r#"\",[{"#.repeat(MOST));
        assert!(!are_too_many(text.as_bytes()));
        let after = format!(r#"{{"a":"\\",{}}}"#, "1,".repeat(MOST));
        assert!(are_too_many(after.as_bytes()));
    }
}
