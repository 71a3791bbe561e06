//! What a text defines, as it is captured and before it is put into words.

use std::cell::Cell;
use std::cmp::Reverse;
use std::ops::ControlFlow;

use haft_protocol::limits;
use tree_sitter::{Node, Query, QueryCursor, QueryCursorOptions, StreamingIterator, Tree};

use crate::grammar::Grammar;
use crate::{Language, Limits, SymbolKind, SyntaxError};

/// Names shown of what something stands in.
const CONTAINER_NAMES: usize = 8;

/// Bytes shown of one of those names.
const CONTAINER_NAME_BYTES: usize = 80;

/// A definition, as captured.
#[derive(Debug, Clone)]
pub(crate) struct Captured<'t> {
    pub(crate) node: Node<'t>,
    pub(crate) name: Node<'t>,
    pub(crate) kind: SymbolKind,
    /// Where the body begins.
    pub(crate) body: Option<usize>,
    /// The name of what it belongs to, where it does not stand in it.
    owner: Option<Node<'t>>,
    /// Whether it counts outside of functions only.
    is_outer: bool,
    pattern: usize,
}

impl Captured<'_> {
    /// Returns the name as it is written, without quotes, and no more of it than anybody asks for.
    pub(crate) fn text<'s>(&self, source: &'s str) -> &'s str {
        haft_text::head(text_of(self.name, source), limits::SYNTAX_NAME_BYTES)
            .trim_matches(['"', '\''])
    }

    /// Returns the name without what it is qualified with: `area` of `Shape::area`.
    pub(crate) fn short<'s>(&self, source: &'s str) -> &'s str {
        let text = self.text(source);
        split_qualified(text).map_or(text, |(_, name)| name)
    }
}

pub(crate) fn text_of<'s>(node: Node<'_>, source: &'s str) -> &'s str {
    source.get(node.byte_range()).unwrap_or_default()
}

/// Takes `Shape::area` apart at the last `::` that does not stand in angle brackets.
fn split_qualified(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    let at = text.rfind("::operator").or_else(|| {
        text.char_indices().rev().find_map(|(at, char)| {
            match char {
                '>' => depth += 1,
                '<' => depth = depth.saturating_sub(1),
                _ => {}
            }
            let is_split = depth == 0 && text.get(at..)?.starts_with("::");
            is_split.then_some(at)
        })
    })?;
    Some((text.get(..at)?, text.get(at + 2..)?))
}

/// Runs a query over a tree and hands out its matches, each with its pattern's number.
///
/// # Errors
///
/// Fails when the limits say stop.
pub(crate) fn run<'t>(
    query: &Query,
    tree: &'t Tree,
    source: &str,
    limits: &Limits,
    mut each: impl FnMut(usize, &mut dyn Iterator<Item = (u32, Node<'t>)>),
) -> Result<(), SyntaxError> {
    let is_stopped = Cell::new(false);
    let mut progress = |_: &_| {
        if (limits.is_over)() {
            is_stopped.set(true);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    };
    let mut cursor = QueryCursor::new();
    let options = QueryCursorOptions::new().progress_callback(&mut progress);
    let mut matches =
        cursor.matches_with_options(query, tree.root_node(), source.as_bytes(), options);
    while let Some(found) = matches.next() {
        let mut captures = found.captures().iter().map(|capture| (capture.index, capture.node));
        each(found.pattern_index, &mut captures);
    }
    if is_stopped.get() { Err(SyntaxError::Stopped) } else { Ok(()) }
}

/// What a capture of the query for definitions means.
#[derive(Debug, Clone, Copy)]
enum Role {
    Name,
    Container,
    Body,
    Definition { kind: SymbolKind, is_outer: bool },
    Unknown,
}

impl Role {
    fn of(name: &str) -> Self {
        let kind = |name: &str| SymbolKind::ALL.into_iter().find(|kind| kind.as_str() == name);
        match (name, name.split_once('.')) {
            ("name", _) => Self::Name,
            ("container", _) => Self::Container,
            ("body", _) => Self::Body,
            (_, Some(("definition", name))) => {
                kind(name).map_or(Self::Unknown, |kind| Self::Definition { kind, is_outer: false })
            }
            (_, Some(("outer", name))) => {
                kind(name).map_or(Self::Unknown, |kind| Self::Definition { kind, is_outer: true })
            }
            _ => Self::Unknown,
        }
    }
}

/// Captures the definitions of a text, in the order of the text, what holds others before these.
///
/// # Errors
///
/// Fails when the query does not fit the grammar, and when the limits say stop.
pub(crate) fn capture<'t>(
    grammar: &Grammar,
    tree: &'t Tree,
    source: &str,
    limits: &Limits,
) -> Result<Vec<Captured<'t>>, SyntaxError> {
    let query = grammar.definitions()?;
    let roles: Vec<Role> = query.capture_names().iter().map(|name| Role::of(name)).collect();
    let mut captured = Vec::new();
    run(query, tree, source, limits, |pattern, captures| {
        let (mut node, mut name, mut body, mut owner) = (None, None, None, None);
        for (index, found) in captures {
            match roles.get(index as usize) {
                Some(Role::Name) => name = Some(found),
                Some(Role::Container) => owner = Some(found),
                Some(Role::Body) => body = Some(found.start_byte()),
                Some(Role::Definition { kind, is_outer }) => node = Some((found, *kind, *is_outer)),
                Some(Role::Unknown) | None => {}
            }
        }
        if let (Some((node, kind, is_outer)), Some(name)) = (node, name) {
            let body =
                body.or_else(|| node.child_by_field_name("body").map(|body| body.start_byte()));
            captured.push(Captured { node, name, kind, body, owner, is_outer, pattern });
        }
    })?;
    let place = |it: &Captured<'_>| {
        (it.node.start_byte(), Reverse(it.node.end_byte()), it.name.start_byte())
    };
    captured.sort_unstable_by_key(|it| (place(it), it.pattern));
    captured.dedup_by_key(|it| place(it));
    Ok(captured)
}

/// The definitions around a place, while one goes through a text.
pub(crate) struct Surroundings<'c, 't> {
    language: Language,
    source: &'c str,
    around: Vec<&'c Captured<'t>>,
    /// How many of them are code that is called.
    called: usize,
}

impl<'c, 't> Surroundings<'c, 't> {
    pub(crate) fn new(language: Language, source: &'c str) -> Self {
        Self { language, source, around: Vec::new(), called: 0 }
    }

    /// Leaves what ends before a place.
    pub(crate) fn go_to(&mut self, start: usize) {
        self.leave_while(|last| last.node.end_byte() <= start);
    }

    /// Goes on to a definition. Tells whether it counts.
    pub(crate) fn enter(&mut self, next: &'c Captured<'t>) -> bool {
        self.go_to(next.node.start_byte());
        // What has the same place stands beside it, as in `int a, b;`.
        self.leave_while(|last| last.node.byte_range() == next.node.byte_range());
        if next.is_outer && self.called > 0 {
            return false;
        }
        self.around.push(next);
        self.called += usize::from(next.kind.is_called());
        true
    }

    fn leave_while(&mut self, is_left: impl Fn(&Captured<'_>) -> bool) {
        while let Some(last) = self.around.pop_if(|last| is_left(last)) {
            self.called -= usize::from(last.kind.is_called());
        }
    }

    /// Returns how many definitions are around the last one that was entered.
    pub(crate) fn depth(&self) -> usize {
        self.around.len().saturating_sub(1)
    }

    /// Returns the kind of the last one that was entered, as what is around it makes it.
    pub(crate) fn kind(&self) -> SymbolKind {
        let Some((last, around)) = self.around.split_last() else { return SymbolKind::Variable };
        let holder = around.last();
        if !matches!(last.kind, SymbolKind::Function | SymbolKind::Method) {
            return last.kind;
        }
        let qualified = split_qualified(last.text(self.source)).map(|(owner, _)| owner);
        let owner = qualified.or_else(|| holder.map(|it| it.short(self.source)));
        let is_named_like_owner = owner
            .and_then(|owner| owner.rsplit("::").next())
            .is_some_and(|owner| without_arguments(owner) == last.short(self.source));
        let is_method =
            qualified.is_some() || holder.is_some_and(|holder| holder.kind.has_methods());
        match last.kind {
            _ if is_method && is_named_like_owner && self.language == Language::Cpp => {
                SymbolKind::Constructor
            }
            SymbolKind::Function if is_method => SymbolKind::Method,
            kind => kind,
        }
    }

    /// Returns the names of what is around the last one that was entered, joined by dots.
    pub(crate) fn container(&self) -> Option<String> {
        let (last, around) = self.around.split_last()?;
        let own = last.owner.map(|owner| text_of(owner, self.source));
        let qualified = split_qualified(last.text(self.source)).map(|(owner, _)| owner);
        self.joined(around, own.or(qualified))
    }

    /// Returns the names of everything around a place, joined by dots.
    pub(crate) fn names(&self) -> Option<String> {
        let last = self.around.last()?;
        let container = self.container();
        let name = cut(last.short(self.source));
        Some(container.map_or_else(|| name.to_owned(), |container| format!("{container}.{name}")))
    }

    fn joined(&self, around: &[&Captured<'_>], owner: Option<&str>) -> Option<String> {
        let from = around.len().saturating_sub(CONTAINER_NAMES);
        let mut names: Vec<String> = Vec::new();
        for it in around.get(from..).unwrap_or_default() {
            names.extend(parts(it.text(self.source)));
        }
        names.extend(owner.into_iter().flat_map(parts));
        if from > 0 {
            names.insert(0, "…".to_owned());
        }
        (!names.is_empty()).then(|| names.join("."))
    }
}

/// Returns the parts of a qualified name, each without its type arguments and cut where it is long.
fn parts(name: &str) -> Vec<String> {
    without_arguments(name)
        .split("::")
        .take(CONTAINER_NAMES)
        .map(|part| cut(part.trim()).to_owned())
        .collect()
}

fn without_arguments(name: &str) -> String {
    let mut depth = 0_usize;
    name.chars()
        .filter(|char| {
            match char {
                '<' => depth += 1,
                '>' => {
                    depth = depth.saturating_sub(1);
                    return false;
                }
                _ => {}
            }
            depth == 0
        })
        .collect()
}

fn cut(name: &str) -> &str {
    haft_text::head(name, CONTAINER_NAME_BYTES)
}
