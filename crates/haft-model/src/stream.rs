//! What a model says, as it says it.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::Stream;
use haft_protocol::{ReplyPart, StopReason, TokenUsage};

use crate::ModelError;

/// A piece of a reply, to be shown as it comes.
///
/// What counts is the [`Finished`] at the end: the pieces before it are for people who watch.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// More text.
    Text(String),
    /// More reasoning.
    Reasoning(String),
    /// A call begins. The name may be empty until its provider says it.
    CallBegins {
        /// Which call of the reply, from 0.
        index: usize,
        /// The wire name, as it came.
        tool: String,
    },
    /// More of a call's arguments.
    CallArguments {
        /// Which call of the reply, from 0.
        index: usize,
        /// The next piece of the JSON text.
        json: String,
    },
    /// The whole reply. Nothing comes behind it.
    Finished(Finished),
}

/// A whole reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// What the model said, in order. Calls have no id of ours yet: they carry [`Finished::NO_CALL`].
    pub parts: Vec<ReplyPart>,
    /// Why it stopped.
    pub stop: StopReason,
    /// What the request took.
    pub usage: TokenUsage,
    /// The model that the provider says it was, where it says so.
    pub served_by: Option<String>,
}

impl Finished {
    /// The id that calls carry until somebody gives them their own.
    pub const NO_CALL: haft_protocol::CallId = haft_protocol::CallId::from_parts(0, 0);
}

/// The pieces of one reply, in order. It ends with [`Part::Finished`] or an error, and never without either.
pub struct ReplyStream {
    inner: Pin<Box<dyn Stream<Item = Result<Part, ModelError>> + Send>>,
    rate: RateFacts,
    ended: bool,
}

/// What a provider said with its reply about how much more it takes. What it did not say is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RateFacts {
    /// Requests.
    pub requests: Option<Allowance>,
    /// Tokens.
    pub tokens: Option<Allowance>,
}

/// How much of something a provider takes until it counts anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// How much is left.
    pub left: u64,
    /// How much there is when nothing is used; where it is known, it comes in again evenly until then.
    pub limit: Option<u64>,
    /// When all of it is there again, from now.
    pub renewed_in: Duration,
}

impl RateFacts {
    /// Returns how long until there is something again of all that is used up; nothing where nothing is.
    pub fn until_some_is_left(&self) -> Option<Duration> {
        let all = [self.requests, self.tokens].into_iter().flatten();
        all.filter(|it| it.left == 0).map(|it| it.renewed_in).max()
    }
}

impl ReplyStream {
    /// Makes a stream of one that may end as it likes.
    pub fn new(inner: impl Stream<Item = Result<Part, ModelError>> + Send + 'static) -> Self {
        Self { inner: Box::pin(inner), rate: RateFacts::default(), ended: false }
    }

    /// Adds what the provider said about how much more it takes.
    #[must_use]
    pub fn with_rate(self, rate: RateFacts) -> Self {
        Self { rate, ..self }
    }

    /// Returns what the provider said about how much more it takes.
    pub fn rate(&self) -> RateFacts {
        self.rate
    }

    /// Reads to the end and returns the whole reply.
    ///
    /// # Errors
    ///
    /// Fails with what ended the stream.
    pub async fn finish(mut self) -> Result<Finished, ModelError> {
        loop {
            match self.next().await {
                Some(Ok(Part::Finished(finished))) => return Ok(finished),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error),
                None => return Err(ModelError::cut_short()),
            }
        }
    }

    /// Returns the next piece.
    pub async fn next(&mut self) -> Option<Result<Part, ModelError>> {
        futures_util::StreamExt::next(self).await
    }
}

impl Stream for ReplyStream {
    type Item = Result<Part, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let item = std::task::ready!(self.inner.as_mut().poll_next(context));
        let item = item.unwrap_or_else(|| Err(ModelError::cut_short()));
        self.ended = matches!(item, Ok(Part::Finished(_)) | Err(_));
        Poll::Ready(Some(item))
    }
}

impl fmt::Debug for ReplyStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplyStream").field("ended", &self.ended).finish_non_exhaustive()
    }
}
