//! What a body returns.

use haft_protocol::{Bound, Change, ContentPart, Failure, Notice, NoticeKind, Usage};
use haft_schema::{Contract, SchemaError};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::Seen;

/// What a body returns: what a reader should see, the same as data, and what goes beside it.
#[derive(Debug, Clone, Default)]
pub struct Output {
    /// What the body could not do in spite of all the rest; the call has then failed, with what there is.
    pub failure: Option<Failure>,
    /// What a reader should see.
    pub content: Vec<ContentPart>,
    /// The same as data, conforming to the descriptor's output schema where it has one.
    pub structured: Option<Value>,
    /// What the body left out.
    pub bounds: Vec<Bound>,
    /// What the body has to say beside its data.
    pub notices: Vec<Notice>,
    /// What the body changed, where it records that itself.
    pub changes: Vec<Change>,
    /// What the body showed of files, or did to them, for the caller's read ledger.
    pub seen: Vec<Seen>,
    /// What the body spent.
    pub usage: Usage,
}

impl Output {
    /// Makes an output of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![ContentPart::text(text)], ..Self::default() }
    }

    /// Adds the data form.
    ///
    /// # Errors
    ///
    /// Fails with [`ErrorKind::Internal`](haft_protocol::ErrorKind::Internal) when the value has no JSON form.
    pub fn with_structured(mut self, value: &impl Serialize) -> Result<Self, Failure> {
        self.structured = Some(to_value(value)?);
        Ok(self)
    }

    /// Adds a bound.
    pub fn with_bound(mut self, bound: Bound) -> Self {
        self.bounds.push(bound);
        self
    }

    /// Says that the body could not do what it was asked to, in spite of what there is.
    pub fn but_failed(mut self, failure: Failure) -> Self {
        self.failure = Some(failure);
        self
    }

    /// Adds a notice.
    pub fn with_notice(mut self, kind: NoticeKind, text: impl Into<String>) -> Self {
        self.notices.push(Notice::new(kind, text));
        self
    }
}

fn to_value(value: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(value).map_err(|error| {
        Failure::new(
            haft_protocol::ErrorKind::Internal,
            format!("the output has no JSON form: {error}"),
        )
    })
}

/// A type that a typed tool may return.
pub trait IntoOutput: Send + 'static {
    /// Returns the contract of the data form, for a type that has one.
    ///
    /// # Errors
    ///
    /// Fails when the type's schema cannot be a contract.
    fn contract() -> Result<Option<Contract>, SchemaError> {
        Ok(None)
    }

    /// Returns what [`contract`](Self::contract) does, made when somebody first looks where the type knows how.
    ///
    /// # Errors
    ///
    /// Fails as `contract` does, where it is made at once.
    fn contract_later() -> Result<Option<Contract>, SchemaError> {
        Self::contract()
    }

    /// Turns the value into an output.
    ///
    /// # Errors
    ///
    /// Fails when the value has no form a reader could see.
    fn into_output(self) -> Result<Output, Failure>;
}

impl IntoOutput for Output {
    fn into_output(self) -> Result<Output, Failure> {
        Ok(self)
    }
}

impl IntoOutput for () {
    fn into_output(self) -> Result<Output, Failure> {
        Ok(Output::text("done"))
    }
}

macro_rules! by_display {
    ($($kind:ty),*) => {$(
        impl IntoOutput for $kind {
            fn into_output(self) -> Result<Output, Failure> {
                Ok(Output::text(self.to_string()))
            }
        }
    )*};
}

by_display!(String, &'static str, bool, char, i32, i64, u32, u64, usize, f64);

/// A typed value as the output: its contract is advertised and checked, and its JSON is the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Json<T>(
    /// The value.
    pub T,
);

impl<T: Serialize + JsonSchema + Send + 'static> IntoOutput for Json<T> {
    fn contract() -> Result<Option<Contract>, SchemaError> {
        Contract::of_output::<T>().map(Some)
    }

    fn contract_later() -> Result<Option<Contract>, SchemaError> {
        Ok(Some(Contract::of_output_later::<T>()))
    }

    fn into_output(self) -> Result<Output, Failure> {
        let value = to_value(&self.0)?;
        let mut output = Output::text(value.to_string());
        output.structured = Some(value);
        Ok(output)
    }
}

/// A typed value with a text of its own: the value's contract is advertised and checked, the text is what a reader sees.
#[derive(Debug, Clone)]
pub struct Shown<T> {
    /// The value.
    pub value: T,
    /// The text and everything else; its `structured` field is filled from the value.
    pub output: Output,
}

impl<T: Serialize + JsonSchema + Send + 'static> IntoOutput for Shown<T> {
    fn contract() -> Result<Option<Contract>, SchemaError> {
        Contract::of_output::<T>().map(Some)
    }

    fn contract_later() -> Result<Option<Contract>, SchemaError> {
        Ok(Some(Contract::of_output_later::<T>()))
    }

    fn into_output(self) -> Result<Output, Failure> {
        self.output.with_structured(&self.value)
    }
}
