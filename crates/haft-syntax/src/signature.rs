//! The line that stands for a definition.

use std::borrow::Cow;
use std::ops::Range;

use haft_protocol::limits;
use tree_sitter::Node;

use crate::SymbolKind;
use crate::definitions::Captured;

/// Returns a definition up to its body, on one line.
///
/// It begins with the line, where nothing but words stands before the definition: `export const` belongs to what it
/// declares.
pub(crate) fn signature(captured: &Captured<'_>, kind: SymbolKind, source: &str) -> String {
    let most = limits::SYNTAX_SIGNATURE_BYTES;
    let whole = captured.node.byte_range();
    // What a variant holds belongs to what it is.
    let body = captured.body.filter(|_| kind != SymbolKind::Variant);
    let end = body.map_or(whole.end, |body| body.max(captured.name.end_byte()));
    // What is taken is shown with its gaps closed, so some more than is shown is looked at.
    let taken = without_comments(captured.node, source, end);
    let taken = haft_text::head(&taken, most * 4);
    let taken = match taken.split_once('{') {
        Some((before, _)) if body.is_none() && taken.trim_end().contains('\n') => before,
        _ => taken,
    };
    let mut text = String::new();
    let before = words_before(source, whole.start);
    for word in before.split_whitespace().chain(taken.split_whitespace()) {
        if word.starts_with([')', ']']) {
            // The comma after the last of several lines.
            text.truncate(text.trim_end_matches(',').len());
        } else if !text.is_empty() && !text.ends_with(['(', '[']) && !word.starts_with(',') {
            text.push(' ');
        }
        text.push_str(word);
    }
    while let Some(rest) =
        ["=>", "=", "{", ":", ";", ","].iter().find_map(|it| text.strip_suffix(it))
    {
        text.truncate(rest.trim_end().len());
    }
    if text.len() > most {
        text.truncate(haft_text::head(&text, most - '…'.len_utf8()).len());
        text.push('…');
    }
    text
}

/// Returns what a definition says up to a place, without the comments in it.
fn without_comments<'s>(node: Node<'_>, source: &'s str, end: usize) -> Cow<'s, str> {
    let comments = comments(node, end);
    let whole = source.get(node.start_byte()..end).unwrap_or_default();
    if comments.is_empty() {
        return Cow::Borrowed(whole);
    }
    let mut text = String::with_capacity(whole.len());
    let mut at = node.start_byte();
    for comment in comments {
        text.push_str(source.get(at..comment.start).unwrap_or_default());
        text.push(' ');
        at = comment.end;
    }
    text.push_str(source.get(at..end).unwrap_or_default());
    Cow::Owned(text)
}

/// Nodes of a definition that are looked at for comments: more than a line has.
const NODES: usize = 1_000;

/// Finds the comments of a definition up to a place, however deep they stand.
fn comments(node: Node<'_>, end: usize) -> Vec<Range<usize>> {
    let mut comments = Vec::new();
    let mut cursor = node.walk();
    for _ in 0..NODES {
        let part = cursor.node();
        if part.start_byte() >= end {
            break;
        }
        let is_comment = part.is_extra() && part.kind().contains("comment");
        if is_comment {
            comments.push(part.start_byte()..part.end_byte().min(end));
        }
        let mut is_there = !is_comment && cursor.goto_first_child();
        while !is_there {
            is_there = cursor.goto_next_sibling();
            if !is_there && !cursor.goto_parent() {
                return comments;
            }
        }
    }
    comments
}

/// Returns what stands before a place in its line, if those are words and nothing else.
fn words_before(source: &str, start: usize) -> &str {
    const MOST: usize = 80;
    let before = source.get(..start).unwrap_or_default();
    let near = haft_text::tail(before, MOST);
    let line = match near.rsplit_once('\n') {
        Some((_, line)) => line,
        None if near.len() == before.len() => near,
        None => return "",
    };
    let is_words =
        line.chars().all(|char| char.is_alphanumeric() || matches!(char, '_' | ' ' | '\t'));
    if is_words { line } else { "" }
}
