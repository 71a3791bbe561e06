//! What the code behind `#[tool]` speaks of, so that its users need no further dependencies. Nobody else should.

pub use haft_macros::facade_tool;
pub use haft_protocol::{Capabilities, Capability, Failure, QualifiedName};
pub use schemars;
pub use serde;

use crate::IntoOutput;

/// What a function under `#[tool]` may return: a value, or a value or a failure.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "not a value that a tool returns",
    note = "a tool returns `T` or `Result<T, E>`, where `T` is `IntoOutput` (text, numbers, `Json<T>`, `Shown<T>`, `Output`) and `E` turns into a `Failure`"
)]
pub trait Returned {
    /// The value.
    type Output: IntoOutput;

    /// Turns what came back into the two ends a body has.
    fn into_result(self) -> Result<Self::Output, Failure>;
}

impl<T: IntoOutput> Returned for T {
    type Output = T;

    fn into_result(self) -> Result<T, Failure> {
        Ok(self)
    }
}

impl<T: IntoOutput, E: Into<Failure>> Returned for Result<T, E> {
    type Output = T;

    fn into_result(self) -> Result<T, Failure> {
        self.map_err(Into::into)
    }
}
