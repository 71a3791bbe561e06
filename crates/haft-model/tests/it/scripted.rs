//! A model that does what a test says, and the times at which it was asked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use haft_model::{
    BoxFuture, ChatModel, Dialect, Finished, ModelError, ModelErrorKind, ModelFacts, Part,
    RateFacts, ReplyStream, Request,
};
use haft_protocol::{StopReason, TokenUsage};
use tokio::time::Instant;

/// What happens to one request.
pub(crate) enum Act {
    /// The request is refused.
    Refuse(ModelError),
    /// A reply of these pieces comes.
    Reply(Vec<Result<Part, ModelError>>),
    /// A whole reply comes, and with it this about how much more may be asked.
    Rated(RateFacts),
    /// A reply begins and never ends.
    Hang,
}

#[derive(Debug)]
pub(crate) struct Scripted {
    facts: ModelFacts,
    acts: Mutex<VecDeque<Act>>,
    asked: Mutex<Vec<Duration>>,
    start: Instant,
}

impl std::fmt::Debug for Act {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Act")
    }
}

impl Scripted {
    /// Makes a model that does these things in turn, and then gives whole replies.
    pub(crate) fn new(acts: impl IntoIterator<Item = Act>) -> Arc<Self> {
        let facts = ModelFacts {
            id: "test/scripted".parse().unwrap(),
            dialect: Dialect::Responses,
            origin: "responses test".to_owned(),
            address: "http://127.0.0.1:1".to_owned(),
            window_tokens: None,
            output_tokens: None,
            sees_images: None,
            calls_on_demand: true,
            price: None,
        };
        let acts = Mutex::new(acts.into_iter().collect());
        Arc::new(Self { facts, acts, asked: Mutex::default(), start: Instant::now() })
    }

    /// Returns when it was asked, in milliseconds since it was made.
    pub(crate) fn asked(&self) -> Vec<u128> {
        self.asked.lock().unwrap().iter().map(Duration::as_millis).collect()
    }
}

impl ChatModel for Scripted {
    fn facts(&self) -> &ModelFacts {
        &self.facts
    }

    fn ask(&self, _: Arc<Request>) -> BoxFuture<'_, Result<ReplyStream, ModelError>> {
        self.asked.lock().unwrap().push(self.start.elapsed());
        let act = self.acts.lock().unwrap().pop_front();
        Box::pin(async move {
            match act {
                None => Ok(ReplyStream::new(stream::iter([Ok(finished(None))]))),
                Some(Act::Refuse(error)) => Err(error),
                Some(Act::Reply(parts)) => Ok(ReplyStream::new(stream::iter(parts))),
                Some(Act::Rated(rate)) => {
                    Ok(ReplyStream::new(stream::iter([Ok(finished(None))])).with_rate(rate))
                }
                Some(Act::Hang) => {
                    let begun = stream::iter([Ok(text("a"))]);
                    Ok(ReplyStream::new(begun.chain(stream::pending())))
                }
            }
        })
    }
}

pub(crate) fn text(text: &str) -> Part {
    Part::Text(text.to_owned())
}

/// Returns the end of a reply that took so many tokens.
pub(crate) fn finished(tokens: Option<u64>) -> Part {
    let usage = TokenUsage { input: tokens, output: tokens.map(|_| 0), ..TokenUsage::default() };
    Part::Finished(Finished { parts: Vec::new(), stop: StopReason::End, usage, served_by: None })
}

pub(crate) fn error(kind: ModelErrorKind) -> ModelError {
    ModelError::new(kind, kind.as_str())
}

pub(crate) fn rate_limited(retry_after: Option<Duration>) -> ModelError {
    let error = error(ModelErrorKind::RateLimited);
    ModelError { status: Some(429), retry_after, ..error }
}
