//! Grammars and the queries that go with them.

use std::sync::OnceLock;

use tree_sitter::Query;

use crate::{Language, SyntaxError};

/// A grammar and its queries, which are compiled when they are first needed.
pub(crate) struct Grammar {
    pub(crate) name: Language,
    pub(crate) language: tree_sitter::Language,
    definitions: Source,
    references: Source,
}

/// One query: its text, and what it was compiled to.
struct Source {
    name: &'static str,
    text: &'static [&'static str],
    compiled: OnceLock<Result<Query, String>>,
}

impl Source {
    const fn new(name: &'static str, text: &'static [&'static str]) -> Self {
        Self { name, text, compiled: OnceLock::new() }
    }
}

impl Grammar {
    /// Returns the query that captures definitions.
    pub(crate) fn definitions(&self) -> Result<&Query, SyntaxError> {
        self.query(&self.definitions)
    }

    /// Returns the query that captures uses of names.
    pub(crate) fn references(&self) -> Result<&Query, SyntaxError> {
        self.query(&self.references)
    }

    fn query<'a>(&self, source: &'a Source) -> Result<&'a Query, SyntaxError> {
        let compiled = source.compiled.get_or_init(|| {
            Query::new(&self.language, &source.text.concat()).map_err(|error| error.to_string())
        });
        compiled.as_ref().map_err(|problem| SyntaxError::Grammar {
            language: self.name,
            problem: format!("its query for {}: {problem}", source.name),
        })
    }
}

macro_rules! grammar {
    ($feature:literal, $name:ident, $language:expr, $definitions:expr, $references:expr) => {{
        #[cfg(feature = $feature)]
        {
            static GRAMMAR: OnceLock<Grammar> = OnceLock::new();
            Ok(GRAMMAR.get_or_init(|| Grammar {
                name: Language::$name,
                language: $language.into(),
                definitions: Source::new("definitions", $definitions),
                references: Source::new("references", $references),
            }))
        }
        #[cfg(not(feature = $feature))]
        Err(SyntaxError::LanguageOff { language: Language::$name })
    }};
}

macro_rules! queries {
    ($kind:literal: $($name:literal),+) => {
        &[$(include_str!(concat!("../queries/", $name, "/", $kind, ".scm"))),+]
    };
}

/// Returns the grammar of a language.
///
/// # Errors
///
/// Fails for a language that is not compiled in.
pub(crate) fn grammar(language: Language) -> Result<&'static Grammar, SyntaxError> {
    match language {
        Language::C => grammar!(
            "lang-c",
            C,
            tree_sitter_c::LANGUAGE,
            queries!("definitions": "c"),
            queries!("references": "c")
        ),
        Language::Cpp => grammar!(
            "lang-cpp",
            Cpp,
            tree_sitter_cpp::LANGUAGE,
            queries!("definitions": "c", "cpp"),
            queries!("references": "cpp", "c")
        ),
        Language::Go => grammar!(
            "lang-go",
            Go,
            tree_sitter_go::LANGUAGE,
            queries!("definitions": "go"),
            queries!("references": "go")
        ),
        Language::Java => grammar!(
            "lang-java",
            Java,
            tree_sitter_java::LANGUAGE,
            queries!("definitions": "java"),
            queries!("references": "java")
        ),
        Language::JavaScript => grammar!(
            "lang-javascript",
            JavaScript,
            tree_sitter_javascript::LANGUAGE,
            queries!("definitions": "ecmascript", "javascript"),
            queries!("references": "jsx", "ecmascript")
        ),
        Language::Python => grammar!(
            "lang-python",
            Python,
            tree_sitter_python::LANGUAGE,
            queries!("definitions": "python"),
            queries!("references": "python")
        ),
        Language::Rust => grammar!(
            "lang-rust",
            Rust,
            tree_sitter_rust::LANGUAGE,
            queries!("definitions": "rust"),
            queries!("references": "rust")
        ),
        Language::Tsx => grammar!(
            "lang-typescript",
            Tsx,
            tree_sitter_typescript::LANGUAGE_TSX,
            queries!("definitions": "ecmascript", "typescript"),
            queries!("references": "jsx", "ecmascript", "typescript")
        ),
        Language::TypeScript => grammar!(
            "lang-typescript",
            TypeScript,
            tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
            queries!("definitions": "ecmascript", "typescript"),
            queries!("references": "ecmascript", "typescript")
        ),
    }
}
