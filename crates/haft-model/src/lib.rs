//! What a chat model is, whoever serves it.
//!
//! Implement [`ChatModel`] for a provider. [`Guarded`] stands around all of them: retries, turns, pace and rest, in one
//! layer. What a model is asked is a [`Request`], what it says arrives as [`Part`]s and ends in one [`Finished`].
//!
//! Not here: HTTP and the dialects of providers (`haft-providers`), what a request is made of (`haft-session`), what is
//! done with its calls (`haft-agent`).

mod account;
mod chat;
mod error;
mod facts;
mod guarded;
mod request;
mod stream;
mod tokens;
mod wait;

pub use account::{Account, AccountLimits};
pub use chat::{BoxFuture, ChatModel};
pub use error::{ModelError, ModelErrorKind};
pub use facts::{Dialect, ModelFacts, Price};
pub use guarded::{Chance, Guarded, RetryLimits};
pub use request::{
    CallResult, Effort, Fragment, Fragments, Request, RequestMessage, ResponseFormat, Sampling,
    ToolChoice, ToolSpec,
};
pub use stream::{Allowance, Finished, Part, RateFacts, ReplyStream};
pub use tokens::{Anchor, Anchored, Estimator, TokenCounter};
pub use wait::{WaitReason, Waiting};
