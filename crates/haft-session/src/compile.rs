//! From a transcript to a request.

mod render;
mod sections;

use std::sync::Arc;

use haft_model::{
    Fragment, Fragments, Request, RequestMessage, ResponseFormat, Sampling, ToolChoice, ToolSpec,
};
use haft_protocol::Notice;

pub(crate) use render::{fragments, said};
pub use sections::{Kept, LeftOut, Posture, Section, SectionKind, Weight};

use crate::system::System;
use crate::transcript::Transcript;

/// Everything a request is made of.
#[derive(Debug, Clone)]
pub struct Ask<'a> {
    /// What its operator tells the model.
    pub system: &'a System,
    /// The conversation. It ends with what somebody said, or with the ends of calls; or with the model's own words, where
    /// notices ask it to go on.
    pub transcript: &'a Transcript,
    /// The tools, in the order of the registry.
    pub tools: Arc<[ToolSpec]>,
    /// Whether the model has to ask for one.
    pub choice: ToolChoice,
    /// The form of its reply, where it has to have one.
    pub format: Option<ResponseFormat>,
    /// How it picks its words.
    pub sampling: Sampling,
    /// What the runtime has to say in this request only. It stands at the end, so that what a provider keeps of the
    /// request before stays right, and it is not part of the transcript.
    pub notices: &'a [Notice],
}

/// A request, and what was made of what.
#[derive(Debug, Clone, PartialEq)]
pub struct Compiled {
    /// The request.
    pub request: Arc<Request>,
    /// Its sections, in the order in which a model meets them.
    pub sections: Vec<Section>,
}

/// A transcript that no request can be made of.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// Calls have no end yet.
    #[error("{open} calls have no end yet, so the model cannot be asked")]
    Open {
        /// How many.
        open: usize,
    },
    /// Nobody waits for a reply.
    #[error("the transcript ends with the model's own words: say something to it first")]
    NothingAsked,
}

/// Makes a request, and the record of what it is made of.
///
/// The same transcript makes the same request. What grows is added at its end, so that the request before is a prefix of
/// the next one, until a summary takes the place of older entries. Two things at the end are not part of that: notices,
/// which are of one request only, and the end of the last message, which goes on where somebody says something more before
/// the model replies.
///
/// # Errors
///
/// Fails where calls are open and where there is nothing to reply to.
pub fn compile(ask: &Ask<'_>) -> Result<Compiled, CompileError> {
    let open = ask.transcript.open_calls().count();
    if open > 0 {
        return Err(CompileError::Open { open });
    }
    let mut messages = ask.transcript.shown().fragments().clone();
    note(&mut messages, ask.notices);
    let last = messages.last().map(|it| it.message());
    if !matches!(last, Some(RequestMessage::User(_) | RequestMessage::Results(_))) {
        return Err(CompileError::NothingAsked);
    }
    let request = Request {
        system: ask.system.text(),
        messages,
        tools: Arc::clone(&ask.tools),
        choice: ask.choice.clone(),
        format: ask.format.clone(),
        sampling: ask.sampling.clone(),
    };
    Ok(Compiled { request: Arc::new(request), sections: sections::of(ask) })
}

/// Adds notices to the last message where somebody said it, else behind it.
fn note(messages: &mut Fragments, notices: &[Notice]) {
    if notices.is_empty() {
        return;
    }
    let said = notices.iter().map(render::notice);
    let before = match messages.last().map(|it| it.message()) {
        Some(RequestMessage::User(before)) => Some(Arc::clone(before)),
        Some(RequestMessage::Reply(_) | RequestMessage::Results(_)) | None => None,
    };
    match before {
        Some(before) => {
            let said = before.iter().cloned().chain(said).collect();
            messages.replace_last(Fragment::new(RequestMessage::User(said)));
        }
        None => messages.push(Fragment::new(RequestMessage::User(said.collect()))),
    }
}
