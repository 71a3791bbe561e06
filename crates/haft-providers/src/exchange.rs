//! One request and its streamed answer, whatever the dialect.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::StreamExt as _;
use haft_model::{
    Dialect, Finished, ModelError, ModelErrorKind, ModelFacts, Part, ReplyStream, Request, Sampling,
};
use haft_net::{ByteStream, Dialer, Incoming, NetError, Outgoing};
use haft_protocol::{ModelId, limits};
use serde_json::Value;

use crate::Endpoint;
use crate::errors::{self, Report};
use crate::idle::Idle;
use crate::known::Known;
use crate::rate;
use crate::schema::{Lowering, Lowerings};
use crate::sse::{Decoder, Event, Frame};
use crate::ways::{Thinking, Ways};

/// How long an answer that is an error may take to come.
const ERROR_WITHIN: std::time::Duration = std::time::Duration::from_secs(10);

/// What one event came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing was said.
    Nothing,
    /// The reply went on.
    Progress,
    /// The reply is whole; what belongs to it, such as token counts, may still come.
    Whole,
    /// The reply went on although it was said to be whole: it is when the stream ends as it should, and not when it breaks.
    Doubtful,
    /// Nothing more comes, whether or not the connection ends.
    Done,
}

/// Reads the events of one dialect.
pub(crate) trait Reader: Send + 'static {
    /// Takes an event.
    fn take(&mut self, event: &Event, shown: &mut VecDeque<Part>) -> Result<Step, Fault>;

    /// Returns the reply. It is called once, when nothing more comes.
    fn finish(&mut self) -> Finished;
}

/// Why a stream cannot be read on.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The provider reports an error.
    Reported(Report),
    /// What came is not the dialect, or too much.
    Own(ModelError),
}

impl From<ModelError> for Fault {
    fn from(error: ModelError) -> Self {
        Self::Own(error)
    }
}

impl Fault {
    /// Makes the fault of an event that is no JSON.
    pub(crate) fn no_json(error: &serde_json::Error) -> Self {
        let text = format!("an event of the stream is no JSON: {error}");
        Self::Own(ModelError::new(ModelErrorKind::Malformed, text))
    }

    /// Makes the fault of an event that is no event of a dialect: an error of a server in front of it, or of another dialect.
    pub(crate) fn not_ours(data: &str, dialect: Dialect) -> Self {
        let value: Value = serde_json::from_str(data).unwrap_or_default();
        let report = Report::of_json(&value);
        if !report.message.is_empty() || value.get("error").is_some_and(|it| !it.is_null()) {
            return Self::Reported(report);
        }
        let text = format!("what came is not in the dialect `{}`", dialect.as_str());
        Self::Own(ModelError::new(ModelErrorKind::Malformed, text))
    }
}

/// Who asks for one model.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    pub(crate) dialer: Dialer,
    pub(crate) endpoint: Endpoint,
    pub(crate) facts: ModelFacts,
    pub(crate) ways: Ways,
    lowerings: Arc<Lowerings>,
}

impl Exchange {
    /// Makes what asks a model at an endpoint.
    pub(crate) fn new(endpoint: Endpoint, id: ModelId, known: &Known, dialer: Dialer) -> Self {
        let ways = Ways::of(&endpoint.provider, id.name());
        let facts = endpoint.facts(id, known, ways);
        Self { dialer, endpoint, facts, ways, lowerings: Arc::default() }
    }

    /// Returns the schemas of a request as the server takes them.
    pub(crate) fn lowered(&self, request: &Request) -> Arc<Lowering> {
        self.lowerings.of(request, self.endpoint.quirks.schemas)
    }

    /// Returns how the model of a request picks its words, as far as it can be told.
    pub(crate) fn sampling(&self, request: &Request) -> Sampling {
        let Sampling { temperature, effort, .. } = request.sampling;
        let thinks = self.endpoint.quirks.effort && self.ways.thinking != Thinking::Untold;
        Sampling {
            temperature: temperature.filter(|_| self.ways.temperature),
            effort: effort.filter(|_| thinks),
            ..request.sampling
        }
    }

    /// Sends a request and reads the answer as it comes.
    pub(crate) async fn ask(
        &self,
        request: &Request,
        outgoing: Outgoing,
        reader: Box<dyn Reader>,
    ) -> Result<ReplyStream, ModelError> {
        let outgoing = outgoing
            .header("content-type", "application/json")
            .header("accept", "text/event-stream, application/json");
        let answer = self.dialer.send(outgoing).await.map_err(|error| self.of_net(&error))?;
        if answer.status() >= 300 {
            return Err(self.refused(answer).await);
        }
        let rate = rate::facts(|name| answer.header(name));
        let kind = answer.header("content-type").unwrap_or_default().to_ascii_lowercase();
        let mut pump = Pump {
            exchange: self.clone(),
            lowering: self.lowered(request),
            reader,
            body: None,
            decoder: Decoder::new(limits::REPLY_EVENT_BYTES),
            frames: VecDeque::new(),
            shown: VecDeque::new(),
            idle: Idle::new(self.endpoint.patience),
            unsaid: 0,
            began: false,
            state: State::Speaking,
        };
        if kind.starts_with("text/html") {
            let text =
                format!("{} answers with a page for people: is the address right?", self.who());
            return Err(ModelError::new(ModelErrorKind::Malformed, text));
        }
        if kind.starts_with("application/json") {
            // Some servers answer at once although a stream was asked for: one event.
            let first = self.endpoint.patience.first;
            let body = answer.whole(limits::REPLY_EVENT_BYTES, first).await;
            let body = body.map_err(|error| self.of_net(&error))?;
            let data = String::from_utf8_lossy(&body).into_owned();
            pump.frames.push_back(Frame::Event(Event { name: String::new(), data }));
        } else {
            pump.body = Some(answer.stream());
        }
        Ok(ReplyStream::new(futures_util::stream::unfold(pump, |mut pump| async {
            let item = pump.next().await?;
            Some((item, pump))
        }))
        .with_rate(rate))
    }

    fn who(&self) -> String {
        format!("{} at {}", self.facts.id, self.endpoint.address)
    }

    fn of_net(&self, error: &NetError) -> ModelError {
        let mut error = errors::of_net(error);
        error.text = format!("{}: {}", self.facts.id, error.text);
        error
    }

    fn reported(&self, report: Report) -> ModelError {
        let who = match report.status {
            Some(status) => format!("{} answers {status}", self.who()),
            None => self.who(),
        };
        let key = self.endpoint.key.as_ref();
        report.into_error(&who, |text| match key {
            Some(key) => key.taken_out_of(text),
            None => text.to_owned(),
        })
    }

    async fn refused(&self, answer: Incoming) -> ModelError {
        let status = answer.status();
        let header = |name: &str| answer.header(name);
        let retry_after = rate::retry_after(header).or_else(|| {
            // Who does not say how long to wait may say when there is something left again.
            (status == 429).then(|| rate::facts(header).until_some_is_left()).flatten()
        });
        let body = answer.whole(limits::ANSWER_BYTES, ERROR_WITHIN).await.unwrap_or_default();
        let mut error = self.reported(Report::of_body(status, &body));
        error.retry_after = retry_after.or(error.retry_after);
        if error.kind == ModelErrorKind::Credentials
            && self.endpoint.key.is_none()
            && let Some(variable) = self.endpoint.key_variables.first()
        {
            error.text.push_str(&format!(" (no key was given: set {variable})"));
        }
        error
    }
}

enum State {
    Speaking,
    /// It was said to be whole, and went on.
    Doubtful,
    Whole,
    Ended,
}

struct Pump {
    exchange: Exchange,
    lowering: Arc<Lowering>,
    reader: Box<dyn Reader>,
    body: Option<ByteStream>,
    decoder: Decoder,
    frames: VecDeque<Frame>,
    shown: VecDeque<Part>,
    idle: Idle,
    /// Bytes since something was said.
    unsaid: usize,
    began: bool,
    state: State,
}

impl Pump {
    async fn next(&mut self) -> Option<Result<Part, ModelError>> {
        loop {
            if let Some(part) = self.shown.pop_front() {
                self.began = true;
                return Some(Ok(part));
            }
            if matches!(self.state, State::Ended) {
                return None;
            }
            if let Err(mut error) = self.read().await {
                self.state = State::Ended;
                error.began = self.began;
                return Some(Err(error));
            }
        }
    }

    async fn read(&mut self) -> Result<(), ModelError> {
        match self.frames.pop_front() {
            Some(Frame::Ping) => return Ok(()),
            Some(Frame::Event(event)) => return self.take(&event),
            None => {}
        }
        let Some(body) = &mut self.body else { return self.end() };
        let is_whole = matches!(self.state, State::Whole);
        match self.idle.wait(body.next()).await {
            // Whatever happens to the connection of a reply that is whole takes nothing away from it.
            None | Some(Some(Err(_))) if is_whole => self.finish(),
            None => return Err(self.stalled()),
            Some(Some(Err(error))) => return Err(self.exchange.of_net(&error)),
            Some(Some(Ok(bytes))) => {
                self.unsaid = self.unsaid.saturating_add(bytes.len());
                if self.unsaid > limits::REPLY_UNSAID_BYTES {
                    return self.flooded(is_whole);
                }
                self.decoder.feed(&bytes, &mut self.frames).map_err(|_| {
                    let text =
                        format!("an event has more than {} bytes", limits::REPLY_EVENT_BYTES);
                    ModelError::new(ModelErrorKind::Malformed, text)
                })?;
            }
            Some(None) => self.end()?,
        }
        Ok(())
    }

    fn take(&mut self, event: &Event) -> Result<(), ModelError> {
        let step = self.reader.take(event, &mut self.shown).map_err(|fault| match fault {
            Fault::Own(mut error) => {
                error.text = format!("{}: {}", self.exchange.who(), error.text);
                error
            }
            Fault::Reported(report) => self.exchange.reported(report),
        })?;
        match step {
            Step::Nothing => {}
            Step::Progress | Step::Doubtful => {
                self.idle.progress();
                self.unsaid = 0;
                if step == Step::Doubtful {
                    self.state = State::Doubtful;
                }
            }
            Step::Whole => {
                self.state = State::Whole;
                self.idle.last_words();
            }
            Step::Done => self.finish(),
        }
        Ok(())
    }

    /// The connection ended, or the one answer was read.
    fn end(&mut self) -> Result<(), ModelError> {
        self.body = None;
        let decoder = std::mem::replace(&mut self.decoder, Decoder::new(0));
        if let Some(event) = decoder.finish() {
            // What was cut is no event: the stream ended, and not the dialect.
            match self.take(&event) {
                Err(error) if error.kind == ModelErrorKind::Malformed => {}
                other => other?,
            }
        }
        match self.state {
            State::Ended => {}
            State::Whole | State::Doubtful => self.finish(),
            State::Speaking => {
                let mut error = ModelError::cut_short();
                error.text = format!("{}: {}", self.exchange.who(), error.text);
                return Err(error);
            }
        }
        Ok(())
    }

    fn finish(&mut self) {
        self.state = State::Ended;
        self.body = None;
        let mut finished = self.reader.finish();
        self.lowering.restore(&mut finished);
        self.shown.push_back(Part::Finished(finished));
    }

    /// Ends a stream that says nothing with ever more bytes: faster than it can be read, it makes nobody wait.
    fn flooded(&mut self, is_whole: bool) -> Result<(), ModelError> {
        if is_whole {
            self.finish();
            return Ok(());
        }
        let text = format!(
            "{} sent more than {} bytes and said nothing with them",
            self.exchange.who(),
            limits::REPLY_UNSAID_BYTES
        );
        Err(ModelError::new(ModelErrorKind::Malformed, text))
    }

    fn stalled(&self) -> ModelError {
        let what = if self.began { "said nothing more" } else { "said nothing" };
        let seconds = self.idle.allowed().as_secs_f32();
        let text = format!("{} {what} for {seconds} s", self.exchange.who());
        ModelError::new(ModelErrorKind::Stalled, text)
    }
}
