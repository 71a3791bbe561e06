//! Asking the model, and taking in what it says.

use std::num::NonZeroU32;
use std::sync::Arc;

use haft_model::{
    Finished, Fragment, ModelError, ModelErrorKind, Part, Request, RequestMessage,
    TokenCounter as _, ToolChoice, ToolSpec,
};
use haft_protocol::{Notice, Reply, ReplyPart, RunEntry, SectionRecord, TokenUsage};
use haft_session::{Ask, Level, Section, ToolsWeight, compile, reply_of};
use haft_tool::{RegistryError, Snapshot};

use super::make_room::NoRoom;
use super::{Doing, Form, Happened};
use crate::event::{RunEvent, Watcher};
use crate::limits::Planned;

/// Tokens of a reply at most, where nobody knows how many a model can say.
const LONGEST_REPLY_TOKENS: u64 = 128 * 1_024;

/// What came of a reply so far.
#[derive(Debug, Default)]
pub(super) struct Listened {
    /// Whether it began.
    pub(super) has_begun: bool,
    /// What was said to the reader.
    said: String,
    /// Reasoning, and what is in calls.
    beside: String,
}

impl Listened {
    /// Makes it nothing that was said to a reader.
    pub(super) fn unsaid(mut self) -> Self {
        self.beside.insert_str(0, &std::mem::take(&mut self.said));
        self
    }
}

/// How a request ended.
enum Answer {
    Finished(Finished),
    Failed(ModelError),
    Interrupted,
    OutOfTime,
}

impl Doing<'_> {
    pub(super) async fn ask(&mut self, notices: Vec<Notice>) -> Happened {
        for notice in &notices {
            self.options.watcher.see(&RunEvent::Told { notice: notice.clone() });
        }
        self.untold.extend(notices);
        let untold = std::mem::take(&mut self.untold);
        let notices = match self.place(untold).await {
            Ok(notices) => notices,
            Err(happened) => return happened,
        };
        let (request, level, made_of) = match self.request(&notices) {
            Ok(measured) => measured,
            Err(error) => return Happened::NoReply(error),
        };
        if self.state.compaction.is_due(&level) {
            match self.make_room(&level).await {
                Ok(()) => {
                    self.untold = notices;
                    return Happened::Summarised;
                }
                Err(NoRoom::Happened(happened)) => return happened,
                Err(NoRoom::Useless(text)) if !level.fits() => {
                    return Happened::NotSummarised(text);
                }
                Err(NoRoom::Useless(text)) => tracing::debug!(text, "no room was made"),
            }
        }
        let estimated_tokens = level.tokens;
        let planned = Planned {
            prompt_tokens: estimated_tokens,
            least_output_tokens: haft_protocol::limits::SHORTEST_REPLY_TOKENS.into(),
            price: self.state.parts.model.facts().price,
        };
        let hold = match self.purse.hold(&planned) {
            Ok(hold) => hold,
            Err(cause) => return Happened::Unaffordable(cause),
        };
        self.steps += 1;
        if let Err(happened) = self.note_asked(estimated_tokens, made_of).await {
            return happened;
        }
        self.options.watcher.see(&RunEvent::Asked {
            step: self.steps,
            estimated_tokens,
            window_tokens: level.window,
        });
        let request = self.within(hold.output_tokens, &level).of(request);
        let mut listened = Listened::default();
        let answer = {
            let cancellation = self.context.cancellation.clone();
            tokio::select! {
                biased;
                () = cancellation.cancelled() => Answer::Interrupted,
                () = self.purse.time_is_up() => Answer::OutOfTime,
                heard = self.hear(request, &mut listened, &self.options.watcher) => {
                    heard.map_or_else(Answer::Failed, Answer::Finished)
                }
            }
        };
        match answer {
            Answer::Finished(finished) => self.take(finished, estimated_tokens).await,
            Answer::Failed(error) => {
                if error.kind == ModelErrorKind::Overflow {
                    self.state.gauge.refused(&error);
                }
                // What was refused before it began costs nothing.
                let took = listened.has_begun.then_some(estimated_tokens);
                let kept =
                    self.note_silence(error.kind.as_str(), &error.text, listened, took).await;
                kept.err().unwrap_or(Happened::NoReply(error))
            }
            Answer::Interrupted => {
                let took = Some(estimated_tokens);
                let kept =
                    self.note_silence("interrupted", "somebody interrupted", listened, took).await;
                kept.err().unwrap_or(Happened::Interrupted)
            }
            Answer::OutOfTime => {
                let took = Some(estimated_tokens);
                let kept =
                    self.note_silence("out_of_time", "the turn's time was up", listened, took);
                kept.await.err().unwrap_or(Happened::OutOfTime)
            }
        }
    }

    /// Returns the form of a request whose reply may have so many tokens.
    fn within(&self, most: Option<u64>, level: &Level) -> Form {
        let cap = self.state.parts.sampling.output_tokens.map(NonZeroU32::get);
        let own = self.form.output_tokens.or(cap).map(u64::from);
        let usual = own
            .or(self.state.parts.model.facts().output_tokens)
            .or(level.window)
            .unwrap_or(LONGEST_REPLY_TOKENS);
        let lower = most.filter(|it| *it < usual).and_then(|it| u32::try_from(it).ok());
        Form { output_tokens: lower.or(self.form.output_tokens), ..self.form }
    }

    /// Keeps that a request is about to be made.
    pub(super) async fn note_asked(
        &self,
        estimated_tokens: u64,
        made_of: Vec<SectionRecord>,
    ) -> Result<(), Happened> {
        let entry = RunEntry::Asked {
            at: self.agent.dispatch().ports().clock.now(),
            request: self.state.usage.requests + 1,
            estimated_tokens,
            made_of,
        };
        self.keep(&entry).await
    }

    /// Makes the next request, measures it, and says what it is made of.
    pub(super) fn request(
        &mut self,
        notices: &[Notice],
    ) -> Result<(Arc<Request>, Level, Vec<SectionRecord>), ModelError> {
        let wrong = |text: String| ModelError::new(ModelErrorKind::BadRequest, text);
        let (snapshot, tools) = self.tools().map_err(|error| wrong(error.to_string()))?;
        self.context.tools = snapshot;
        if let Some(weight) = self.state.gauge.weigh_tools(&tools) {
            let ToolsWeight { tools, tokens, window_tokens } = weight;
            self.options.watcher.see(&RunEvent::ToolsWeigh { tools, tokens, window_tokens });
        }
        let ask = self.next(tools, notices);
        let compiled = compile(&ask).map_err(|error| wrong(error.to_string()))?;
        let made_of = compiled.sections.iter().filter_map(Section::record).collect();
        let level = self.state.gauge.of(&compiled.request);
        Ok((compiled.request, level, made_of))
    }

    /// Returns the tools of this turn, and how the model is told of them.
    pub(super) fn tools(&self) -> Result<(Arc<Snapshot>, Arc<[ToolSpec]>), RegistryError> {
        if self.options.without_tools {
            return Ok((Arc::default(), Arc::new([])));
        }
        self.state.tools()
    }

    /// Returns what the next request is made of.
    pub(super) fn next<'a>(&'a self, tools: Arc<[ToolSpec]>, notices: &'a [Notice]) -> Ask<'a> {
        // A request that had no reply is made again with the same choice.
        let choice = match self.reply {
            None => self.options.choice.clone(),
            Some(_) => ToolChoice::default(),
        };
        Ask {
            system: &self.state.parts.system,
            transcript: &self.state.transcript,
            tools,
            choice,
            format: self.options.format.clone(),
            sampling: self.state.parts.sampling.clone(),
            notices,
        }
    }

    /// Asks and listens to the end; what comes is added to `listened` as it comes.
    pub(super) async fn hear(
        &self,
        request: Arc<Request>,
        listened: &mut Listened,
        watcher: &Watcher,
    ) -> Result<Finished, ModelError> {
        let Listened { has_begun, said, beside } = listened;
        let mut stream = self.state.parts.model.ask(request).await?;
        loop {
            let part = match stream.next().await {
                Some(Ok(part)) => part,
                Some(Err(error)) => {
                    *has_begun |= error.began;
                    return Err(error);
                }
                None => return Err(ModelError::cut_short()),
            };
            *has_begun = true;
            match part {
                Part::Text(text) => {
                    said.push_str(&text);
                    watcher.see(&RunEvent::Text { text });
                }
                Part::Reasoning(text) => {
                    beside.push_str(&text);
                    watcher.see(&RunEvent::Reasoning { text });
                }
                Part::CallBegins { tool, .. } => {
                    beside.push_str(&tool);
                    watcher.see(&RunEvent::CallBegins { tool });
                }
                Part::CallArguments { json, .. } => beside.push_str(&json),
                Part::Finished(finished) => return Ok(finished),
            }
        }
    }

    async fn take(&mut self, finished: Finished, estimated_tokens: u64) -> Happened {
        let ports = self.agent.dispatch().ports();
        let facts = self.state.parts.model.facts();
        let price = facts.price;
        let mut reply = reply_of(
            finished,
            &self.state.transcript,
            facts.id.clone(),
            ports.message_id(),
            ports.clock.now(),
            || ports.call_id(),
        );
        if let Some(notice) = self.state.gauge.report(&reply.usage) {
            self.options.watcher.see(&RunEvent::Noted { notice });
        }
        reply.usage.micro_usd = reply.usage.micro_usd.or_else(|| price?.of(&reply.usage));
        let output = self.state.gauge.estimator().reply(&reply);
        self.pay(&reply.usage, &self.estimated(estimated_tokens, output));
        let entry = RunEntry::Replied(reply);
        if let Err(happened) = self.keep(&entry).await {
            return happened;
        }
        let RunEntry::Replied(reply) = entry else { return Happened::Begin };
        if let Err(error) = self.state.transcript.reply(reply.clone()) {
            return Happened::NotSummarised(error.to_string());
        }
        let reply = Arc::new(reply);
        self.options.watcher.see(&RunEvent::Replied { reply: Arc::clone(&reply) });
        self.reply = Some(Arc::clone(&reply));
        self.form.output_tokens = None;
        Happened::Reply(reply)
    }

    /// Keeps that there was no whole reply, what was said of it, and what it took: where that is known to be something, the
    /// tokens of its prompt are given.
    pub(super) async fn note_silence(
        &mut self,
        kind: &str,
        text: &str,
        listened: Listened,
        took: Option<u64>,
    ) -> Result<(), Happened> {
        let Listened { said, beside, .. } = listened;
        let estimated = took.map(|prompt| {
            let estimator = self.state.gauge.estimator();
            let output = [&said, &beside].map(|it| estimator.text(it)).into_iter().sum();
            self.estimated(prompt, output)
        });
        if let Some(estimated) = &estimated {
            self.pay(&TokenUsage::default(), estimated);
        }
        let entry = RunEntry::Unanswered {
            at: self.agent.dispatch().ports().clock.now(),
            kind: kind.to_owned(),
            text: text.to_owned(),
            said,
            estimated,
        };
        self.options.watcher.see(&RunEvent::NoReply { text: text.to_owned() });
        self.keep(&entry).await
    }

    /// Returns what a request takes, as it is estimated.
    pub(super) fn estimated(&self, input: u64, output: u64) -> TokenUsage {
        let price = self.state.parts.model.facts().price;
        TokenUsage {
            input: Some(input),
            output: Some(output),
            micro_usd: price.map(|it| it.at_most(input, output)),
            ..TokenUsage::default()
        }
    }

    /// Takes what a request took, and what is estimated of it, from the purse.
    pub(super) fn pay(&mut self, usage: &TokenUsage, estimated: &TokenUsage) {
        self.purse.take(usage, estimated);
        self.state.usage = self.purse.usage();
    }
}

impl Form {
    /// Brings a request into this form.
    fn of(self, request: Arc<Request>) -> Arc<Request> {
        let Self { is_without_reasoning, output_tokens } = self;
        if !is_without_reasoning && output_tokens.is_none() {
            return request;
        }
        let mut request = Arc::unwrap_or_clone(request);
        if let Some(cap) = output_tokens.and_then(NonZeroU32::new) {
            request.sampling.output_tokens = Some(cap);
        }
        if is_without_reasoning {
            let plain = request.messages.iter().map(|fragment| match fragment.message() {
                RequestMessage::Reply(reply) => {
                    Fragment::new(RequestMessage::Reply(Arc::new(without_reasoning(reply))))
                }
                RequestMessage::User(_) | RequestMessage::Results(_) => Arc::clone(fragment),
            });
            request.messages = plain.collect();
        }
        Arc::new(request)
    }
}

/// Returns a reply without reasoning, and without what only its provider understands.
fn without_reasoning(reply: &Reply) -> Reply {
    let parts = reply.parts.iter().filter_map(|part| match part {
        ReplyPart::Text { text, .. } => Some(ReplyPart::Text { text: text.clone(), opaque: None }),
        ReplyPart::Call(call) => {
            let mut call = call.clone();
            call.opaque = None;
            Some(ReplyPart::Call(call))
        }
        ReplyPart::Reasoning { .. } | ReplyPart::Opaque(_) => None,
    });
    Reply { parts: parts.collect(), ..reply.clone() }
}
