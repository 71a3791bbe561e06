//! Schemas in the dialects that providers take.
//!
//! Each provider takes another part of JSON Schema. [`lower`] brings a schema into one of them, says what was lost, and
//! gives the way back for arguments whose shape had to change. What a dialect cannot say is said in a description: the
//! contract checks it all the same.
//!
//! ```
//! use haft_schema::dialect::{Dialect, lower};
//! use serde_json::json;
//!
//! let schema = json!({
//!     "type": "object",
//!     "properties": {
//!         "path": {"type": "string", "maxLength": 100},
//!         "env": {"type": "object", "additionalProperties": {"type": "string"}},
//!     },
//!     "required": ["path"],
//!     "additionalProperties": false,
//! });
//! let lowered = lower(&schema, Dialect::OpenAiStrict);
//! assert_eq!(lowered.schema["required"], json!(["path", "env"]));
//! assert_eq!(lowered.schema["properties"]["path"]["description"], "at most 100 characters");
//!
//! let said = json!({"path": "a", "env": [{"key": "HOME", "value": "/root"}]});
//! assert_eq!(lowered.inverse.apply(said)?, json!({"path": "a", "env": {"HOME": "/root"}}));
//! let said = json!({"path": "a", "env": null});
//! assert_eq!(lowered.inverse.apply(said)?, json!({"path": "a"}));
//! # Ok::<(), haft_schema::dialect::InverseError>(())
//! ```

mod inverse;
mod join;
mod narrow;
mod objects;
mod shape;
mod table;
#[cfg(test)]
mod tests;
mod trim;
mod unions;
mod weight;
mod wording;

use haft_protocol::limits::ARGUMENTS_DEPTH;
use serde_json::{Value, json};

use crate::measure::Measure;
use crate::pointer;
use inverse::Undo;
pub use inverse::{Inverse, InverseError};
pub use table::{Dialect, Feature, Row, TABLE, Treatment};
pub use weight::{Weight, choose_strict};

/// A schema in a dialect.
#[derive(Debug, Clone)]
pub struct Lowered {
    /// The schema, of an object.
    pub schema: Value,
    /// What the dialect could not say, or only otherwise. Empty where the schema means the same.
    pub losses: Vec<Loss>,
    /// The way back for arguments.
    pub inverse: Inverse,
    /// What it takes of what a provider allows for all tools of a request.
    pub weight: Weight,
    /// Whether what a model writes fits it for sure.
    pub is_strict: bool,
}

/// Something that a dialect could not say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Where, as a JSON Pointer into the schema.
    pub pointer: String,
    /// The keyword it was said with, or a few words where it is about several.
    pub what: &'static str,
    /// What became of it.
    pub kind: LossKind,
}

/// What became of something that a dialect could not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossKind {
    /// The description says it.
    Described,
    /// Nothing says it any more; the contract still checks it.
    Dropped,
    /// It is said in another shape, and the inverse brings arguments back.
    Rewritten,
}

/// Brings a schema into a dialect.
///
/// The schema is one that a contract has: draft 2020-12, with an object at its root, within bounds. Of any other JSON comes
/// some schema of an object all the same.
pub fn lower(schema: &Value, dialect: Dialect) -> Lowered {
    let (schema, undo, definitions, losses) = if Measure::of(schema).depth > ARGUMENTS_DEPTH {
        let losses = vec![Loss::at("", "everything", LossKind::Dropped)];
        (json!({"type": "object"}), Undo::Same, Vec::new(), losses)
    } else if dialect.is_narrow() {
        narrow::lower(schema, dialect)
    } else {
        let (schema, undo, losses) = trim::lower(schema, dialect);
        (schema, undo, Vec::new(), losses)
    };
    let weight = Weight::of(&schema);
    let is_strict = dialect.strict() == Some(dialect);
    Lowered { schema, losses, inverse: Inverse::new(undo, definitions), weight, is_strict }
}

/// Brings the schemas of one request into a dialect.
///
/// Of a strict dialect, as many are strict as [its provider allows together](choose_strict); the others are in its loose one.
pub fn lower_together<'s>(
    schemas: impl IntoIterator<Item = &'s Value>,
    dialect: Dialect,
) -> Vec<Lowered> {
    let schemas: Vec<_> = schemas.into_iter().collect();
    let mut lowered: Vec<_> = schemas.iter().map(|schema| lower(schema, dialect)).collect();
    if dialect.strict() != Some(dialect) {
        return lowered;
    }
    let weights: Vec<_> = lowered.iter().map(|it| it.weight).collect();
    let chosen = choose_strict(dialect, &weights);
    for ((lowered, schema), is_strict) in lowered.iter_mut().zip(schemas).zip(chosen) {
        if !is_strict {
            *lowered = lower(schema, dialect.loose());
        }
    }
    lowered
}

impl Loss {
    fn at(place: &str, what: &'static str, kind: LossKind) -> Self {
        Self { pointer: pointer::shown(place), what, kind }
    }
}
