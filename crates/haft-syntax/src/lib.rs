//! Syntax of source code: what a file defines, where a name is used, and what looks like a pattern.
//!
//! Pure functions over a [`Language`] and a text. Nothing is resolved across files and nothing is run: an answer is what
//! the grammar shows, so two things of one name are not told apart.
//!
//! ```
//! use haft_syntax::{Language, Limits, Pattern, outline};
//!
//! let text = "class Shape:\n    def area(self) -> float:\n        return side(self) ** 2\n";
//! let shown = outline(Language::Python, text, &Limits::default())?;
//! let names: Vec<_> = shown.items.iter().map(|symbol| symbol.qualified()).collect();
//! assert_eq!(names, ["Shape", "Shape.area"]);
//!
//! let pattern = Pattern::compile(Language::Python, "side($OF)")?;
//! let found = pattern.matches(text, &Limits::default())?;
//! assert_eq!(found.items[0].variables[0].text(text), "self");
//! # Ok::<(), haft_syntax::SyntaxError>(())
//! ```
//!
//! Every function takes [`Limits`]: how large a text may be, how much is kept, and when to stop. A text may come from
//! anywhere; however it is nested, the stack does not grow with it.
//!
//! Not here: opening files (`haft-workspace`), the tools (`haft-coding`), and anything that needs a compiler or a
//! language server.

mod definitions;
mod error;
mod grammar;
mod language;
mod limits;
mod outline;
mod parse;
mod pattern;
mod references;
mod signature;
mod span;
mod symbol;

pub use error::SyntaxError;
pub use language::{Language, UnknownLanguage};
pub use limits::{Found, Limits};
pub use outline::{definitions, outline};
pub use pattern::{Pattern, PatternMatch, Variable};
pub use references::{Reference, ReferenceKind, references};
pub use span::Span;
pub use symbol::{Symbol, SymbolKind};
