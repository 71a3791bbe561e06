//! The sources, and how what is found in them is written down.

use haft_syntax::{Found, Language, Limits, Reference, Symbol, definitions, outline, references};

/// Returns a source with about the same things in it in every language.
pub(crate) fn source(language: Language) -> &'static str {
    match language {
        Language::C => include_str!("sources/shapes.c"),
        Language::Cpp => include_str!("sources/shapes.cpp"),
        Language::Go => include_str!("sources/shapes.go"),
        Language::Java => include_str!("sources/Shapes.java"),
        Language::JavaScript => include_str!("sources/shapes.js"),
        Language::Python => include_str!("sources/shapes.py"),
        Language::Rust => include_str!("sources/shapes.rs"),
        Language::Tsx => include_str!("sources/view.tsx"),
        Language::TypeScript => include_str!("sources/shapes.ts"),
    }
}

fn written(found: &Found<Symbol>) -> String {
    assert!(!found.has_errors, "the source breaks the grammar");
    let row = |symbol: &Symbol| {
        let (from, to) = (symbol.span.line, symbol.span.last_line);
        let lines = if from == to { from.to_string() } else { format!("{from}-{to}") };
        let (kind, name) = (symbol.kind, symbol.qualified());
        format!("{:>2$}{lines} {kind} {name} | {}", "", symbol.signature, symbol.depth * 2)
    };
    found.items.iter().map(row).collect::<Vec<_>>().join("\n")
}

pub(crate) fn outlined(language: Language) -> String {
    written(&outline(language, source(language), &Limits::default()).unwrap())
}

pub(crate) fn defined(language: Language, name: &str) -> String {
    written(&definitions(language, source(language), name, &Limits::default()).unwrap())
}

pub(crate) fn used(language: Language, name: &str) -> String {
    let text = source(language);
    let found = references(language, text, name, &Limits::default()).unwrap();
    let row = |used: &Reference| {
        assert_eq!(text.get(used.span.bytes.clone()), Some(name));
        let (line, column, kind) = (used.span.line, used.span.column, used.kind.as_str());
        let place = used.container.as_deref().map_or(String::new(), |it| format!(" in {it}"));
        format!("{line}:{column} {kind}{place} | {}", text.lines().nth(line - 1).unwrap().trim())
    };
    found.items.iter().map(row).collect::<Vec<_>>().join("\n")
}
