//! The closed list of languages.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A language, by its grammar.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// C: `.c`, `.h`.
    C,
    /// C++: `.cc`, `.cpp`, `.cxx`, `.hpp` and their like.
    Cpp,
    /// Go: `.go`.
    Go,
    /// Java: `.java`.
    Java,
    /// JavaScript, JSX too: `.js`, `.jsx`, `.mjs`, `.cjs`.
    #[serde(rename = "javascript")]
    JavaScript,
    /// Python: `.py`, `.pyi`.
    Python,
    /// Rust: `.rs`.
    Rust,
    /// TypeScript with JSX: `.tsx`.
    Tsx,
    /// TypeScript: `.ts`, `.mts`, `.cts`.
    #[serde(rename = "typescript")]
    TypeScript,
}

/// A name that no language has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is no language that is known here; there are {}", known())]
pub struct UnknownLanguage {
    /// The name as it was given.
    pub given: String,
}

fn known() -> String {
    Language::ALL.map(Language::as_str).join(", ")
}

impl Language {
    /// Every language.
    pub const ALL: [Self; 9] = [
        Self::C,
        Self::Cpp,
        Self::Go,
        Self::Java,
        Self::JavaScript,
        Self::Python,
        Self::Rust,
        Self::Tsx,
        Self::TypeScript,
    ];

    /// Returns the name used in arguments and results.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::Cpp => "cpp",
            Self::Go => "go",
            Self::Java => "java",
            Self::JavaScript => "javascript",
            Self::Python => "python",
            Self::Rust => "rust",
            Self::Tsx => "tsx",
            Self::TypeScript => "typescript",
        }
    }

    /// Returns the name people write.
    pub const fn title(self) -> &'static str {
        match self {
            Self::C => "C",
            Self::Cpp => "C++",
            Self::Go => "Go",
            Self::Java => "Java",
            Self::JavaScript => "JavaScript",
            Self::Python => "Python",
            Self::Rust => "Rust",
            Self::Tsx => "TypeScript with JSX",
            Self::TypeScript => "TypeScript",
        }
    }

    /// Returns the ends of file names, without the dot. No two languages share one.
    pub const fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::C => &["c", "h"],
            Self::Cpp => &["cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "cu", "ino"],
            Self::Go => &["go"],
            Self::Java => &["java"],
            Self::JavaScript => &["js", "jsx", "mjs", "cjs"],
            Self::Python => &["py", "pyi", "py3", "bzl", "bazel"],
            Self::Rust => &["rs"],
            Self::Tsx => &["tsx"],
            Self::TypeScript => &["ts", "mts", "cts"],
        }
    }

    /// Returns the language of a file by the end of its name.
    pub fn of_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?;
        Self::ALL.into_iter().find(|language| language.extensions().contains(&extension))
    }

    /// Tells whether the grammar is compiled in.
    pub fn is_on(self) -> bool {
        crate::grammar::grammar(self).is_ok()
    }

    /// Returns the feature of this crate that brings the grammar.
    pub const fn feature(self) -> &'static str {
        match self {
            Self::C => "lang-c",
            Self::Cpp => "lang-cpp",
            Self::Go => "lang-go",
            Self::Java => "lang-java",
            Self::JavaScript => "lang-javascript",
            Self::Python => "lang-python",
            Self::Rust => "lang-rust",
            Self::Tsx | Self::TypeScript => "lang-typescript",
        }
    }

    const fn aliases(self) -> &'static [&'static str] {
        match self {
            Self::Cpp => &["c++", "cc", "cxx"],
            Self::Go => &["golang"],
            Self::JavaScript => &["js", "jsx"],
            Self::Python => &["py"],
            Self::Rust => &["rs"],
            Self::TypeScript => &["ts"],
            Self::C | Self::Java | Self::Tsx => &[],
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Language {
    type Err = UnknownLanguage;

    fn from_str(given: &str) -> Result<Self, UnknownLanguage> {
        let is_named = |name: &&str| name.eq_ignore_ascii_case(given);
        Self::ALL
            .into_iter()
            .find(|language| {
                is_named(&language.as_str()) || language.aliases().iter().any(is_named)
            })
            .ok_or_else(|| UnknownLanguage { given: given.chars().take(40).collect() })
    }
}
