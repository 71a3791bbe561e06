//! From a text to a tree, within limits.

use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, Parser, Tree};

use crate::grammar::Grammar;
use crate::{Limits, SyntaxError};

/// Parses a text.
///
/// # Errors
///
/// Fails for a text that is too large, and when the limits say stop.
pub(crate) fn parse(grammar: &Grammar, text: &str, limits: &Limits) -> Result<Tree, SyntaxError> {
    let most = limits.bytes.get();
    if text.len() > most {
        return Err(SyntaxError::TooLarge { bytes: text.len(), most });
    }
    let mut parser = Parser::new();
    parser.set_language(&grammar.language).map_err(|error| SyntaxError::Grammar {
        language: grammar.name,
        problem: error.to_string(),
    })?;
    let bytes = text.as_bytes();
    let mut is_over = |_: &_| flow(limits);
    let options = ParseOptions::new().progress_callback(&mut is_over);
    parser
        .parse_with_options(
            &mut |offset, _| bytes.get(offset..).unwrap_or_default(),
            None,
            Some(options),
        )
        .ok_or(SyntaxError::Stopped)
}

/// Says whether to go on.
pub(crate) fn flow(limits: &Limits) -> ControlFlow<()> {
    if (limits.is_over)() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// Returns how deep a tree is, as far as `most`.
pub(crate) fn depth(tree: &Tree, most: usize) -> usize {
    let mut cursor = tree.walk();
    let (mut here, mut deepest) = (1, 1);
    loop {
        if cursor.goto_first_child() {
            here += 1;
            deepest = deepest.max(here);
            if deepest > most {
                return deepest;
            }
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return deepest;
            }
            here -= 1;
        }
    }
}
