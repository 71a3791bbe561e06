//! Where a pattern may stand, so that a grammar can read it.
//!
//! Most patterns are read as they are, as the beginning of a file. An expression of Rust or a method of TypeScript is no
//! beginning of a file; such a pattern is read within what may stand around it, and what stands around it is left away.

use ast_grep_core::Pattern;
use tree_sitter::Tree;

use super::check::{self, Problem};
use super::doc::{Dialect, Parsed, Root};
use crate::parse::parse;
use crate::{Language, Limits, SyntaxError};

/// What stands before and after a pattern.
type Around = (&'static str, &'static str);

const ALONE: Around = ("", "");

/// Returns what may stand around a pattern, in the order in which it is tried.
const fn around(language: Language) -> &'static [Around] {
    match language {
        // A call that stands alone in a file is read as a declaration; within a function both mean what they say.
        Language::C => &[("void f(void) { ", "; }"), ALONE, ("struct s { ", " };"), ("", " x;")],
        Language::Cpp => &[("void f() { ", "; }"), ALONE, ("class c { ", " };"), ("", " x;")],
        Language::Go => &[
            ALONE,
            ("package p\nfunc f() { ", " }"),
            ("package p\nfunc f() { _ = ", " }"),
            ("package p\ntype t struct { ", " }"),
            ("package p\ntype t interface { ", " }"),
            ("package p\nvar x ", ""),
        ],
        Language::Java => &[
            ALONE,
            ("class C { void f() { ", " } }"),
            ("class C { void f() { ", "; } }"),
            ("class C { ", " }"),
            ("class C { ", " x; }"),
        ],
        Language::JavaScript => &[ALONE, ("(", ")"), ("class C { ", " }"), ("({ ", " })")],
        Language::Python => &[ALONE, ("try:\n  pass\n", ""), ("if x:\n  pass\n", "")],
        Language::Rust => &[
            ALONE,
            ("fn f() { ", " }"),
            ("fn f() { ", "; }"),
            ("type T = ", ";"),
            ("impl T { ", " }"),
            ("trait T { ", " }"),
            ("struct S { ", " }"),
            ("fn f() { match x { ", " } }"),
        ],
        Language::Tsx | Language::TypeScript => &[
            ALONE,
            ("(", ")"),
            ("type T = ", ";"),
            ("class C { ", " }"),
            ("interface I { ", " }"),
            ("({ ", " })"),
        ],
    }
}

/// Reads a pattern where it can be read.
///
/// # Errors
///
/// Fails for a pattern that breaks the grammar wherever it stands, with what breaks it where it stands alone.
pub(super) fn read(dialect: Dialect, pattern: &str) -> Result<Pattern, SyntaxError> {
    let limits = Limits::default();
    let text = dialect.readable(pattern);
    let text = text.trim();
    for (before, after) in around(dialect.language()) {
        if (*before, *after) == ALONE {
            let tree = parse(dialect.grammar(), text, &limits)?;
            check::depth_of(&tree, pattern)?;
            if check::first_problem(&tree, text).is_none() {
                let found = Pattern::try_new(pattern.trim(), dialect)
                    .map_err(|error| check::not_single(dialect.language(), pattern, &error))?;
                return check::stands_for_one(found, pattern);
            }
            continue;
        }
        let whole = [*before, text, *after].concat();
        let tree = parse(dialect.grammar(), &whole, &limits)?;
        check::depth_of(&tree, pattern)?;
        if check::first_problem(&tree, &whole).is_none()
            && let Some(found) =
                within(dialect, &whole, tree, before.len()..before.len() + text.len())
        {
            return check::stands_for_one(found, pattern);
        }
    }
    Err(broken(dialect, pattern, text))
}

/// Takes a pattern out of what stands around it, where it is one piece there.
fn within(
    dialect: Dialect,
    whole: &str,
    tree: Tree,
    at: std::ops::Range<usize>,
) -> Option<Pattern> {
    let root = Root::doc(Parsed::new(dialect, whole, tree, &Limits::default()));
    let begin = root.root().get_inner_node();
    let node = begin.smallest(at.clone()).filter(|node| node.is_at(&at))?;
    Some(Pattern::from(root.adopt(node)))
}

fn broken(dialect: Dialect, pattern: &str, text: &str) -> SyntaxError {
    let alone = parse(dialect.grammar(), text, &Limits::default());
    let problem = check::unbalanced(text)
        .or_else(|| alone.ok().and_then(|tree| check::first_problem(&tree, text)));
    // Where it can be read alone and is not, it is more than one piece.
    let Problem { at, problem } = problem.unwrap_or_else(|| Problem {
        at: 0,
        problem: "it is not one expression, statement or definition".to_owned(),
    });
    let before = text.get(..at).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    SyntaxError::BrokenPattern {
        pattern: check::shown(pattern),
        language: dialect.language(),
        line: before.matches('\n').count() + 1,
        // A stand-in may have more bytes than what it stands for, and is one character too.
        column: before.get(line_start..).unwrap_or_default().chars().count() + 1,
        problem,
    }
}
