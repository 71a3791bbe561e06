//! Patterns: code with metavariables in it, and what looks like it.

mod check;
mod context;
mod doc;

use ast_grep_core::Pattern as Matching;
use ast_grep_core::matcher::MatcherExt;
use ast_grep_core::meta_var::{MetaVarEnv, MetaVariable};
use haft_protocol::limits;

use crate::grammar::grammar;
use crate::parse::{depth, parse};
use crate::{Found, Language, Limits, Span, SyntaxError};

use doc::{Dialect, Parsed, Root};

/// Code with metavariables in it: `$NAME` stands for one piece of syntax, `$$$NAMES` for any number of them.
///
/// A metavariable is written in capitals. One that stands twice stands for the same thing twice; `$_` and `$$$` stand for
/// anything and keep no name. Blank space and comments in the text do not count.
#[derive(Debug, Clone)]
pub struct Pattern {
    language: Language,
    matching: Matching,
    /// Whether a name stands for the same thing in two places.
    repeats: bool,
}

/// What looks like a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternMatch {
    /// Where it stands.
    pub span: Span,
    /// What the metavariables stand for, by name.
    pub variables: Vec<Variable>,
}

/// What a metavariable stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// The name, without `$`.
    pub name: String,
    /// From the first to the last piece; nothing, where `$$$` stands for nothing.
    pub span: Option<Span>,
}

impl Variable {
    /// Returns what it stands for, out of the text that was searched.
    pub fn text<'s>(&self, text: &'s str) -> &'s str {
        let bytes = self.span.as_ref().map(|span| span.bytes.clone());
        bytes.and_then(|bytes| text.get(bytes)).unwrap_or_default()
    }
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    ///
    /// Fails for a language that is off, and for a pattern that is not one piece of code in this language, saying where
    /// it breaks off.
    pub fn compile(language: Language, text: &str) -> Result<Self, SyntaxError> {
        let dialect = Dialect::new(grammar(language)?);
        check::size(text)?;
        let matching = context::read(dialect, text)?;
        check::affordable(&matching, text)?;
        let repeats = check::repeats(&matching);
        Ok(Self { language, matching, repeats })
    }

    /// Returns the language.
    pub fn language(&self) -> Language {
        self.language
    }

    /// Returns a text that every match holds; empty, where there is none to tell.
    ///
    /// A text without it need not be parsed.
    pub fn needle(&self) -> String {
        self.matching.fixed_string().into_owned()
    }

    /// Returns what looks like the pattern, in the order of the text, matches within matches too.
    ///
    /// # Errors
    ///
    /// Fails for a text that is too large, or too deep for a pattern that names the same thing twice, and when the
    /// limits say stop.
    pub fn matches(&self, text: &str, limits: &Limits) -> Result<Found<PatternMatch>, SyntaxError> {
        let grammar = grammar(self.language)?;
        let tree = parse(grammar, text, limits)?;
        let most = limits::SYNTAX_COMPARED_DEPTH;
        if self.repeats && depth(&tree, most) > most {
            return Err(SyntaxError::TooDeep { most });
        }
        let has_errors = tree.root_node().has_error();
        let root = Root::doc(Parsed::new(Dialect::new(grammar), text, tree, limits));
        let mut found = Found::new(has_errors);
        let kinds = ast_grep_core::Matcher::potential_kinds(&self.matching);
        let begin = root.root();
        // What a parser puts in for what is missing matches too, and stands nowhere.
        let needle = self.matching.fixed_string();
        let stands = |span: &Span| {
            text.get(span.bytes.clone()).is_some_and(|there| there.contains(&*needle))
        };
        for node in begin.dfs() {
            let is_likely =
                kinds.as_ref().is_none_or(|kinds| kinds.contains(usize::from(node.kind_id())));
            if is_likely && let Some(matched) = self.matching.match_node(node) {
                let span = doc::span(matched.get_node(), matched.get_node());
                if stands(&span) {
                    let variables = || variables(matched.get_env());
                    found.offer(limits.items, || PatternMatch { span, variables: variables() });
                }
            }
        }
        // What was matched after the word to stop was matched against less than there is.
        if begin.get_doc().is_over() { Err(SyntaxError::Stopped) } else { Ok(found) }
    }
}

fn variables(env: &MetaVarEnv<'_, Parsed>) -> Vec<Variable> {
    let mut variables: Vec<Variable> = env
        .get_matched_variables()
        .filter_map(|variable| match variable {
            MetaVariable::Capture(name, _) => {
                let node = env.get_match(&name)?;
                Some(Variable { name, span: Some(doc::span(node, node)) })
            }
            MetaVariable::MultiCapture(name) => {
                let nodes = env.get_multiple_matches(&name);
                let ends = nodes.first().zip(nodes.last());
                Some(Variable { name, span: ends.map(|(first, last)| doc::span(first, last)) })
            }
            MetaVariable::Dropped(_) | MetaVariable::Multiple => None,
        })
        .collect();
    variables.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    variables
}
