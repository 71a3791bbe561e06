//! From a transcript to a request.

mod render;

use std::sync::Arc;

use haft_model::{
    Fragment, Request, RequestMessage, ResponseFormat, Sampling, ToolChoice, ToolSpec,
};
use haft_protocol::{ContentPart, Entry, MessageId, Notice};

pub(crate) use render::fragments;

use crate::system::System;
use crate::transcript::{Node, Transcript};

/// Everything a request is made of.
#[derive(Debug, Clone)]
pub struct Ask<'a> {
    /// What its operator tells the model.
    pub system: &'a System,
    /// The conversation. It ends with what somebody said, or with the ends of calls.
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

/// What became of one section of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Which.
    pub kind: SectionKind,
    /// What is done with it where there is no room.
    pub posture: Posture,
    /// What the request shows.
    pub kept: Vec<Kept>,
    /// What it does not show.
    pub left_out: Vec<LeftOut>,
}

/// A section of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SectionKind {
    /// What its operator tells the model.
    System,
    /// What the project tells it.
    Instructions,
    /// The tools.
    Tools,
    /// The task: what was said first.
    Task,
    /// A summary of what is left out of the history.
    Summary,
    /// What was said and done since.
    History,
    /// What the runtime has to say now.
    Notices,
}

/// What is done with a section where there is no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Posture {
    /// Without it no request is made.
    Refuse,
    /// Its oldest part is summarised.
    Summarise,
    /// It is left out.
    Skip,
}

/// Something that a request shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// An entry of the transcript.
    Entry(MessageId),
    /// A text, by its name.
    Named(String),
    /// How many of a kind.
    Count(usize),
}

/// Something that a request does not show, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The first entry.
    pub first: MessageId,
    /// The last entry.
    pub last: MessageId,
    /// How many entries.
    pub entries: usize,
    /// Why.
    pub why: &'static str,
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
/// the next one, until a summary takes the place of older entries.
///
/// # Errors
///
/// Fails where calls are open and where there is nothing to reply to.
pub fn compile(ask: &Ask<'_>) -> Result<Compiled, CompileError> {
    let open = ask.transcript.open_calls().count();
    if open > 0 {
        return Err(CompileError::Open { open });
    }
    let view = View::of(ask.transcript);
    let mut messages = Messages::default();
    for node in &view.shown {
        messages.add(node);
    }
    if !messages.ends_with_a_question() {
        return Err(CompileError::NothingAsked);
    }
    messages.note(ask.notices);
    let sections = sections(ask, &view);
    let request = Request {
        system: ask.system.text(),
        messages: messages.fragments,
        tools: Arc::clone(&ask.tools),
        choice: ask.choice.clone(),
        format: ask.format.clone(),
        sampling: ask.sampling.clone(),
    };
    Ok(Compiled { request: Arc::new(request), sections })
}

/// Which entries a request shows.
pub(crate) struct View<'a> {
    /// The entries, in the order in which a model meets them.
    pub(crate) shown: Vec<&'a Arc<Node>>,
    left_out: Option<LeftOut>,
}

impl<'a> View<'a> {
    /// Shows everything, or the task, the last summary, and what came after what it stands for.
    pub(crate) fn of(transcript: &'a Transcript) -> Self {
        let summary = transcript.nodes().rev().find_map(|node| match node.entry() {
            Entry::Summary(summary) => Some((node, summary)),
            Entry::User(_) | Entry::Step(_) => None,
        });
        let Some((node, summary)) = summary else {
            return Self { shown: transcript.nodes().collect(), left_out: None };
        };
        let mut shown: Vec<&Arc<Node>> = Vec::new();
        let task = transcript.nodes().next();
        shown.extend(task);
        shown.push(node);
        let behind = transcript
            .nodes()
            .skip_while(|it| it.entry().id() != summary.last)
            .skip(1)
            .filter(|it| !matches!(it.entry(), Entry::Summary(_)));
        shown.extend(behind);
        let left_out = LeftOut {
            first: summary.first,
            last: summary.last,
            entries: usize::try_from(summary.entries).unwrap_or(usize::MAX),
            why: "summarised",
        };
        Self { shown, left_out: Some(left_out) }
    }
}

/// The messages of a request in the making, in which user and model take turns.
#[derive(Default)]
struct Messages {
    fragments: Vec<Arc<Fragment>>,
}

/// What stands between two things that were said one after the other, before the model replied.
const SAID_LATER: &str = "[said later, before you replied]";

impl Messages {
    fn add(&mut self, node: &Arc<Node>) {
        for fragment in node.fragments().iter() {
            match fragment.message() {
                RequestMessage::User(said) => self.say(fragment, said),
                RequestMessage::Reply(_) | RequestMessage::Results(_) => {
                    self.fragments.push(Arc::clone(fragment));
                }
            }
        }
    }

    /// Adds what somebody said; behind something else that somebody said it becomes one message with it, and says so.
    fn say(&mut self, fragment: &Arc<Fragment>, said: &Arc<[ContentPart]>) {
        let Some(RequestMessage::User(before)) = self.fragments.last().map(|it| it.message())
        else {
            self.fragments.push(Arc::clone(fragment));
            return;
        };
        let note = ContentPart::text(SAID_LATER);
        let merged = before.iter().cloned().chain([note]).chain(said.iter().cloned()).collect();
        self.fragments.pop();
        self.fragments.push(Fragment::new(RequestMessage::User(merged)));
    }

    fn ends_with_a_question(&self) -> bool {
        let last = self.fragments.last().map(|it| it.message());
        matches!(last, Some(RequestMessage::User(_) | RequestMessage::Results(_)))
    }

    /// Adds notices to the last message, or behind it.
    fn note(&mut self, notices: &[Notice]) {
        if notices.is_empty() {
            return;
        }
        let said: Arc<[ContentPart]> = notices.iter().map(render::notice).collect();
        let fragment = Fragment::new(RequestMessage::User(Arc::clone(&said)));
        match self.fragments.last().map(|it| it.message()) {
            Some(RequestMessage::User(before)) => {
                let merged = before.iter().cloned().chain(said.iter().cloned()).collect();
                self.fragments.pop();
                self.fragments.push(Fragment::new(RequestMessage::User(merged)));
            }
            _ => self.fragments.push(fragment),
        }
    }
}

fn sections(ask: &Ask<'_>, view: &View<'_>) -> Vec<Section> {
    let section =
        |kind, posture, kept: Vec<Kept>| Section { kind, posture, kept, left_out: Vec::new() };
    let mut sections = vec![
        section(SectionKind::System, Posture::Refuse, vec![Kept::Named("system".to_owned())]),
        section(
            SectionKind::Instructions,
            Posture::Refuse,
            ask.system.instructions().iter().map(|it| Kept::Named(it.name.clone())).collect(),
        ),
        section(SectionKind::Tools, Posture::Refuse, vec![Kept::Count(ask.tools.len())]),
    ];
    let mut entries = view.shown.iter().map(|node| node.entry());
    let task = entries.next().map(|it| Kept::Entry(it.id())).into_iter().collect();
    sections.push(section(SectionKind::Task, Posture::Refuse, task));
    let (summaries, history): (Vec<&Entry>, Vec<&Entry>) =
        entries.partition(|it| matches!(it, Entry::Summary(_)));
    let kept = |entries: Vec<&Entry>| entries.iter().map(|it| Kept::Entry(it.id())).collect();
    sections.push(section(SectionKind::Summary, Posture::Refuse, kept(summaries)));
    let mut history = section(SectionKind::History, Posture::Summarise, kept(history));
    history.left_out.extend(view.left_out.clone());
    sections.push(history);
    let notices = vec![Kept::Count(ask.notices.len())];
    sections.push(section(SectionKind::Notices, Posture::Skip, notices));
    sections
}
