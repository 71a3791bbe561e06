//! Trees as the matcher sees them: one that can be told to stop.
//!
//! Matching looks at children over and over, and nothing else takes long. So that is where the limits are asked; from
//! the word to stop on, no node has children, and matching comes to its end.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;
use std::ops::Range;

use ast_grep_core::matcher::{PatternBuilder, PatternError};
use ast_grep_core::source::{Edit, SgNode};
use ast_grep_core::{Doc, Pattern, Position};
use tree_sitter::{Tree, TreeCursor};

use crate::grammar::Grammar;
use crate::parse::parse;
use crate::{Language, Limits, Span};

pub(super) type Root = ast_grep_core::AstGrep<Parsed>;
type Node<'t> = ast_grep_core::Node<'t, Parsed>;

/// Looks at children between two questions whether to stop.
const LOOKS: u32 = 512;

/// A language, as patterns are written in it.
#[derive(Clone, Copy)]
pub(super) struct Dialect {
    grammar: &'static Grammar,
}

impl Dialect {
    pub(super) fn new(grammar: &'static Grammar) -> Self {
        Self { grammar }
    }

    pub(super) fn grammar(self) -> &'static Grammar {
        self.grammar
    }

    pub(super) fn language(self) -> Language {
        self.grammar.name
    }

    /// Returns the pattern as the grammar can read it. Every character stays one character.
    pub(super) fn readable(self, pattern: &str) -> String {
        use ast_grep_core::Language as _;
        self.pre_process_pattern(pattern).into_owned()
    }
}

impl ast_grep_core::Language for Dialect {
    /// Where `$` belongs into no name, a letter that nobody uses stands in for it.
    fn expando_char(&self) -> char {
        match self.grammar.name {
            Language::C | Language::Cpp => '𐀀',
            Language::Go | Language::Python | Language::Rust => 'µ',
            Language::Java | Language::JavaScript | Language::Tsx | Language::TypeScript => '$',
        }
    }

    /// Replaces `$` where it begins a metavariable.
    fn pre_process_pattern<'q>(&self, pattern: &'q str) -> Cow<'q, str> {
        let stand_in = self.expando_char();
        if stand_in == '$' {
            return Cow::Borrowed(pattern);
        }
        let mut text = String::with_capacity(pattern.len());
        let mut dollars = 0;
        for char in pattern.chars().map(Some).chain([None]) {
            if char == Some('$') {
                dollars += 1;
                continue;
            }
            let begins_name = char.is_some_and(|char| matches!(char, 'A'..='Z' | '_'));
            let sign = if begins_name || dollars == 3 { stand_in } else { '$' };
            text.extend(std::iter::repeat_n(sign, dollars));
            text.extend(char);
            dollars = 0;
        }
        Cow::Owned(text)
    }

    fn kind_to_id(&self, kind: &str) -> u16 {
        self.grammar.language.id_for_node_kind(kind, true)
    }

    fn field_to_id(&self, field: &str) -> Option<u16> {
        self.grammar.language.field_id_for_name(field).map(std::num::NonZero::get)
    }

    fn build_pattern(&self, builder: &PatternBuilder<'_>) -> Result<Pattern, PatternError> {
        builder.build(|text| {
            let limits = Limits::default();
            let tree = parse(self.grammar, text, &limits).map_err(|error| error.to_string())?;
            Ok(Parsed::new(*self, text, tree, &limits))
        })
    }
}

/// A text and its tree.
#[derive(Clone)]
pub(super) struct Parsed {
    dialect: Dialect,
    text: String,
    tree: Tree,
    limits: Limits,
    looks: Cell<u32>,
    is_over: Cell<bool>,
}

impl Parsed {
    pub(super) fn new(dialect: Dialect, text: &str, tree: Tree, limits: &Limits) -> Self {
        Self {
            dialect,
            text: text.to_owned(),
            tree,
            limits: limits.clone(),
            looks: Cell::new(0),
            is_over: Cell::new(false),
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.get()
    }

    /// Counts a look at children, and tells whether there may be no more.
    fn look(&self) -> bool {
        let looks = self.looks.get().wrapping_add(1);
        self.looks.set(looks);
        if looks.is_multiple_of(LOOKS) && (self.limits.is_over)() {
            self.is_over.set(true);
        }
        self.is_over.get()
    }
}

impl Doc for Parsed {
    type Source = String;
    type Lang = Dialect;
    type Node<'r> = Watched<'r>;

    fn get_lang(&self) -> &Dialect {
        &self.dialect
    }

    fn get_source(&self) -> &String {
        &self.text
    }

    fn do_edit(&mut self, _: &Edit<String>) -> Result<(), String> {
        Err("a text is searched and not edited".to_owned())
    }

    fn root_node(&self) -> Watched<'_> {
        Watched { node: self.tree.root_node(), doc: self }
    }

    fn get_node_text<'a>(&'a self, node: &Watched<'a>) -> Cow<'a, str> {
        Cow::Borrowed(self.text.get(node.node.byte_range()).unwrap_or_default())
    }
}

/// A node whose children can be taken away.
#[derive(Clone)]
pub(super) struct Watched<'t> {
    node: tree_sitter::Node<'t>,
    doc: &'t Parsed,
}

impl Watched<'_> {
    /// Returns the smallest node that spans a range.
    pub(super) fn smallest(&self, range: Range<usize>) -> Option<Self> {
        let node = self.node.descendant_for_byte_range(range.start, range.end)?;
        Some(Self { node, doc: self.doc })
    }

    pub(super) fn is_at(&self, range: &Range<usize>) -> bool {
        self.node.byte_range() == *range
    }
}

impl fmt::Debug for Watched<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.node.fmt(f)
    }
}

/// The children of a node.
struct Children<'t> {
    cursor: TreeCursor<'t>,
    doc: &'t Parsed,
    left: usize,
}

impl<'t> Iterator for Children<'t> {
    type Item = Watched<'t>;

    fn next(&mut self) -> Option<Watched<'t>> {
        if self.left == 0 || self.doc.look() {
            self.left = 0;
            return None;
        }
        let node = self.cursor.node();
        self.cursor.goto_next_sibling();
        self.left -= 1;
        Some(Watched { node, doc: self.doc })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Children<'_> {}

/// A node and all that is in it, what is around others first.
struct Everything<'t> {
    cursor: Option<TreeCursor<'t>>,
    doc: &'t Parsed,
}

impl<'t> Iterator for Everything<'t> {
    type Item = Watched<'t>;

    fn next(&mut self) -> Option<Watched<'t>> {
        let cursor = self.cursor.as_mut().filter(|_| !self.doc.look())?;
        let node = cursor.node();
        let mut is_there = cursor.goto_first_child() || cursor.goto_next_sibling();
        while !is_there && cursor.goto_parent() {
            is_there = cursor.goto_next_sibling();
        }
        if !is_there {
            self.cursor = None;
        }
        Some(Watched { node, doc: self.doc })
    }
}

impl<'t> SgNode<'t> for Watched<'t> {
    fn parent(&self) -> Option<Self> {
        self.node.parent().map(|node| Self { node, doc: self.doc })
    }

    fn children(&self) -> impl ExactSizeIterator<Item = Self> {
        let mut cursor = self.node.walk();
        cursor.goto_first_child();
        Children { cursor, doc: self.doc, left: self.node.child_count() as usize }
    }

    fn dfs(&self) -> impl Iterator<Item = Self> {
        Everything { cursor: Some(self.node.walk()), doc: self.doc }
    }

    fn kind(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.node.kind())
    }

    fn kind_id(&self) -> u16 {
        self.node.kind_id()
    }

    fn node_id(&self) -> usize {
        self.node.id()
    }

    fn range(&self) -> Range<usize> {
        self.node.byte_range()
    }

    fn start_pos(&self) -> Position {
        let at = self.node.start_position();
        Position::new(at.row, at.column, self.node.start_byte())
    }

    fn end_pos(&self) -> Position {
        let at = self.node.end_position();
        Position::new(at.row, at.column, self.node.end_byte())
    }

    fn is_named(&self) -> bool {
        self.node.is_named()
    }

    fn is_named_leaf(&self) -> bool {
        self.node.named_child_count() == 0
    }

    fn is_leaf(&self) -> bool {
        self.node.child_count() == 0
    }

    fn is_missing(&self) -> bool {
        self.node.is_missing()
    }

    fn is_error(&self) -> bool {
        self.node.is_error()
    }

    fn is_extra(&self) -> bool {
        self.node.is_extra()
    }

    fn field(&self, name: &str) -> Option<Self> {
        self.node.child_by_field_name(name).map(|node| Self { node, doc: self.doc })
    }

    fn field_children(&self, field: Option<u16>) -> impl Iterator<Item = Self> {
        let doc = self.doc;
        let field = field.and_then(std::num::NonZero::new);
        let mut cursor = self.node.walk();
        let mut is_there = field.is_some() && cursor.goto_first_child();
        std::iter::from_fn(move || {
            while is_there {
                let found = (cursor.field_id() == field).then(|| cursor.node());
                is_there = cursor.goto_next_sibling();
                if let Some(node) = found {
                    return Some(Self { node, doc });
                }
            }
            None
        })
    }

    fn child_by_field_id(&self, field: u16) -> Option<Self> {
        self.node.child_by_field_id(field).map(|node| Self { node, doc: self.doc })
    }
}

/// Returns where the nodes from one to another stand.
pub(super) fn span(first: &Node<'_>, last: &Node<'_>) -> Span {
    Span::between(first.get_inner_node().node, last.get_inner_node().node)
}
