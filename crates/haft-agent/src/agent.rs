//! Doing what a turn decides.

use std::sync::Arc;
use std::time::Instant;

use haft_model::{Finished, ModelError, ModelErrorKind, Part, Request, ResponseFormat, ToolChoice};
use haft_protocol::{
    Notice, Reply, RunEntry, StopCause, StopReason, Stopped, UsageTotal, UserMessage,
};
use haft_session::{Ask, Branch, KeeperError, State, compile, reply_of};
use haft_tool::{CallContext, Cancellation, Dispatch};

use crate::calls::{self, Called};
use crate::event::{RunEvent, Watcher};
use crate::limits::{RunLimits, Spent};
use crate::machine::{Heard, Next, TurnMachine};

/// What a turn is done under.
#[derive(Debug, Clone, Default)]
pub struct TurnOptions {
    /// How much it may take.
    pub limits: RunLimits,
    /// Whether the model has to ask for a tool in its first reply.
    pub choice: ToolChoice,
    /// The form of its replies, where they have to have one.
    pub format: Option<ResponseFormat>,
    /// The request to stop the turn.
    pub cancellation: Cancellation,
    /// Who watches.
    pub watcher: Watcher,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnEnd {
    /// Why.
    pub cause: StopCause,
    /// The model's last reply, where there is one.
    pub reply: Option<Arc<Reply>>,
    /// What all requests of the branch took so far.
    pub usage: UsageTotal,
}

/// Lets models work: does what turns decide, over one dispatch.
#[derive(Debug, Clone)]
pub struct Agent {
    dispatch: Dispatch,
}

impl Agent {
    /// Makes an agent over a dispatch.
    pub fn new(dispatch: Dispatch) -> Self {
        Self { dispatch }
    }

    /// Returns the dispatch.
    pub fn dispatch(&self) -> &Dispatch {
        &self.dispatch
    }

    /// Says something to a branch's model and lets it work until it stops.
    ///
    /// Turns of one branch wait for one another.
    ///
    /// # Cancel safety
    ///
    /// Use the options' cancellation: dropping the future leaves calls open, which go on to their ends and are in the
    /// journal; the transcript is as it was kept.
    pub async fn turn(&self, branch: &Branch, said: UserMessage, options: &TurnOptions) -> TurnEnd {
        let mut state = branch.turn().await;
        let mut doing = Doing::new(self, &mut state, options);
        let heard = doing.say(said).await;
        doing.until_stop(heard).await
    }

    /// Takes up a branch where it was left: makes the calls that are open, and lets the model go on.
    pub async fn go_on(&self, branch: &Branch, options: &TurnOptions) -> TurnEnd {
        let mut state = branch.turn().await;
        let mut doing = Doing::new(self, &mut state, options);
        let heard = if doing.state.transcript.open_calls().next().is_some() {
            doing.call().await
        } else {
            Happened::Begin
        };
        doing.until_stop(heard).await
    }
}

/// What happened, owned.
enum Happened {
    Begin,
    Reply(Arc<Reply>),
    NoReply(ModelError),
    Called(Called),
    Interrupted,
    Unrecorded(KeeperError),
    NotSummarised(String),
}

/// One turn at work.
struct Doing<'a> {
    agent: &'a Agent,
    state: &'a mut State,
    options: &'a TurnOptions,
    context: CallContext,
    machine: TurnMachine,
    began: Instant,
    steps: u64,
    reply: Option<Arc<Reply>>,
}

impl<'a> Doing<'a> {
    fn new(agent: &'a Agent, state: &'a mut State, options: &'a TurnOptions) -> Self {
        let mut context = state.parts.context.clone();
        context.cancellation = options.cancellation.child();
        Self {
            agent,
            state,
            options,
            context,
            machine: TurnMachine::new(options.limits),
            began: Instant::now(),
            steps: 0,
            reply: None,
        }
    }

    async fn say(&mut self, said: UserMessage) -> Happened {
        let entry = RunEntry::Said(said);
        if let Err(error) = self.state.parts.keeper.keep(&entry).await {
            return Happened::Unrecorded(error);
        }
        let RunEntry::Said(said) = entry else { return Happened::Begin };
        match self.state.transcript.say(said) {
            Ok(()) => Happened::Begin,
            Err(error) => Happened::NotSummarised(error.to_string()),
        }
    }

    async fn until_stop(&mut self, first: Happened) -> TurnEnd {
        let mut happened = first;
        loop {
            let spent =
                Spent { steps: self.steps, usage: self.state.usage, time: self.began.elapsed() };
            let next = match &happened {
                Happened::Begin => self.machine.next(Heard::Begin, &spent),
                Happened::Reply(reply) => self.machine.next(Heard::Reply(reply), &spent),
                Happened::NoReply(error) => self.machine.next(Heard::NoReply(error), &spent),
                Happened::Called(Called::All(ends)) => {
                    self.machine.next(Heard::Ended(ends), &spent)
                }
                Happened::Called(Called::Waits(ticket)) => {
                    self.machine.next(Heard::Waits(*ticket), &spent)
                }
                Happened::Called(Called::Unrecorded(error)) | Happened::Unrecorded(error) => {
                    self.machine.next(Heard::Unrecorded(error.to_string()), &spent)
                }
                Happened::Interrupted => self.machine.next(Heard::Interrupted, &spent),
                Happened::NotSummarised(text) => {
                    self.machine.next(Heard::NotSummarised(text.clone()), &spent)
                }
            };
            let is_cancelled = self.options.cancellation.is_cancelled();
            happened = match next {
                Next::Stop(cause) => return self.stop(cause).await,
                _ if is_cancelled => return self.stop(StopCause::Interrupted).await,
                Next::Ask { notices } => self.ask(notices).await,
                Next::Call => self.call().await,
                Next::Summarise => Happened::NotSummarised("the model's window is full".to_owned()),
            };
        }
    }

    async fn ask(&mut self, notices: Vec<Notice>) -> Happened {
        let request = match self.request(&notices) {
            Ok(request) => request,
            Err(error) => {
                return Happened::NoReply(ModelError::new(ModelErrorKind::BadRequest, error));
            }
        };
        self.steps += 1;
        let ports = self.agent.dispatch.ports();
        let asked = RunEntry::Asked {
            at: ports.clock.now(),
            request: self.state.usage.requests + 1,
            estimated_tokens: 0,
        };
        if let Err(error) = self.state.parts.keeper.keep(&asked).await {
            return Happened::Unrecorded(error);
        }
        let watcher = &self.options.watcher;
        watcher.see(&RunEvent::Asked {
            step: self.steps,
            estimated_tokens: 0,
            window_tokens: self.state.gauge.window(),
        });
        for notice in notices {
            watcher.see(&RunEvent::Told { notice });
        }
        let cancellation = self.context.cancellation.clone();
        let heard = tokio::select! {
            biased;
            () = cancellation.cancelled() => None,
            heard = self.hear(request) => Some(heard),
        };
        match heard {
            Some(Ok(finished)) => self.take(finished).await,
            Some(Err(error)) => self.note_silence(error).await,
            None => Happened::Interrupted,
        }
    }

    fn request(&mut self, notices: &[Notice]) -> Result<Arc<Request>, String> {
        let (snapshot, tools) = self.state.tools().map_err(|error| error.to_string())?;
        self.context.tools = snapshot;
        let choice =
            if self.steps == 0 { self.options.choice.clone() } else { ToolChoice::default() };
        let ask = Ask {
            system: &self.state.parts.system,
            transcript: &self.state.transcript,
            tools,
            choice,
            format: self.options.format.clone(),
            sampling: self.state.parts.sampling.clone(),
            notices,
        };
        Ok(compile(&ask).map_err(|error| error.to_string())?.request)
    }

    async fn hear(&self, request: Arc<Request>) -> Result<Finished, ModelError> {
        let watcher = &self.options.watcher;
        let mut stream = self.state.parts.model.ask(request).await?;
        loop {
            match stream.next().await {
                Some(Ok(Part::Text(text))) => watcher.see(&RunEvent::Text { text }),
                Some(Ok(Part::Reasoning(text))) => watcher.see(&RunEvent::Reasoning { text }),
                Some(Ok(Part::CallBegins { tool, .. })) => {
                    watcher.see(&RunEvent::CallBegins { tool });
                }
                Some(Ok(Part::CallArguments { .. })) => {}
                Some(Ok(Part::Finished(finished))) => return Ok(finished),
                Some(Err(error)) => return Err(error),
                None => return Err(ModelError::cut_short()),
            }
        }
    }

    async fn take(&mut self, finished: Finished) -> Happened {
        let ports = self.agent.dispatch.ports();
        let model = self.state.parts.model.facts().id.clone();
        let reply = reply_of(
            finished,
            &self.state.transcript,
            model,
            ports.message_id(),
            ports.clock.now(),
            || ports.call_id(),
        );
        let mut usage = reply.usage;
        let price = self.state.parts.model.facts().price;
        usage.micro_usd = usage.micro_usd.or_else(|| price?.of(&usage));
        self.state.usage.add(&usage);
        self.state.gauge.report(&reply.usage);
        let entry = RunEntry::Replied(reply);
        if let Err(error) = self.state.parts.keeper.keep(&entry).await {
            return Happened::Unrecorded(error);
        }
        let RunEntry::Replied(reply) = entry else { return Happened::Begin };
        if let Err(error) = self.state.transcript.reply(reply.clone()) {
            return Happened::NotSummarised(error.to_string());
        }
        let reply = Arc::new(reply);
        self.options.watcher.see(&RunEvent::Replied { reply: Arc::clone(&reply) });
        self.reply = Some(Arc::clone(&reply));
        Happened::Reply(reply)
    }

    async fn note_silence(&mut self, error: ModelError) -> Happened {
        let entry = RunEntry::Unanswered {
            at: self.agent.dispatch.ports().clock.now(),
            kind: error.kind.as_str().to_owned(),
            text: error.text.clone(),
        };
        self.options.watcher.see(&RunEvent::NoReply { text: error.text.clone() });
        match self.state.parts.keeper.keep(&entry).await {
            Ok(()) => Happened::NoReply(error),
            Err(unkept) => Happened::Unrecorded(unkept),
        }
    }

    async fn call(&mut self) -> Happened {
        let context = self.context.next_step();
        let stop = match self.state.transcript.last() {
            Some(haft_protocol::Entry::Step(step)) => step.reply.stop.clone(),
            _ => StopReason::End,
        };
        let dispatch = &self.agent.dispatch;
        let watcher = &self.options.watcher;
        Happened::Called(calls::make(dispatch, &context, self.state, &stop, watcher).await)
    }

    async fn stop(&mut self, cause: StopCause) -> TurnEnd {
        let usage = self.state.usage;
        let at = self.agent.dispatch.ports().clock.now();
        let stopped = Stopped { at, cause: cause.clone(), usage };
        if let Err(error) = self.state.parts.keeper.keep(&RunEntry::Stopped(stopped.clone())).await
        {
            tracing::error!(%error, "the end of a turn was not kept");
        }
        self.options.watcher.see(&RunEvent::Stopped(stopped));
        TurnEnd { cause, reply: self.reply.clone(), usage }
    }
}
