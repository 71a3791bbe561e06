//! The door for the official test suite: admission and checking as for any contract, but with roots of any type.

use std::sync::Arc;

use serde_json::Value;

use crate::engine::Compiled;
use crate::error::SchemaError;
use crate::foreign::{Root, admit};
use crate::measure::Measure;
use crate::plain;

/// A schema of any type, admitted and compiled.
#[derive(Debug)]
pub struct Schema(Compiled);

impl Schema {
    /// Admits a schema whose root may accept anything.
    ///
    /// # Errors
    ///
    /// Fails as [`Contract::foreign`](crate::Contract::foreign) does, the type of the root aside.
    pub fn admit(schema: Value) -> Result<Self, SchemaError> {
        let schema = admit(schema, Root::Any)?;
        Compiled::new(Arc::new(schema)).map(Self)
    }

    /// Tells whether a value is accepted.
    pub fn accepts(&self, value: &Value) -> bool {
        self.0.check(value, Measure::of(value)).is_ok()
    }

    /// Tells whether a value is accepted by the words of the schema alone.
    pub fn accepts_plainly(&self, value: &Value) -> bool {
        Self::is_plain(self.0.schema()) && plain::accepts(self.0.schema(), value)
    }

    /// Tells whether a schema is in plain words, so that compiling it may wait where it is derived from a type.
    pub fn is_plain(schema: &Value) -> bool {
        plain::is_plain(schema)
    }
}
