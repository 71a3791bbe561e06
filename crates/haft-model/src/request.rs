//! What a model is asked.

mod fragments;

use std::num::NonZeroU32;
use std::sync::{Arc, OnceLock};

use haft_protocol::{ContentPart, Reply, WireName};
use serde_json::Value;

use crate::{Estimator, TokenCounter as _};
pub use fragments::Fragments;

/// What a model is asked, in the words of no provider.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Request {
    /// What its operator tells the model, apart from the conversation; empty where there is nothing.
    pub system: Arc<str>,
    /// The conversation so far. It begins with a user's message, and user and model take turns.
    pub messages: Fragments,
    /// The tools it may ask for, in an order that stays the same from turn to turn.
    pub tools: Arc<[ToolSpec]>,
    /// Whether it has to ask for one.
    pub choice: ToolChoice,
    /// The form of its reply, where it has to have one.
    pub format: Option<ResponseFormat>,
    /// How it picks its words.
    pub sampling: Sampling,
}

/// One message of a request, with the form that its provider made of it the last time.
///
/// A conversation is sent again with every request. Its fragments are shared between requests, so that each is put into a
/// provider's form once.
#[derive(Debug)]
pub struct Fragment {
    message: RequestMessage,
    rendered: OnceLock<(String, Arc<str>)>,
    estimated: OnceLock<(Estimator, u64)>,
}

impl Fragment {
    /// Makes a fragment of a message.
    pub fn new(message: RequestMessage) -> Arc<Self> {
        Arc::new(Self { message, rendered: OnceLock::new(), estimated: OnceLock::new() })
    }

    /// Returns the message.
    pub fn message(&self) -> &RequestMessage {
        &self.message
    }

    /// Returns the message in a provider's form, made by `render` where it was not made before.
    ///
    /// `key` names the form: everything that `render` depends on beside the message.
    pub fn rendered(&self, key: &str, render: impl FnOnce(&RequestMessage) -> String) -> Arc<str> {
        if let Some((by, form)) = self.rendered.get()
            && by == key
        {
            return Arc::clone(form);
        }
        let form: Arc<str> = render(&self.message).into();
        // Another form that came first stays: a conversation seldom changes its provider.
        let _ = self.rendered.set((key.to_owned(), Arc::clone(&form)));
        form
    }

    /// Returns how many tokens the message takes, counted where an estimator has not counted it before.
    pub fn estimated_tokens(&self, estimator: &Estimator) -> u64 {
        if let Some((by, tokens)) = self.estimated.get()
            && by == estimator
        {
            return *tokens;
        }
        let tokens = estimator.message(&self.message);
        let _ = self.estimated.set((*estimator, tokens));
        tokens
    }
}

impl PartialEq for Fragment {
    fn eq(&self, other: &Self) -> bool {
        self.message == other.message
    }
}

/// What one message of a request says.
#[derive(Debug, Clone, PartialEq)]
pub enum RequestMessage {
    /// What somebody said.
    User(Arc<[ContentPart]>),
    /// What the model said.
    Reply(Arc<Reply>),
    /// What came of its calls: one result for each call of the reply before it, in the order of the calls.
    Results(Arc<[CallResult]>),
}

/// What came of one call, as a model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct CallResult {
    /// The id that the provider gave the call; made up where it gave none, gave it twice, or was somebody else.
    pub provider_id: Arc<str>,
    /// The wire name that was asked for.
    pub tool: Arc<str>,
    /// What a model reads of the outcome.
    pub text: Arc<str>,
    /// Images of the outcome.
    pub images: Arc<[ContentPart]>,
    /// Whether the call failed, was denied, cancelled or timed out.
    pub is_error: bool,
}

/// A tool as a model is told of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// The name.
    pub name: WireName,
    /// What it does.
    pub description: Arc<str>,
    /// The JSON Schema of its arguments, as the tool has it. Providers lower it to what they understand.
    pub schema: Arc<Value>,
}

/// Whether a model has to ask for a tool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ToolChoice {
    /// As it likes.
    #[default]
    Auto,
    /// It may not.
    None,
    /// It has to, whichever it likes.
    Required,
    /// It has to ask for this one.
    Named(WireName),
}

/// The form a reply has to have.
#[derive(Debug, Clone, PartialEq)]
pub struct ResponseFormat {
    /// A name for the form, as a wire name.
    pub name: WireName,
    /// Its JSON Schema.
    pub schema: Arc<Value>,
}

/// How a model picks its words. What is left out is the provider's to choose.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sampling {
    /// Tokens of the reply at most.
    pub output_tokens: Option<NonZeroU32>,
    /// How freely it picks, from 0.
    pub temperature: Option<f32>,
    /// A number to pick the same again by.
    pub seed: Option<u64>,
    /// How much it should think.
    pub effort: Option<Effort>,
}

/// How much a model should think before it speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}

impl Effort {
    /// Returns the word for it, as in configuration and in most dialects.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}
