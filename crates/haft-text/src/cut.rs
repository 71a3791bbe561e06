//! Cuts that never split a character and always say what they leave out.

mod excerpt;
mod head_tail;

use std::fmt;

use crate::digits::grouped;

pub use excerpt::{Excerpt, around};
pub use head_tail::{HeadTail, Kept};

/// Returns the longest start of `text` of at most `max` bytes that ends between characters.
///
/// ```
/// assert_eq!(haft_text::head("中文", 5), "中");
/// ```
pub fn head(text: &str, max: usize) -> &str {
    text.get(..text.floor_char_boundary(max)).unwrap_or_default()
}

/// Returns the longest end of `text` of at most `max` bytes that starts between characters.
///
/// ```
/// assert_eq!(haft_text::tail("中文", 5), "文");
/// ```
pub fn tail(text: &str, max: usize) -> &str {
    let start = text.ceil_char_boundary(text.len().saturating_sub(max));
    text.get(start..).unwrap_or_default()
}

/// Keeps the start and the end of `text`, half of `max` bytes each.
///
/// A text of at most `max` bytes is kept whole.
///
/// ```
/// let cut = haft_text::head_tail("abcdefghijklmnop", 6);
/// assert_eq!((cut.head, cut.tail, cut.left_out), ("abc", "nop", 10));
/// assert_eq!(cut.to_string(), "abc\n… [10 bytes left out] …\nnop");
/// ```
pub fn head_tail(text: &str, max: usize) -> Cut<'_> {
    if text.len() <= max {
        return Cut { head: text, tail: "", left_out: 0 };
    }
    let head = head(text, max - max / 2);
    let tail = tail(text, max / 2);
    Cut { head, tail, left_out: text.len() - head.len() - tail.len() }
}

/// The start and the end of a text. Displays as both with a marker between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cut<'a> {
    /// The start, or the whole text.
    pub head: &'a str,
    /// The end; empty when `head` is the whole text.
    pub tail: &'a str,
    /// How many bytes stand between them.
    pub left_out: usize,
}

impl fmt::Display for Cut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_cut(f, self.head, self.left_out as u64, self.tail)
    }
}

fn write_cut(f: &mut fmt::Formatter<'_>, head: &str, left_out: u64, tail: &str) -> fmt::Result {
    f.write_str(head)?;
    if left_out > 0 {
        let start = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
        writeln!(f, "{start}… [{} bytes left out] …", grouped(left_out))?;
    }
    f.write_str(tail)
}
