//! The door for the official test suite: admission and checking as for any contract, but with roots of any type.

use std::sync::Arc;

use serde_json::Value;

use crate::engine::Compiled;
use crate::error::SchemaError;
use crate::foreign::{Root, admit};
use crate::measure::Measure;
use crate::plain::{self, Judgement};

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

    /// Tells whether the words of the schema, where they are plain and decide alone, say of a value what checking says.
    pub fn is_plainly_right(&self, value: &Value) -> bool {
        if !Self::is_plain(self.0.schema()) {
            return true;
        }
        match plain::judge(self.0.schema(), value) {
            Judgement::Accepts => self.accepts(value),
            Judgement::Refuses => !self.accepts(value),
            Judgement::Open => true,
        }
    }

    /// Tells whether a schema is in plain words, so that compiling it may wait where it is derived from a type.
    pub fn is_plain(schema: &Value) -> bool {
        plain::is_plain(schema)
    }
}
