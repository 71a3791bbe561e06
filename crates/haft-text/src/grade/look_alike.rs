//! The closed table of characters that look like others.

/// Returns the ASCII character that a character looks like, and how many of them; or itself, once.
///
/// No ASCII character is in the table, so what differs in ASCII always differs.
pub(super) fn unified(char: char) -> (char, usize) {
    let ascii = match char {
        '\u{2018}'..='\u{201b}' | '\u{2032}' | '\u{2bc}' => '\'',
        '\u{201c}'..='\u{201f}' | '\u{2033}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' => '-',
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        '\u{2026}' => return ('.', 3),
        '\u{ff01}'..='\u{ff5e}' => {
            let ascii = u32::from(char) - 0xff01 + u32::from('!');
            return (char::from_u32(ascii).unwrap_or(char), 1);
        }
        _ => char,
    };
    (ascii, 1)
}
