//! Where a name is used.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tree_sitter::{Node, Tree};

use crate::definitions::{self, Surroundings, text_of};
use crate::grammar::{Grammar, grammar};
use crate::outline::Wanted;
use crate::parse::parse;
use crate::{Found, Language, Limits, Span, SymbolKind, SyntaxError};

/// One use of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// How the name is used.
    pub kind: ReferenceKind,
    /// The names of the definitions it stands in, joined by dots.
    pub container: Option<String>,
    /// The name.
    pub span: Span,
}

/// How a name is used.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ReferenceKind {
    /// It is called, made or applied.
    Call,
    /// It stands for a type.
    Type,
    /// It is imported or exported.
    Import,
    /// Anything else: read, written, passed on.
    Name,
}

impl ReferenceKind {
    const ALL: [Self; 4] = [Self::Call, Self::Type, Self::Import, Self::Name];

    /// Returns the name used in results and in queries.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Type => "type",
            Self::Import => "import",
            Self::Name => "name",
        }
    }
}

/// Returns where a name is used, apart from its definitions, in the order of the text.
///
/// Uses are found by the name alone: of `Shape.area` every use of `area`.
///
/// # Errors
///
/// Fails for a language that is off, a text that is too large, and when the limits say stop.
pub fn references(
    language: Language,
    text: &str,
    name: &str,
    limits: &Limits,
) -> Result<Found<Reference>, SyntaxError> {
    let grammar = grammar(language)?;
    let tree = parse(grammar, text, limits)?;
    let captured = definitions::capture(grammar, &tree, text, limits)?;
    let used = uses(grammar, &tree, text, Wanted::of(name).name, limits)?;

    let mut found = Found::new(tree.root_node().has_error());
    let mut surroundings = Surroundings::new(language, text);
    // Where names of definitions end: a qualified one ends with the name alone.
    let mut defined = HashSet::new();
    let mut ahead = captured.iter().peekable();
    for (node, kind) in used {
        while let Some(next) = ahead.next_if(|it| it.node.start_byte() <= node.start_byte()) {
            if surroundings.enter(next) && next.kind != SymbolKind::Impl {
                defined.insert(next.name.end_byte());
            }
        }
        surroundings.go_to(node.start_byte());
        if !defined.contains(&node.end_byte()) {
            found.offer(limits.items, || Reference {
                kind,
                container: surroundings.names(),
                span: Span::of(node),
            });
        }
    }
    Ok(found)
}

/// Captures the uses of a name, definitions among them, in the order of the text.
fn uses<'t>(
    grammar: &Grammar,
    tree: &'t Tree,
    text: &str,
    name: &str,
    limits: &Limits,
) -> Result<Vec<(Node<'t>, ReferenceKind)>, SyntaxError> {
    let query = grammar.references()?;
    let kind_of = |capture: &&str| {
        let kind = capture.strip_prefix("reference.")?;
        ReferenceKind::ALL.into_iter().find(|it| it.as_str() == kind)
    };
    let kinds: Vec<_> = query.capture_names().iter().map(kind_of).collect();
    let mut used = Vec::new();
    definitions::run(query, tree, text, limits, |pattern, captures| {
        for (index, node) in captures {
            let kind = kinds.get(index as usize).copied().flatten();
            if let Some(kind) = kind.filter(|_| text_of(node, text) == name) {
                used.push((node, pattern, kind));
            }
        }
    })?;
    used.sort_unstable_by_key(|(node, pattern, _)| (node.start_byte(), *pattern));
    used.dedup_by_key(|(node, ..)| node.start_byte());
    Ok(used.into_iter().map(|(node, _, kind)| (node, kind)).collect())
}
