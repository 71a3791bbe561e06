//! The one place where characters that act on a terminal, or hide text, are made harmless.

use std::borrow::Cow;
use std::fmt::Write;

/// Makes control characters and hidden characters visible, keeping `\n` and `\t`.
///
/// What becomes visible:
///
/// * control characters: C0, DEL and C1, as `\x1b`, `\r` or `\u{9b}`;
/// * everything that changes the direction of text (Unicode `Bidi_Control`), as `\u{202e}`;
/// * the separators U+2028 and U+2029, and interlinear annotations;
/// * characters without any shape (Unicode `Default_Ignorable_Code_Point`): zero width space, word
///   joiner, U+FEFF, soft hyphen, Hangul fillers, tags and others.
///
/// What stays, although it has no shape of its own, because scripts and emoji need it: the zero
/// width joiner and non-joiner, variation selectors 1 to 16, the combining grapheme joiner, and the
/// marks of Mongolian and Khmer.
///
/// A backslash in the text is not doubled: the result is for reading, not for decoding.
///
/// ```
/// use haft_text::visible;
///
/// assert_eq!(visible("\x1b[2K\rALL PASSED"), r"\x1b[2K\rALL PASSED");
/// assert_eq!(visible("if admin\u{202e} //"), r"if admin\u{202e} //");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    escape(text, |char| !matches!(char, '\n' | '\t') && acts_or_hides(char))
}

/// Like [`visible`], and keeps the text on one line: `\n` and `\t` become visible too.
///
/// For names, paths and messages that stand inside a line.
///
/// ```
/// assert_eq!(haft_text::visible_line("a\tb\nc"), r"a\tb\nc");
/// ```
pub fn visible_line(text: &str) -> Cow<'_, str> {
    escape(text, acts_or_hides)
}

/// Writes a text on one line so that no other text is written alike: for what a person decides about.
///
/// Beside what [`visible_line`] makes visible, everything that looks like nothing or like a space and is not one shows:
/// joiners, variation selectors, no-break and other spaces, blanks of Braille and music. A backslash is doubled where it
/// could be taken for the start of an escape, so that `\n` is a line break and `\\n` is what was typed as `\n`.
///
/// ```
/// use haft_text::visible_exactly;
///
/// assert_eq!(visible_exactly("printf 'a\\n'\nls"), r"printf 'a\\n'\nls");
/// assert_eq!(visible_exactly("rm -r\u{a0}x\u{2800}"), r"rm -r\u{a0}x\u{2800}");
/// assert_eq!(visible_exactly(r"grep '\.rs$'"), r"grep '\.rs$'");
/// ```
pub fn visible_exactly(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return escape(text, shows_nothing);
    }
    let mut doubled = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    let mut backslashes = 0;
    while let Some(char) = chars.next() {
        doubled.push(char);
        if char != '\\' {
            backslashes = 0;
            continue;
        }
        backslashes += 1;
        let begins_escape =
            |next: &char| matches!(next, 'n' | 't' | 'r' | 'x' | 'u') || shows_nothing(*next);
        if chars.peek().is_some_and(begins_escape) {
            doubled.extend(std::iter::repeat_n('\\', backslashes));
        }
    }
    Cow::Owned(escape(&doubled, shows_nothing).into_owned())
}

/// Like [`visible_exactly`], of JSON, whose strings double their backslashes themselves.
///
/// ```
/// let json = r#"["a\\nb","a\nb"]"#;
/// assert_eq!(haft_text::visible_json(json), json);
/// ```
pub fn visible_json(json: &str) -> Cow<'_, str> {
    escape(json, shows_nothing)
}

/// Keeps what a terminal would show at last of lines that were rewritten by carriage returns.
///
/// In each line the text after the last `\r` wins; `\r` at the end of a line is dropped. Meant for
/// captured output, where progress bars repeat one line thousands of times, not for files.
///
/// ```
/// let output = "fetch 10%\rfetch 60%\rfetch 100%\r\ndone\n";
/// assert_eq!(haft_text::collapse_carriage_returns(output), "fetch 100%\ndone\n");
/// ```
pub fn collapse_carriage_returns(text: &str) -> Cow<'_, str> {
    if !text.contains('\r') {
        return Cow::Borrowed(text);
    }
    let mut collapsed = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (content, end) = line.strip_suffix('\n').map_or((line, ""), |content| (content, "\n"));
        let content = content.trim_end_matches('\r');
        collapsed.push_str(content.rsplit('\r').next().unwrap_or(content));
        collapsed.push_str(end);
    }
    Cow::Owned(collapsed)
}

fn escape(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    let Some(first) = text.find(&is_escaped) else { return Cow::Borrowed(text) };
    let (clean, rest) = text.split_at_checked(first).unwrap_or((text, ""));
    let mut escaped = String::with_capacity(text.len() + 16);
    escaped.push_str(clean);
    for char in rest.chars() {
        if !is_escaped(char) {
            escaped.push(char);
            continue;
        }
        // Writing to a string cannot fail.
        let _ = match char {
            '\n' => escaped.write_str("\\n"),
            '\t' => escaped.write_str("\\t"),
            '\r' => escaped.write_str("\\r"),
            '\0'..='\x7f' => write!(escaped, "\\x{:02x}", u32::from(char)),
            _ => write!(escaped, "\\u{{{:x}}}", u32::from(char)),
        };
    }
    Cow::Owned(escaped)
}

/// Tells whether a text is all printable ASCII, which nobody escapes, many bytes at a time.
fn is_plain(text: &str) -> bool {
    let is_plain =
        |chunk: &[u8]| chunk.iter().fold(true, |plain, byte| plain & matches!(byte, b' '..=b'~'));
    text.as_bytes().chunks(64).all(is_plain)
}

fn acts_or_hides(char: char) -> bool {
    matches!(
        char,
        // C0, DEL, C1.
        '\0'..='\x1f' | '\x7f'..='\u{9f}'
        // Bidi_Control.
        | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        // Line and paragraph separators, interlinear annotations.
        | '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffb}'
        // Default_Ignorable_Code_Point without those that ordinary text is shaped by.
        | '\u{ad}' | '\u{115f}' | '\u{1160}' | '\u{200b}' | '\u{2060}'..='\u{2065}'
        | '\u{206a}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Tells whether a character has no mark of its own, and is no plain space.
fn shows_nothing(char: char) -> bool {
    acts_or_hides(char)
        || (char != ' ' && char.is_whitespace())
        // What `visible` leaves to scripts and emoji, and blanks that are no spaces.
        || matches!(
            char,
            '\u{34f}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200c}' | '\u{200d}'
            | '\u{2800}' | '\u{fe00}'..='\u{fe0f}' | '\u{1d159}'
        )
}
