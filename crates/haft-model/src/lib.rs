//! What a chat model is, whoever serves it.
//!
//! Implement [`ChatModel`] for a provider; retries, pacing and a breaker stand around all of them, in one
//! layer. What a model is asked is a [`Request`], what it says arrives as [`Part`]s and ends in one [`Finished`].
//!
//! Not here: HTTP and the dialects of providers (`haft-providers`), what a request is made of (`haft-session`), what is
//! done with its calls (`haft-agent`).

mod chat;
mod error;
mod facts;
mod request;
mod stream;

pub use chat::{BoxFuture, ChatModel};
pub use error::{ModelError, ModelErrorKind};
pub use facts::{Dialect, ModelFacts, Price};
pub use request::{
    CallResult, Effort, Fragment, Request, RequestMessage, ResponseFormat, Sampling, ToolChoice,
    ToolSpec,
};
pub use stream::{Finished, Part, ReplyStream};
