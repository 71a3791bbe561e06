//! What can go wrong between a request and a reply.

use std::time::Duration;

/// What kind of thing went wrong. Each provider brings its errors into this form; what to do follows from it alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// The server could not be reached, or the connection broke.
    Transport,
    /// Nothing came for too long.
    Stalled,
    /// Too many requests or tokens for now.
    RateLimited,
    /// The account has no more to spend; waiting does not help.
    Quota,
    /// The server has too much to do.
    Overloaded,
    /// The server failed.
    Server,
    /// The prompt does not fit into the window.
    Overflow,
    /// Prompt and the asked-for reply do not fit into the window together; a shorter reply would.
    OutputOverflow,
    /// The credentials are missing, wrong, or may not do this.
    Credentials,
    /// There is no such model.
    UnknownModel,
    /// The provider wants reasoning of earlier replies otherwise than it was sent.
    Reasoning,
    /// The request is wrong in another way, which is our fault or a limit of the model's.
    BadRequest,
    /// The provider will not answer such a request.
    Refused,
    /// What came is not in the provider's own dialect.
    Malformed,
    /// The stream ended before the reply did.
    CutShort,
}

impl ModelErrorKind {
    /// Tells whether the same request may succeed if it is made again.
    pub const fn may_pass(self) -> bool {
        match self {
            Self::Transport
            | Self::Stalled
            | Self::RateLimited
            | Self::Overloaded
            | Self::Server
            | Self::CutShort => true,
            Self::Quota
            | Self::Overflow
            | Self::OutputOverflow
            | Self::Credentials
            | Self::UnknownModel
            | Self::Reasoning
            | Self::BadRequest
            | Self::Refused
            | Self::Malformed => false,
        }
    }

    /// Returns the name used in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Transport => "transport",
            Self::Stalled => "stalled",
            Self::RateLimited => "rate_limited",
            Self::Quota => "quota",
            Self::Overloaded => "overloaded",
            Self::Server => "server",
            Self::Overflow => "overflow",
            Self::OutputOverflow => "output_overflow",
            Self::Credentials => "credentials",
            Self::UnknownModel => "unknown_model",
            Self::Reasoning => "reasoning",
            Self::BadRequest => "bad_request",
            Self::Refused => "refused",
            Self::Malformed => "malformed",
            Self::CutShort => "cut_short",
        }
    }
}

/// A request that got no whole reply.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{text}")]
pub struct ModelError {
    /// What kind of thing went wrong.
    pub kind: ModelErrorKind,
    /// What happened and what would help, for a person; never with credentials.
    pub text: String,
    /// How long the provider asks to wait.
    pub retry_after: Option<Duration>,
    /// The status of HTTP, where there was one.
    pub status: Option<u16>,
    /// Whether a piece of the reply had come before.
    pub began: bool,
    /// Tokens the window has, where the provider says so with an overflow.
    pub window_tokens: Option<u64>,
}

impl ModelError {
    /// Makes an error before anything came.
    pub fn new(kind: ModelErrorKind, text: impl Into<String>) -> Self {
        Self {
            kind,
            text: text.into(),
            retry_after: None,
            status: None,
            began: false,
            window_tokens: None,
        }
    }

    /// Makes the error of a stream that ended before the reply did.
    pub fn cut_short() -> Self {
        Self::new(ModelErrorKind::CutShort, "the stream ended before the reply did")
    }
}
