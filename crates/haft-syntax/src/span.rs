//! Where something stands in a text.

use std::ops::Range;

use tree_sitter::Node;

/// Where something stands in a text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Span {
    /// The bytes of the text.
    pub bytes: Range<usize>,
    /// The first line, from 1.
    pub line: usize,
    /// The first byte in that line, from 1.
    pub column: usize,
    /// The last line, from 1.
    pub last_line: usize,
    /// The first byte in the last line that no longer belongs to it, from 1.
    pub end_column: usize,
}

impl Span {
    pub(crate) fn of(node: Node<'_>) -> Self {
        Self::between(node, node)
    }

    /// Returns the span from the beginning of one node to the end of another.
    pub(crate) fn between(first: Node<'_>, last: Node<'_>) -> Self {
        let (from, to) = (first.start_position(), last.end_position());
        Self {
            bytes: first.start_byte()..last.end_byte(),
            line: from.row + 1,
            column: from.column + 1,
            last_line: to.row + 1,
            end_column: to.column + 1,
        }
    }

    /// Leaves out the line end that some grammars count to what stands before it.
    pub(crate) fn without_line_end(mut self, text: &str) -> Self {
        let spanned = text.get(self.bytes.clone()).unwrap_or_default();
        if let Some(kept) = spanned.strip_suffix('\n').filter(|kept| !kept.is_empty()) {
            let kept = kept.strip_suffix('\r').unwrap_or(kept);
            self.bytes.end = self.bytes.start + kept.len();
            self.last_line -= 1;
            self.end_column = match kept.rfind('\n') {
                Some(end) => kept.len() - end,
                None => self.column + kept.len(),
            };
        }
        self
    }
}
