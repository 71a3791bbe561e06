//! Outlines and definitions.

use crate::definitions::{self, Captured, Surroundings};
use crate::grammar::grammar;
use crate::parse::parse;
use crate::signature::signature;
use crate::{Found, Language, Limits, Span, Symbol, SymbolKind, SyntaxError};

/// Returns what a text defines, and in Rust its `impl` blocks, in the order of the text.
///
/// # Errors
///
/// Fails for a language that is off, a text that is too large, and when the limits say stop.
pub fn outline(
    language: Language,
    text: &str,
    limits: &Limits,
) -> Result<Found<Symbol>, SyntaxError> {
    symbols(language, text, limits, |_, _| true)
}

/// Returns the definitions of a name: `area`, or with what it stands in `Shape.area` or `Shape::area`.
///
/// # Errors
///
/// Fails like [`outline`].
pub fn definitions(
    language: Language,
    text: &str,
    name: &str,
    limits: &Limits,
) -> Result<Found<Symbol>, SyntaxError> {
    let Wanted { owner, name } = Wanted::of(name);
    let is_of_owner = |container: String| {
        let rest = container.strip_suffix(owner.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    symbols(language, text, limits, |captured, surroundings| {
        captured.kind != SymbolKind::Impl
            && captured.short(text) == name
            && (owner.is_empty() || surroundings.container().is_some_and(is_of_owner))
    })
}

/// A name as somebody asks for it.
pub(crate) struct Wanted<'n> {
    /// What it stands in, with dots; empty where anything will do.
    pub(crate) owner: String,
    pub(crate) name: &'n str,
}

impl<'n> Wanted<'n> {
    /// Takes `Shape.area`, `Shape::area` and `Shape#area` apart.
    pub(crate) fn of(given: &'n str) -> Self {
        let last = |separator: &str| given.rfind(separator).map(|at| (at, at + separator.len()));
        let split = ["::", ".", "#"].into_iter().filter_map(last).max_by_key(|(_, after)| *after);
        // `#name` is a private name of JavaScript.
        let split = split.filter(|(at, after)| *at > 0 && *after < given.len());
        let Some((at, after)) = split else { return Self { owner: String::new(), name: given } };
        let owner = given.get(..at).unwrap_or_default().replace("::", ".").replace('#', ".");
        Self { owner, name: given.get(after..).unwrap_or_default() }
    }
}

fn symbols(
    language: Language,
    text: &str,
    limits: &Limits,
    is_wanted: impl Fn(&Captured<'_>, &Surroundings<'_, '_>) -> bool,
) -> Result<Found<Symbol>, SyntaxError> {
    let grammar = grammar(language)?;
    let tree = parse(grammar, text, limits)?;
    let captured = definitions::capture(grammar, &tree, text, limits)?;
    let mut found = Found::new(tree.root_node().has_error());
    let mut surroundings = Surroundings::new(language, text);
    for (number, next) in captured.iter().enumerate() {
        if number % 256 == 0 && (limits.is_over)() {
            return Err(SyntaxError::Stopped);
        }
        if surroundings.enter(next) && is_wanted(next, &surroundings) {
            found.offer(limits.items, || symbol(next, &surroundings, text));
        }
    }
    Ok(found)
}

fn symbol(captured: &Captured<'_>, surroundings: &Surroundings<'_, '_>, text: &str) -> Symbol {
    let kind = surroundings.kind();
    Symbol {
        name: captured.short(text).to_owned(),
        kind,
        container: surroundings.container(),
        depth: surroundings.depth(),
        span: Span::of(captured.node).without_line_end(text),
        name_span: Span::of(captured.name),
        signature: signature(captured, kind, text),
    }
}
