//! What a text defines.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Span;

/// One definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// The name.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// The names of what it stands in, joined by dots; the innermost ones, where it stands very deep.
    pub container: Option<String>,
    /// How many definitions it stands in.
    pub depth: usize,
    /// The whole definition.
    pub span: Span,
    /// The name in it.
    pub name_span: Span,
    /// The definition up to its body, on one line, cut where it is long.
    pub signature: String,
}

impl Symbol {
    /// Returns the name with what it stands in: `Class.method`.
    pub fn qualified(&self) -> String {
        match &self.container {
            Some(container) => format!("{container}.{}", self.name),
            None => self.name.clone(),
        }
    }
}

/// What a definition is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum SymbolKind {
    /// A module or namespace.
    Module,
    /// A class.
    Class,
    /// A structure or record.
    Struct,
    /// A union.
    Union,
    /// An enumeration.
    Enum,
    /// One of the values of an enumeration.
    Variant,
    /// An interface or protocol.
    Interface,
    /// A trait or concept.
    Trait,
    /// What a type does, apart from its definition: `impl` in Rust. It is in outlines and is no definition.
    Impl,
    /// Another name for a type.
    Type,
    /// A function.
    Function,
    /// A function of a type.
    Method,
    /// What makes a value of a type.
    Constructor,
    /// A value held by each value of a type.
    Field,
    /// A value that does not change.
    Constant,
    /// A value of a whole file or type.
    Variable,
    /// A macro.
    Macro,
}

impl SymbolKind {
    /// Every kind.
    pub const ALL: [Self; 17] = [
        Self::Module,
        Self::Class,
        Self::Struct,
        Self::Union,
        Self::Enum,
        Self::Variant,
        Self::Interface,
        Self::Trait,
        Self::Impl,
        Self::Type,
        Self::Function,
        Self::Method,
        Self::Constructor,
        Self::Field,
        Self::Constant,
        Self::Variable,
        Self::Macro,
    ];

    /// Returns the name used in results and in queries.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Module => "module",
            Self::Class => "class",
            Self::Struct => "struct",
            Self::Union => "union",
            Self::Enum => "enum",
            Self::Variant => "variant",
            Self::Interface => "interface",
            Self::Trait => "trait",
            Self::Impl => "impl",
            Self::Type => "type",
            Self::Function => "function",
            Self::Method => "method",
            Self::Constructor => "constructor",
            Self::Field => "field",
            Self::Constant => "constant",
            Self::Variable => "variable",
            Self::Macro => "macro",
        }
    }

    /// Tells whether it is a type or belongs to one, so that functions that stand in it are methods.
    pub(crate) const fn has_methods(self) -> bool {
        matches!(
            self,
            Self::Class
                | Self::Struct
                | Self::Union
                | Self::Enum
                | Self::Variant
                | Self::Interface
                | Self::Trait
                | Self::Impl
        )
    }

    /// Tells whether it is code that is called.
    pub(crate) const fn is_called(self) -> bool {
        matches!(self, Self::Function | Self::Method | Self::Constructor)
    }
}

impl fmt::Display for SymbolKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
