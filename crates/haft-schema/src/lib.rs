//! A tool's contract in JSON Schema: derive, check, repair, narrow, and lower to what providers take.
//!
//! A [`Contract`] says what a tool's arguments or its output must look like. It is [derived](Contract::of) from a Rust
//! type or [admitted](Contract::foreign) from elsewhere, compiled once, and never changes. Arguments from a model pass it
//! in two steps: [`Contract::decode`] reads them and repairs near misses, [`Contract::normalise`] puts defaults in
//! place and checks them. What is wrong comes back as text that a model can act on.
//!
//! ```
//! use haft_schema::{Contract, Reading};
//! use serde_json::json;
//!
//! let contract = Contract::foreign(json!({
//!     "type": "object",
//!     "properties": {
//!         "pattern": {"type": "string"},
//!         "paths": {"type": "array", "items": {"type": "string"}, "default": ["."]},
//!     },
//!     "required": ["pattern"],
//!     "additionalProperties": false,
//! }))?;
//!
//! let decoded = contract.decode(r#"{"pattern": "\d+", "paths": "[\"src\"]",}"#.into(), Reading::default())?;
//! let repairs: Vec<String> = decoded.repairs.iter().map(ToString::to_string).collect();
//! assert_eq!(repairs, [
//!     "/pattern: took 1 lone backslash as written",
//!     "arguments: dropped a trailing comma",
//!     "/paths: read a text as an array",
//! ]);
//! let normalised = contract.normalise(decoded.arguments)?;
//! assert_eq!(normalised.arguments["pattern"], r"\d+");
//! assert_eq!(normalised.arguments["paths"], json!(["src"]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Providers take less of JSON Schema than contracts say: [`dialect`] brings a schema into what one takes.
//!
//! A schema from elsewhere may be hostile. It is measured before it is compiled, its patterns run in linear time, its
//! references may not leave it or multiply, and nothing is ever fetched. Arguments may be hostile too: their size and
//! depth are bounded, and so is the work of checking them.
//!
//! Not here: who may call a tool (`haft-policy`), the path of a call (`haft-tool`).

mod complete;
mod contract;
mod contracts;
mod decode;
mod derive;
mod describe;
pub mod dialect;
mod engine;
mod error;
mod explain;
mod foreign;
mod keywords;
mod lookup;
mod measure;
mod plain;
mod pointer;
mod problem;
mod repair;
#[doc(hidden)]
pub mod suite;
mod survey;
mod view;
mod words;

pub use contract::{Contract, Normalised, Tag, Unchecked};
pub use contracts::Contracts;
pub use decode::{DecodeError, Decoded, Ending, Extra, Reading};
pub use error::SchemaError;
pub use problem::{Problem, Problems, Rule};
pub use repair::{Repair, RepairKind};
