//! One turn at work: doing what its machine decides.

mod act;
mod ask;
mod make_room;
mod take_up;

use std::sync::Arc;

use haft_model::ModelError;
use haft_protocol::{Entry, Notice, Reply, RunEntry, StopCause, Stopped, UserMessage};
use haft_session::{KeeperError, State};
use haft_tool::CallContext;

use crate::agent::{Agent, TurnEnd, TurnOptions};
use crate::calls::{self, Called};
use crate::event::RunEvent;
use crate::limits::{LimitError, Overrun};
use crate::machine::{Changed, Heard, Next, TurnMachine};
use crate::purse::Purse;
use crate::subagent::Parent;

/// What happened, owned.
pub(crate) enum Happened {
    Begin,
    Reply(Arc<Reply>),
    NoReply(ModelError),
    Called(Called),
    Summarised,
    NotSummarised(String),
    Unaffordable(StopCause),
    Interrupted,
    OutOfTime,
    Unrecorded(KeeperError),
}

/// One turn at work.
pub(crate) struct Doing<'a> {
    agent: &'a Agent,
    state: &'a mut State,
    options: &'a TurnOptions,
    context: CallContext,
    machine: TurnMachine,
    purse: Purse,
    /// What the model has still to be told.
    untold: Vec<Notice>,
    steps: u64,
    calls: u64,
    reply: Option<Arc<Reply>>,
    form: Form,
}

/// How requests of this turn differ from what the branch says.
#[derive(Debug, Clone, Copy, Default)]
struct Form {
    /// Whether earlier replies are shown without reasoning.
    is_without_reasoning: bool,
    /// Tokens of the next reply at most.
    output_tokens: Option<u32>,
}

impl<'a> Doing<'a> {
    pub(crate) fn new(agent: &'a Agent, state: &'a mut State, options: &'a TurnOptions) -> Self {
        let mut context = state.parts.context.clone();
        context.cancellation = options.cancellation.child();
        let above = context.extensions.get::<Parent>();
        let purse = Purse::new(
            options.limits,
            context.run.clone(),
            context.waits.clone(),
            state.usage,
            above.as_deref().map(|it| it.purse.clone()),
        );
        let depth = above.map_or(0, |it| it.depth.saturating_add(1));
        context.extensions.insert(Parent::of(state, options, purse.clone(), depth));
        Self {
            agent,
            state,
            options,
            context,
            machine: TurnMachine::new(options.limits),
            purse,
            untold: Vec::new(),
            steps: 0,
            calls: 0,
            reply: None,
            form: Form::default(),
        }
    }

    /// Returns why the turn cannot begin at all.
    pub(crate) fn refusal(&self) -> Option<StopCause> {
        match self.options.limits.check(self.state.parts.model.facts()) {
            Ok(()) => None,
            Err(LimitError::NoPrice { model }) => Some(StopCause::Unpriced { model }),
        }
    }

    /// Keeps an entry, before what follows from it.
    pub(crate) async fn keep(&self, entry: &RunEntry) -> Result<(), Happened> {
        self.state.parts.keeper.keep(entry).await.map_err(Happened::Unrecorded)
    }

    /// Ends what is open, and adds what somebody says.
    pub(crate) async fn say(&mut self, said: UserMessage) -> Happened {
        let open: Vec<_> = self.state.transcript.open_calls().cloned().collect();
        for call in open {
            let lost = haft_session::unknown_end();
            let ended = calls::end(self.state, &call, lost, &self.options.watcher).await;
            if let Err(error) = ended {
                return Happened::Unrecorded(error);
            }
        }
        self.add(said).await.err().unwrap_or(Happened::Begin)
    }

    async fn add(&mut self, said: UserMessage) -> Result<(), Happened> {
        let entry = RunEntry::Said(said);
        self.keep(&entry).await?;
        let RunEntry::Said(said) = entry else { return Ok(()) };
        self.state.transcript.say(said).map_err(|error| Happened::NotSummarised(error.to_string()))
    }

    pub(crate) async fn until_stop(mut self, first: Happened) -> TurnEnd {
        let mut happened = first;
        loop {
            let spent = self.purse.spent(self.steps);
            let heard = match &happened {
                Happened::Begin => Heard::Begin,
                Happened::Reply(reply) => Heard::Reply(reply),
                Happened::NoReply(error) => Heard::NoReply(error),
                Happened::Called(Called::All(ends)) => Heard::Ended(ends),
                Happened::Called(Called::Waits(ticket)) => Heard::Waits(*ticket),
                Happened::Called(Called::Unrecorded(error)) | Happened::Unrecorded(error) => {
                    Heard::Unrecorded(error.to_string())
                }
                Happened::Summarised => Heard::Summarised,
                Happened::NotSummarised(text) => Heard::NotSummarised(text.clone()),
                Happened::Unaffordable(cause) => Heard::Unaffordable(cause.clone()),
                Happened::Interrupted => Heard::Interrupted,
                Happened::OutOfTime => Heard::OutOfTime,
            };
            let is_cancelled = self.options.cancellation.is_cancelled();
            // Calls that were cancelled say nothing about limits and circles.
            let heard = match heard {
                Heard::Ended(_) if is_cancelled => Heard::Interrupted,
                heard => heard,
            };
            let next = self.machine.next(heard, &spent);
            happened = match next {
                Next::Stop(cause) => return self.stop(cause).await,
                Next::PassOver => self.pass_over().await,
                // Where somebody interrupted, dispatch cancels each before it runs, and puts that on record.
                Next::Call => self.call().await,
                _ if is_cancelled => return self.stop(StopCause::Interrupted { by: None }).await,
                Next::Ask { notices } => self.ask(notices).await,
                Next::AskAgain(changed) => {
                    self.change(changed);
                    self.ask(Vec::new()).await
                }
                Next::Summarise => self.summarise().await,
            };
        }
    }

    fn change(&mut self, changed: Changed) {
        match changed {
            Changed::NoReasoning => self.form.is_without_reasoning = true,
            Changed::ShorterReply => {
                let facts = self.state.parts.model.facts();
                let cap = self.state.parts.sampling.output_tokens.map(std::num::NonZeroU32::get);
                let most = facts.output_tokens.and_then(|it| u32::try_from(it).ok());
                let now = self.form.output_tokens.or(cap).or(most).unwrap_or(8_192);
                let lower = (now / 2).max(haft_protocol::limits::SHORTEST_REPLY_TOKENS);
                self.form.output_tokens = Some(lower);
            }
        }
    }

    /// Makes the open calls of the last reply.
    async fn call(&mut self) -> Happened {
        let calls: Vec<_> = self.state.transcript.open_calls().cloned().collect();
        let made = calls.into_iter().map(|call| (call.id, call)).collect();
        self.make(made).await
    }

    /// Makes calls of the last reply, each under an id of its own.
    async fn make(
        &mut self,
        made: Vec<(haft_protocol::CallId, haft_protocol::RequestedCall)>,
    ) -> Happened {
        let context = self.context.next_step();
        self.calls = self.calls.saturating_add(made.len() as u64);
        let making = calls::Making {
            dispatch: self.agent.dispatch(),
            context: &context,
            watcher: &self.options.watcher,
            purse: &self.purse,
        };
        let called = making.make(self.state, made).await;
        // What subagents took is on the purse only.
        self.state.usage = self.purse.usage();
        Happened::Called(called)
    }

    /// Ends the open calls of the last reply without making any.
    async fn pass_over(&mut self) -> Happened {
        Happened::Called(calls::pass_over(self.state, &self.options.watcher).await)
    }

    pub(crate) async fn stop(&mut self, cause: StopCause) -> TurnEnd {
        let cause = match cause {
            StopCause::Interrupted { by: None } => {
                StopCause::Interrupted { by: self.options.stopped_by.signal() }
            }
            cause => cause,
        };
        let usage = self.state.usage;
        // What an earlier turn took was told at its end.
        let has_worked = self.steps > 0 || self.calls > 0;
        if let Some(over) = self.options.limits.overrun(&usage).filter(|_| has_worked) {
            let Overrun { limit, allowed, taken } = over;
            self.options.watcher.see(&RunEvent::Overran { limit, allowed, taken });
        }
        let at = self.agent.dispatch().ports().clock.now();
        let stopped = Stopped { at, cause: cause.clone(), usage };
        if let Err(error) = self.state.parts.keeper.keep(&RunEntry::Stopped(stopped.clone())).await
        {
            tracing::error!(%error, "the end of a turn was not kept");
        }
        self.options.watcher.see(&RunEvent::Stopped(stopped));
        let Self { steps, calls, .. } = *self;
        TurnEnd { cause, reply: self.reply.clone(), steps, calls, usage }
    }

    /// Tells whether the model spoke last, and asked for nothing.
    fn model_spoke_last(&self) -> bool {
        matches!(self.state.transcript.last(), Some(Entry::Step(step)) if step.reply.calls().next().is_none())
    }

    /// Puts notices where the model meets them: into the transcript behind its own words, else at the end of the next
    /// request alone.
    async fn place(&mut self, notices: Vec<Notice>) -> Result<Vec<Notice>, Happened> {
        if notices.is_empty() || !self.model_spoke_last() {
            return Ok(notices);
        }
        let ports = self.agent.dispatch().ports();
        let (id, at) = (ports.message_id(), ports.clock.now());
        self.add(UserMessage { id, at, content: Vec::new(), notices }).await?;
        Ok(Vec::new())
    }
}
