//! What a pattern has to be, before it is searched for.

use std::collections::HashSet;

use ast_grep_core::Pattern;
use ast_grep_core::matcher::{PatternError, PatternNode};
use ast_grep_core::meta_var::MetaVariable;
use haft_protocol::limits;
use tree_sitter::{Node, Tree};

use crate::parse::depth;
use crate::{Language, SyntaxError};

const LONE_ELLIPSIS: &str = "`$$$NAME` alone stands for any number of things: write what it stands in, such as `f($$$NAME)`";

/// Bytes of a pattern that an error shows.
const SHOWN_BYTES: usize = 120;

/// Checks that a pattern is worth reading.
pub(super) fn size(pattern: &str) -> Result<(), SyntaxError> {
    if pattern.trim().is_empty() {
        return Err(unusable(pattern, "it is empty: write code as it would stand in a file"));
    }
    let most = limits::SYNTAX_PATTERN_BYTES;
    if pattern.len() > most {
        let problem =
            format!("it has {} bytes, and {most} at most are searched for", pattern.len());
        return Err(unusable(pattern, problem));
    }
    Ok(())
}

/// Checks that a pattern is no deeper than matching may go.
pub(super) fn depth_of(tree: &Tree, pattern: &str) -> Result<(), SyntaxError> {
    let most = limits::SYNTAX_PATTERN_DEPTH;
    if depth(tree, most) > most {
        let problem = format!("it is nested more than {most} levels deep: search for a part of it");
        return Err(unusable(pattern, problem));
    }
    Ok(())
}

/// Where a text breaks the grammar, and how.
#[derive(Debug)]
pub(super) struct Problem {
    /// The byte.
    pub(super) at: usize,
    pub(super) problem: String,
}

/// Returns where a tree first breaks the grammar, as deep inside as that can be told.
pub(super) fn first_problem(tree: &Tree, text: &str) -> Option<Problem> {
    if !tree.root_node().has_error() {
        return None;
    }
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if let Some(problem) = problem(node, text) {
            return Some(Problem { at: node.start_byte(), problem });
        }
        if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return None;
            }
        }
    }
}

fn problem(node: Node<'_>, text: &str) -> Option<String> {
    if node.is_error() {
        let text = as_written(text.get(node.byte_range()).unwrap_or_default().trim());
        let begin = haft_text::head(&text, 40);
        let end = if begin.len() < text.len() { "…" } else { "" };
        let begin = haft_text::visible_line(begin);
        return Some(match text.as_str() {
            "" => "something is missing".to_owned(),
            text if text.starts_with("$$$") => {
                format!("`{begin}{end}` cannot be read: for statements, write `;` after it")
            }
            _ => format!("`{begin}{end}` cannot be read"),
        });
    }
    // The end of a statement may be missing: a pattern is no whole file.
    let is_end = matches!(node.kind(), ";" | "\n" | "");
    (node.is_missing() && !is_end).then(|| format!("`{}` is missing", node.kind()))
}

/// Returns the bracket without which a text cannot be read, if there is one.
pub(super) fn unbalanced(text: &str) -> Option<Problem> {
    let mut open = Vec::new();
    let mut is_quoted = false;
    for (at, char) in text.char_indices() {
        let opening = match char {
            '"' => {
                is_quoted = !is_quoted;
                continue;
            }
            _ if is_quoted => continue,
            '(' | '[' | '{' => {
                open.push((at, char));
                continue;
            }
            ')' => '(',
            ']' => '[',
            '}' => '{',
            _ => continue,
        };
        if open.pop().is_none_or(|(_, last)| last != opening) {
            return Some(Problem { at, problem: format!("`{char}` closes nothing") });
        }
    }
    open.pop().map(|(at, char)| Problem { at, problem: format!("`{char}` is not closed") })
}

/// Puts `$` back for what stands in for it.
fn as_written(text: &str) -> String {
    text.replace(['µ', '𐀀'], "$")
}

/// Says why a pattern that can be read is not one piece of code.
pub(super) fn not_single(language: Language, pattern: &str, error: &PatternError) -> SyntaxError {
    let problem = match error {
        PatternError::RootMultiMetaVar(_) => LONE_ELLIPSIS.to_owned(),
        PatternError::NoContent(_) => {
            "there is no code in it: write code as it would stand in a file".to_owned()
        }
        PatternError::MultipleNode(_) => format!(
            "it is more than one expression, statement or definition of {}: \
             write one, or search for each",
            language.title()
        ),
        other => other.to_string(),
    };
    unusable(pattern, problem)
}

/// Lets `$$$NAME;` stand for statements. Some grammars read no name without its semicolon where a statement stands.
pub(super) fn lift_statements(node: &mut PatternNode) {
    let PatternNode::Internal { children, .. } = node else { return };
    children.iter_mut().for_each(lift_statements);
    let is_statement = match children.as_slice() {
        [first, PatternNode::Terminal { text, .. }] => is_ellipsis(first) && text == ";",
        _ => false,
    };
    let first = if is_statement { children.drain(..).next() } else { None };
    if let Some(first) = first {
        *node = first;
    }
}

/// Checks that a pattern that was taken out of something stands for one thing.
pub(super) fn stands_for_one(mut found: Pattern, pattern: &str) -> Result<Pattern, SyntaxError> {
    lift_statements(&mut found.node);
    if is_ellipsis(&found.node) { Err(unusable(pattern, LONE_ELLIPSIS)) } else { Ok(found) }
}

fn is_ellipsis(node: &PatternNode) -> bool {
    let PatternNode::MetaVar { meta_var } = node else { return false };
    matches!(meta_var, MetaVariable::Multiple | MetaVariable::MultiCapture(_))
}

/// Checks that matching costs no more than it should.
///
/// Each `$$$` tries what follows it once to find its end and once more to match it, so one in the other doubles the work.
pub(super) fn affordable(pattern: &Pattern, text: &str) -> Result<(), SyntaxError> {
    let most = limits::SYNTAX_PATTERN_TRIES;
    if tries(&pattern.node) <= most {
        return Ok(());
    }
    let problem = format!(
        "`$$$` stands before something with `$$$` in it more than {most} times over: \
         search for a part of it"
    );
    Err(unusable(text, problem))
}

// How deep a pattern goes was checked before.
fn tries(node: &PatternNode) -> usize {
    let PatternNode::Internal { children, .. } = node else { return 0 };
    let mut after_ellipsis = false;
    let mut most = 0;
    for child in children {
        if is_ellipsis(child) {
            after_ellipsis = true;
        } else {
            most = most.max(tries(child) + usize::from(after_ellipsis));
            after_ellipsis &= child.is_trivial();
        }
    }
    most
}

/// Tells whether a name stands in two places.
pub(super) fn repeats(pattern: &Pattern) -> bool {
    fn visit<'p>(node: &'p PatternNode, seen: &mut HashSet<&'p str>) -> bool {
        match node {
            PatternNode::MetaVar {
                meta_var: MetaVariable::Capture(name, _) | MetaVariable::MultiCapture(name),
            } => !seen.insert(name),
            PatternNode::Internal { children, .. } => {
                children.iter().any(|child| visit(child, seen))
            }
            PatternNode::MetaVar { .. } | PatternNode::Terminal { .. } => false,
        }
    }
    visit(&pattern.node, &mut HashSet::new())
}

fn unusable(pattern: &str, problem: impl Into<String>) -> SyntaxError {
    SyntaxError::UnusablePattern { pattern: shown(pattern), problem: problem.into() }
}

pub(super) fn shown(pattern: &str) -> String {
    let head = haft_text::head(pattern, SHOWN_BYTES);
    let end = if head.len() < pattern.len() { "…" } else { "" };
    format!("{}{end}", haft_text::visible_line(head))
}
