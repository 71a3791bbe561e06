//! Whole lines and whole files.

use std::borrow::Cow;

use super::endings::Endings;
use super::{Applied, Edited, Touched};
use crate::breaks::Ending;
use crate::document::{Document, Splice, SpliceError};
use crate::grade::MatchGrade;
use crate::window::{LineEnding, LineHash};

/// Why lines cannot be inserted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InsertError {
    /// There is no such line.
    #[error("there is no line {after} to insert after: the file has {lines}", lines = if *lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") })]
    NoSuchLine {
        /// The line that was asked for.
        after: u64,
        /// How many lines there are.
        lines: u64,
    },
    /// There is nothing to insert.
    #[error("the text to insert is empty")]
    Empty,
    /// The lines cannot be written into this file.
    #[error(transparent)]
    Unwritable(#[from] SpliceError),
}

/// Inserts whole lines after the line with this number; 0 puts them first.
///
/// A line end at the end of `lines` may be there or not. The new lines end as the line before them
/// does, or else the line after them; whether the file ends with a line end stays as it was, unless
/// the last line is now a blank one. An empty file becomes `lines` as they are.
///
/// ```
/// let edited = haft_text::insert(b"one\r\ntwo", 2, "three\nfour\n", 1024)?;
/// assert_eq!(edited.bytes, b"one\r\ntwo\r\nthree\r\nfour");
/// # Ok::<(), haft_text::InsertError>(())
/// ```
///
/// # Errors
///
/// [`InsertError`] where there is no such line, nothing to insert, or the file cannot hold it in
/// `most_bytes` or in its encoding.
pub fn insert(
    bytes: &[u8],
    after: u64,
    lines: &str,
    most_bytes: usize,
) -> Result<Edited, InsertError> {
    if lines.is_empty() {
        return Err(InsertError::Empty);
    }
    let document = Document::new(bytes);
    let text = document.text();
    let last = usize::try_from(after).ok().and_then(|after| match after.checked_sub(1) {
        None => Some(0),
        Some(index) => document.split(text).nth(index).map(|line| line.end()),
    });
    let Some(position) = last else {
        return Err(InsertError::NoSuchLine { after, lines: document.line_count() });
    };

    let mut endings = Endings::of_lines(&document);
    let beside = text.floor_char_boundary(position.saturating_sub(1));
    let mut new =
        if text.is_empty() { lines.to_owned() } else { endings.written_at(lines, beside) };
    let ending = endings.of_line(&(beside..beside)).map_or("\n", Ending::as_str);
    let follows_open_line =
        position == text.len() && !text.is_empty() && !document.ends_with_newline();
    let is_ended = document.breaks().ends_line(new.as_bytes());
    if follows_open_line {
        // A blank line is nothing but its end.
        let last = document.split(&new).last().filter(|last| !last.content.is_empty());
        new.truncate(last.map_or(new.len(), |last| last.content_end()));
        new.insert_str(0, ending);
    } else if !is_ended && !text.is_empty() {
        new.push_str(ending);
    }
    let inserted = document.split(lines).map(|line| LineHash::of(line.content)).collect();
    let splice = Splice { range: position..position, text: Cow::Owned(new) };
    let bytes = document.splice(&[splice], most_bytes)?;
    let applied = Applied {
        grade: MatchGrade::Exact,
        places: 1,
        touched: vec![Touched { first_line: after + 1, old: Vec::new(), new: inserted }],
        ending: endings.unlike_given(),
        is_indented_anew: false,
    };
    Ok(Edited { bytes, applied: vec![applied] })
}

/// Replaces the whole text of a file, in the encoding it has and with its byte order mark.
///
/// Where all its lines end in CR LF, or all in CR, and the text has none of either, its lines are
/// written to end so too; the second value then says how.
///
/// ```
/// let (bytes, ending) = haft_text::overwrite(b"\xef\xbb\xbfold\r\n", "new\n", 1024)?;
/// assert_eq!(bytes, b"\xef\xbb\xbfnew\r\n");
/// assert_eq!(ending, Some(haft_text::LineEnding::Crlf));
/// # Ok::<(), haft_text::SpliceError>(())
/// ```
///
/// # Errors
///
/// [`SpliceError`] where the encoding lacks a character or the file becomes longer than `most_bytes`.
pub fn overwrite(
    bytes: &[u8],
    text: &str,
    most_bytes: usize,
) -> Result<(Vec<u8>, Option<LineEnding>), SpliceError> {
    let document = Document::new(bytes);
    let ending = match document.line_ending() {
        ending @ (LineEnding::Crlf | LineEnding::Cr)
            if text.contains('\n') && !text.contains('\r') =>
        {
            Some(ending)
        }
        _ => None,
    };
    let text = match ending {
        Some(LineEnding::Crlf) => Cow::Owned(text.replace('\n', "\r\n")),
        Some(_) => Cow::Owned(text.replace('\n', "\r")),
        None => Cow::Borrowed(text),
    };
    let encoding = document.encoding();
    let mut whole = encoding.mark().to_vec();
    whole.extend_from_slice(&encoding.encode(&text)?);
    if whole.len() > most_bytes {
        return Err(SpliceError::TooLong { most: most_bytes });
    }
    Ok((whole, ending))
}
