//! How exactly a place has to be what was looked for.

mod look_alike;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use look_alike::unified;

/// How much of a difference between a text that is looked for and the place where it was found does
/// not count.
///
/// Each grade lets pass what those before it do, and one thing more. They are tried in order, and
/// the first that finds a place decides. What a grade lets pass is its
/// [`normalise`](Self::normalise): two texts are the same by a grade when they are equal after it.
/// A place also has to have as many lines as what was looked for.
///
/// ```
/// use haft_text::MatchGrade;
///
/// let grade = MatchGrade::TrailingSpace;
/// assert_eq!(grade.normalise("a \r\n  b"), grade.normalise("a\n  b"));
/// assert_ne!(grade.normalise("a\nb"), grade.normalise("a\n  b"));
/// assert!(MatchGrade::Exact < grade);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MatchGrade {
    /// Nothing differs.
    Exact,
    /// Lines may end in CR LF, in LF, or in CR.
    LineEnding,
    /// There may be more or fewer spaces and tabs at the ends of lines.
    TrailingSpace,
    /// All lines may be indented by the same amount more or less, or by tabs in place of spaces.
    Indentation,
    /// Characters may be others that look like them: curly quotes and straight ones, dashes and
    /// hyphens, spaces of all widths, an ellipsis and three points, full-width and ordinary forms of
    /// ASCII.
    LookAlike,
}

impl MatchGrade {
    /// All grades, in the order in which they are tried.
    pub const ALL: [Self; 5] =
        [Self::Exact, Self::LineEnding, Self::TrailingSpace, Self::Indentation, Self::LookAlike];

    /// The name in snake case, such as `trailing_space`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::LineEnding => "line_ending",
            Self::TrailingSpace => "trailing_space",
            Self::Indentation => "indentation",
            Self::LookAlike => "look_alike",
        }
    }

    /// Takes out of a text what does not count by this grade.
    ///
    /// * `Exact` leaves the text as it is.
    /// * `LineEnding` writes CR LF and CR as LF.
    /// * `TrailingSpace` also takes spaces and tabs from the end of each line.
    /// * `Indentation` also takes them from its start. A place has to be indented alike in all its
    ///   lines besides, so equal texts are not always the same by this grade.
    /// * `LookAlike` first writes ASCII for its look-alikes: `'` for U+2018 to U+201B, U+2032 and
    ///   U+02BC; `"` for U+201C to U+201F and U+2033; `-` for U+2010 to U+2015, U+2212, U+FE58 and
    ///   U+FE63; a space for U+00A0, U+2000 to U+200A, U+202F, U+205F and U+3000; `...` for U+2026;
    ///   and `!` to `~` for U+FF01 to U+FF5E.
    pub fn normalise(self, text: &str) -> Cow<'_, str> {
        if self == Self::Exact {
            return Cow::Borrowed(text);
        }
        let mut folded = String::with_capacity(text.len());
        let mut rest = text;
        loop {
            let end = rest.find(['\r', '\n']).unwrap_or(rest.len());
            let (content, ending) = rest.split_at_checked(end).unwrap_or((rest, ""));
            self.fold_line(content, &mut folded);
            if ending.is_empty() {
                break;
            }
            folded.push('\n');
            rest = ending.strip_prefix("\r\n").or_else(|| ending.get(1..)).unwrap_or_default();
        }
        if folded == text { Cow::Borrowed(text) } else { Cow::Owned(folded) }
    }

    /// Writes what counts of one line.
    pub(crate) fn fold_line(self, content: &str, folded: &mut String) {
        let kept = content.get(self.kept(content)).unwrap_or_default();
        if self < Self::LookAlike || kept.is_ascii() {
            folded.push_str(kept);
        } else {
            for char in kept.chars() {
                let (ascii, times) = unified(char);
                folded.extend(std::iter::repeat_n(ascii, times));
            }
        }
    }

    /// Which part of a line counts; empty where the line is blank.
    pub(crate) fn kept(self, content: &str) -> Range<usize> {
        if self < Self::TrailingSpace {
            return 0..content.len();
        }
        let end = content.trim_end_matches(|char| self.is_blank(char)).len();
        if self < Self::Indentation {
            return 0..end;
        }
        if end == 0 {
            return content.len()..content.len();
        }
        let start = content.len() - content.trim_start_matches(|char| self.is_blank(char)).len();
        start..end
    }

    /// How many bytes a character becomes by the last grade; by all others it stays what it is.
    pub(crate) fn folded_len(char: char) -> usize {
        let (ascii, times) = unified(char);
        ascii.len_utf8() * times
    }

    /// Whether a character is white space within a line.
    pub(crate) fn is_blank(self, char: char) -> bool {
        let char = if self < Self::LookAlike { char } else { unified(char).0 };
        matches!(char, ' ' | '\t')
    }

    /// What a line is indented by.
    pub(crate) fn indentation(self, content: &str) -> Cow<'_, str> {
        let rest = content.trim_start_matches(|char| self.is_blank(char));
        let indentation = content.strip_suffix(rest).unwrap_or_default();
        if indentation.is_ascii() {
            return Cow::Borrowed(indentation);
        }
        indentation.chars().map(|char| if char == '\t' { '\t' } else { ' ' }).collect()
    }
}

impl fmt::Display for MatchGrade {
    /// Writes what was let pass at most, such as `trailing space`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exact => "exact",
            Self::LineEnding => "line endings",
            Self::TrailingSpace => "trailing space",
            Self::Indentation => "indentation",
            Self::LookAlike => "look-alike characters",
        })
    }
}
