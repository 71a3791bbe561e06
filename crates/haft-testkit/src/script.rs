//! A model that says what a test wrote for it.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};

use futures_util::stream;
use haft_model::{
    BoxFuture, ChatModel, Dialect, Finished, ModelError, ModelFacts, Part, ReplyStream, Request,
};
use haft_protocol::{RawArguments, ReplyPart, RequestedCall, StopReason, TokenUsage};
use serde_json::Value;

/// What a scripted model does when it is asked.
pub enum Line {
    /// It says this, and stops.
    Reply(Finished),
    /// It fails.
    Error(ModelError),
    /// It begins to speak, and never ends.
    Hang(String),
    /// It says what this makes of the request.
    Of(Box<dyn Fn(&Request) -> Finished + Send>),
}

impl Line {
    /// Says a text.
    pub fn say(text: &str) -> Self {
        let text = ReplyPart::Text { text: text.to_owned(), opaque: None };
        Self::Reply(finished(vec![text], StopReason::End))
    }

    /// Asks for calls.
    pub fn calls(calls: &[(&str, Value)]) -> Self {
        let parts = calls.iter().enumerate().map(|(index, (tool, arguments))| {
            wish(&format!("c{index}"), tool, arguments.to_string().into(), true)
        });
        Self::Reply(finished(parts.collect(), StopReason::Calls))
    }
}

/// Makes a whole reply of parts, with a usage of its own.
pub fn finished(parts: Vec<ReplyPart>, stop: StopReason) -> Finished {
    let usage = TokenUsage { input: Some(10), output: Some(5), ..TokenUsage::default() };
    Finished { parts, stop, usage, served_by: None }
}

/// Makes the wish for a call.
pub fn wish(id: &str, tool: &str, arguments: RawArguments, is_whole: bool) -> ReplyPart {
    ReplyPart::Call(RequestedCall {
        id: Finished::NO_CALL,
        provider_id: Some(id.to_owned()),
        tool: tool.to_owned(),
        arguments,
        is_whole,
        opaque: None,
    })
}

/// A model that says one line after another, and keeps what it was asked.
pub struct ScriptedModel {
    facts: ModelFacts,
    lines: Mutex<VecDeque<Line>>,
    asked: Mutex<Vec<Arc<Request>>>,
}

impl ScriptedModel {
    /// Makes a model of its lines.
    pub fn new(lines: impl IntoIterator<Item = Line>) -> Arc<Self> {
        let facts = ModelFacts {
            id: "scripted/model".parse().unwrap(),
            dialect: Dialect::ChatCompletions,
            origin: "scripted".to_owned(),
            address: "nowhere".to_owned(),
            window_tokens: Some(100_000),
            output_tokens: Some(4_000),
            sees_images: Some(true),
            calls_on_demand: true,
            price: None,
        };
        Self::with_facts(facts, lines)
    }

    /// Makes a model of its lines and of what is known of it.
    pub fn with_facts(facts: ModelFacts, lines: impl IntoIterator<Item = Line>) -> Arc<Self> {
        let lines = Mutex::new(lines.into_iter().collect());
        Arc::new(Self { facts, lines, asked: Mutex::default() })
    }

    /// Returns what it was asked so far.
    pub fn asked(&self) -> Vec<Arc<Request>> {
        self.asked.lock().unwrap().clone()
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ScriptedModel({} lines left)", self.lines.lock().unwrap().len())
    }
}

impl ChatModel for ScriptedModel {
    fn facts(&self) -> &ModelFacts {
        &self.facts
    }

    fn ask(&self, request: Arc<Request>) -> BoxFuture<'_, Result<ReplyStream, ModelError>> {
        self.asked.lock().unwrap().push(Arc::clone(&request));
        let line = self.lines.lock().unwrap().pop_front();
        Box::pin(async move {
            let finished = match line {
                Some(Line::Reply(finished)) => finished,
                Some(Line::Of(make)) => make(&request),
                Some(Line::Error(error)) => return Err(error),
                Some(Line::Hang(text)) => {
                    use futures_util::StreamExt as _;
                    let said = stream::iter([Ok(Part::Text(text))]);
                    return Ok(ReplyStream::new(said.chain(stream::pending())));
                }
                None => panic!("the scripted model was asked once more than it has lines"),
            };
            let pieces = finished.parts.iter().filter_map(|part| match part {
                ReplyPart::Text { text, .. } => Some(Ok(Part::Text(text.clone()))),
                _ => None,
            });
            let pieces: Vec<_> = pieces.collect();
            let end = [Ok(Part::Finished(finished))];
            Ok(ReplyStream::new(stream::iter(pieces.into_iter().chain(end))))
        })
    }
}
