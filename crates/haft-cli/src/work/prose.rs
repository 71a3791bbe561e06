//! What a model says, as it comes.

use haft::text::visible;
use textwrap::core::display_width;

/// Text that comes in pieces, made safe to print and wrapped at its spaces where there is somebody to read it.
///
/// Empty lines at the begin and the end are left out. Nothing in the text acts on a terminal.
#[derive(Debug, Default)]
pub(super) struct Prose {
    columns: Option<usize>,
    column: usize,
    word: String,
    gap: String,
    /// Line ends that are due before what comes next.
    line_ends: usize,
    has_begun: bool,
}

impl Prose {
    /// Makes prose that is wrapped to a number of columns, or not at all.
    pub(super) fn new(columns: Option<usize>) -> Self {
        Self { columns, ..Self::default() }
    }

    /// Takes a piece, and returns what can be printed by now.
    pub(super) fn add(&mut self, piece: &str) -> String {
        let mut out = String::new();
        for char in visible(piece).chars() {
            match char {
                '\n' => {
                    self.flush(&mut out);
                    self.gap.clear();
                    self.line_ends += 1;
                }
                '\t' if self.columns.is_some() => {
                    self.flush(&mut out);
                    self.gap.push_str("    ");
                }
                ' ' | '\t' => {
                    self.flush(&mut out);
                    self.gap.push(char);
                }
                char => {
                    self.word.push(char);
                    // A word that fills a line by itself is not waited for.
                    if self.columns.is_some_and(|columns| self.word.len() >= columns * 4) {
                        self.flush(&mut out);
                    }
                }
            }
        }
        if self.columns.is_none() {
            self.flush(&mut out);
        }
        out
    }

    /// Returns what is left of the text, its last line ended, and begins anew.
    pub(super) fn end(&mut self) -> String {
        let mut out = String::new();
        self.flush(&mut out);
        if self.has_begun {
            out.push('\n');
        }
        *self = Self::new(self.columns);
        out
    }

    fn flush(&mut self, out: &mut String) {
        if self.word.is_empty() {
            return;
        }
        if self.has_begun {
            for _ in 0..self.line_ends {
                out.push('\n');
            }
            if self.line_ends > 0 {
                self.column = 0;
            }
        }
        (self.has_begun, self.line_ends) = (true, 0);
        let (gap, word) = (display_width(&self.gap), display_width(&self.word));
        let is_full = |columns| self.column > 0 && self.column + gap + word > columns;
        if self.columns.is_some_and(is_full) {
            out.push('\n');
            self.column = word;
        } else {
            out.push_str(&self.gap);
            self.column += gap + word;
        }
        out.push_str(&self.word);
        self.gap.clear();
        self.word.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(columns: Option<usize>, pieces: &[&str]) -> String {
        let mut prose = Prose::new(columns);
        let said: String = pieces.iter().map(|piece| prose.add(piece)).collect();
        said + &prose.end()
    }

    #[test]
    fn lines_are_wrapped_at_spaces_whatever_the_pieces_are() {
        let text = "\n\n  one two three four\n\n    five six\n\n";
        let wrapped = "  one two\nthree four\n\n    five\nsix\n";
        assert_eq!(shown(Some(10), &[text]), wrapped);
        let letters: Vec<String> = text.chars().map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        assert_eq!(shown(Some(10), &letters), wrapped);
    }

    #[test]
    fn without_columns_nothing_waits_and_nothing_is_wrapped() {
        let mut prose = Prose::new(None);
        assert_eq!(prose.add("one tw"), "one tw");
        assert_eq!(prose.add("o\n"), "o");
        assert_eq!(prose.add("\tx"), "\n\tx");
        assert_eq!(prose.end(), "\n");
        assert_eq!(shown(None, &["", "\n", " "]), "");
    }

    #[test]
    fn nothing_that_is_said_acts_on_a_terminal() {
        let said = shown(Some(40), &["\x1b[2", "J\x1b]0;x\x07", "\r\u{202e}ok\u{9b}"]);
        assert_eq!(said, "\\x1b[2J\\x1b]0;x\\x07\\r\\u{202e}ok\\u{9b}\n");
    }

    #[test]
    fn a_word_without_end_is_not_held_back() {
        let mut prose = Prose::new(Some(10));
        let said: usize = (0..100).map(|_| prose.add("aaaaaaaaaa").len()).sum();
        assert!(said > 900, "{said}");
    }
}
