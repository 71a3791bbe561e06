//! What the code behind `#[tool]` speaks of, so that its users need no further dependencies. Nobody else should.

pub use haft_macros::facade_tool;
pub use haft_protocol::{Capabilities, Capability, Failure, QualifiedName};
pub use schemars;
pub use serde;

use haft_schema::{Contract, SchemaError};

use crate::{IntoOutput, Output};

/// What a function under `#[tool]` may return: a value, or a value or a failure.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "not what a tool returns",
    note = "a tool returns `T` or `Result<T, E>`, where `T` is `IntoOutput` (text, numbers, `Json<T>`, `Shown<T>`, `Output`) and `E` turns into a `Failure`"
)]
pub trait Returned: Send + 'static {
    /// The value.
    type Value: IntoOutput;

    /// Turns what came back into the two ends a body has.
    ///
    /// # Errors
    ///
    /// Fails when the function did.
    fn into_result(self) -> Result<Self::Value, Failure>;
}

impl<T: IntoOutput> Returned for T {
    type Value = T;

    fn into_result(self) -> Result<T, Failure> {
        Ok(self)
    }
}

impl<T: IntoOutput, E: Into<Failure> + Send + 'static> Returned for Result<T, E> {
    type Value = T;

    fn into_result(self) -> Result<T, Failure> {
        self.map_err(Into::into)
    }
}

/// What a function returned, as an output. The generated code asks for nothing else of it, so that a type that no tool
/// can return is one fault and not one for each use.
#[derive(Debug)]
pub struct Ended<R>(
    /// What came back.
    pub R,
);

impl<R: Returned> IntoOutput for Ended<R> {
    fn contract() -> Result<Option<Contract>, SchemaError> {
        R::Value::contract()
    }

    fn into_output(self) -> Result<Output, Failure> {
        self.0.into_result()?.into_output()
    }
}
