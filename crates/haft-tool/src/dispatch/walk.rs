//! The walk of one call: its order, and stations 1 to 6, 8 and 9.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures_util::FutureExt as _;
use haft_protocol::{
    CallId, Capabilities, Control, Decision, DecisionRecord, Denial, ErrorKind, Failure,
    IntentRecord, Notice, NoticeKind, Outcome, RECORD_VERSION, RawArguments, Status, ToolCall,
};
use haft_schema::{Extra, Reading, Unchecked};
use serde_json::{Map, Value};

use super::authorise::{AskedFor, Asking, Authorised, Subjected, Yes};
use super::batch::Turn;
use super::record::notify;
use super::run::{Held, Prepared};
use super::ticket::{Approved, Ticket};
use super::{Budget, CallContext, Dispatch, Dispatched};
use crate::hooks::{PreVerdict, Proposed};
use crate::ports::{BindRefusal, Bound, Entry, SlotValue};
use crate::registry::Registered;
use crate::{Arguments, Slot, SlotSource};

/// Where a walk starts.
pub(super) enum Start {
    /// At the beginning, with what the budgets said when the call was made.
    Fresh(Box<Fresh>),
    /// At normalising, with an answer.
    Resumed(Box<Approved>),
}

/// A call that was just made.
pub(super) struct Fresh {
    call: ToolCall,
    within: Result<(), Denial>,
}

impl Start {
    /// Takes the call's share of the budgets, in the order in which calls are made.
    pub(super) fn fresh(context: &CallContext, call: ToolCall) -> Self {
        let spent = |budget: &Budget, what: &str, way: &str| {
            Denial::new(
                Control::Budget,
                format!("all {} calls of this {what} are spent", budget.total()),
            )
            .hint(way)
        };
        let within = if !context.step.take() {
            Err(spent(&context.step, "step", "make the remaining calls in the next step"))
        } else if !context.run.take() {
            Err(spent(
                &context.run,
                "run",
                "start another run, or one with a larger limit of calls",
            ))
        } else {
            Ok(())
        };
        Self::Fresh(Box::new(Fresh { call, within }))
    }

    pub(super) fn call_id(&self) -> CallId {
        match self {
            Self::Fresh(fresh) => fresh.call.id,
            Self::Resumed(approved) => approved.ticket.call.id,
        }
    }
}

/// Tools up to which all are named to who asks for another.
const FEW_TOOLS: usize = 20;

/// An early end of the walk.
pub(super) type Ended = Box<Outcome>;

pub(super) fn failed(failure: Failure) -> Ended {
    Box::new(Outcome::from(failure))
}

pub(super) fn denied(denial: Denial) -> Ended {
    Box::new(Outcome::from(denial))
}

pub(super) fn refused(refusal: BindRefusal) -> Ended {
    match refusal {
        BindRefusal::Denied(denial) => denied(denial),
        BindRefusal::Failed(failure) => failed(failure),
    }
}

/// The end of the stations.
enum End {
    Outcome { outcome: Box<Outcome>, held: Option<Held> },
    Waiting(Box<Ticket>),
}

/// One call on its way, and what is known of it so far.
pub(super) struct Walk<'a> {
    pub(super) dispatch: &'a Dispatch,
    pub(super) context: &'a Arc<CallContext>,
    pub(super) intent: IntentRecord,
    pub(super) notices: Vec<Notice>,
    pub(super) journalled: bool,
    /// Whether the end of this walk is the end of the call. It is not where its answer was not taken.
    pub(super) ends_call: bool,
}

/// What comes out of decoding.
struct Decoded<'a> {
    registered: &'a Registered,
    given: Unchecked<'a>,
    call: AskedFor,
}

/// What comes out of normalising.
struct Normal {
    /// The arguments before any hook rewrote them.
    given: Arguments,
    /// The arguments that count.
    arguments: Arguments,
    /// Why hooks want a person to say yes.
    asked: Vec<String>,
}

/// Walks a call from its start to its recorded end, or to a question.
pub(super) async fn walk(
    dispatch: &Dispatch,
    context: &Arc<CallContext>,
    start: Start,
    turn: Option<Turn>,
) -> Dispatched {
    let mut walk = Walk::new(dispatch, context, start.call_id());
    let mut turn = turn;
    let end = {
        let stations = pin!(walk.stations(start, &mut turn));
        AssertUnwindSafe(stations).catch_unwind().await
    };
    let (outcome, held) = match end {
        Ok(Ok(End::Waiting(ticket))) => return Dispatched::Waiting(ticket),
        Ok(Ok(End::Outcome { outcome, held })) => (outcome, held),
        Ok(Err(outcome)) => (outcome, None),
        Err(panic) => (failed(panicked("dispatch", &*panic)), None),
    };
    if !walk.ends_call {
        return Dispatched::Done(outcome);
    }
    let (outcome, recorded) = walk.record(outcome).await;
    drop(held);
    drop(turn);
    if !context.hooks.watch(&outcome) {
        return Dispatched::Done(outcome);
    }
    Dispatched::Done(Box::pin(notify(dispatch, context, walk.intent, outcome, recorded)).await)
}

/// Tells the operator what a panic said, and the caller that it was not their fault.
pub(super) fn panicked(who: &str, panic: &(dyn std::any::Any + Send)) -> Failure {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a value that is no text");
    tracing::error!(who, panic = text, "panicked");
    Failure::new(
        ErrorKind::Internal,
        format!("{who} panicked; this is a fault in its code, not in the call"),
    )
}

impl<'a> Walk<'a> {
    pub(super) fn new(dispatch: &'a Dispatch, context: &'a Arc<CallContext>, call: CallId) -> Self {
        let intent = IntentRecord {
            version: RECORD_VERSION,
            call,
            tool: Err(String::new()),
            caller: context.caller.clone(),
            at: dispatch.ports().clock.now(),
            fingerprint: None,
            arguments_digest: None,
            arguments: Arc::default(),
            bindings: Vec::new(),
            effects: None,
            decision: None,
        };
        let notices = Vec::new();
        Self { dispatch, context, intent, notices, journalled: false, ends_call: true }
    }

    async fn stations(&mut self, start: Start, turn: &mut Option<Turn>) -> Result<End, Ended> {
        let (Decoded { registered, given, call }, yes) = match start {
            Start::Fresh(fresh) => (self.set_out(*fresh)?, None),
            Start::Resumed(approved) => {
                let (decoded, yes) = Box::pin(self.set_out_again(*approved)).await?;
                (decoded, Some(yes))
            }
        };
        let Normal { given, arguments, asked } = self.normalise(registered, given).await?;
        let effects = self.effects(registered, &arguments)?;
        let commands = registered.descriptor.script(&arguments);
        let (mut was_stale, mut was_missing) = (false, false);
        loop {
            let bound = self.bind(registered, &arguments, &effects, turn).await?;
            let subject = Subjected {
                registered,
                arguments: &arguments,
                effects: &effects,
                commands: commands.as_ref(),
                bound: &*bound,
            };
            let asking = Asking { call: &call, given: &given, asked: &asked };
            let verdict = match self.authorise(&subject, &asking, yes.as_deref()).await? {
                Authorised::Allowed(verdict) => verdict,
                Authorised::Waiting(ticket) => return Ok(End::Waiting(ticket)),
            };
            // Nothing that was bound is nothing that could be missing.
            if !bound.records().is_empty()
                && let Err(refusal) = self.unless_cancelled(bound.settle(verdict.filter())).await?
            {
                // An earlier call of the batch may be about to make what is missing.
                let Some(turn) = turn.as_mut().filter(|_| !was_missing) else {
                    return Err(refused(refusal));
                };
                self.unless_cancelled(Box::pin(turn.after_writers())).await?;
                was_missing = true;
                continue;
            }
            self.journal_intent().await?;
            self.activate(registered).await?;
            let Some(held) = self.acquire(registered, &*bound, turn).await? else {
                if was_stale {
                    return Err(denied(Denial::new(
                        Control::Stale,
                        "what the call names kept changing between the decision and the start",
                    )));
                }
                was_stale = true;
                continue;
            };
            let prepared = Prepared { registered, arguments, effects, bound, verdict };
            let (outcome, held) = self.run(&prepared, held).await?;
            return Ok(End::Outcome { outcome, held });
        }
    }

    /// Stations 1 to 3 of a call that was just made.
    fn set_out(&mut self, fresh: Fresh) -> Result<Decoded<'a>, Ended> {
        let Fresh { call, within } = fresh;
        let resolved = self.resolve(&call.tool);
        let within = resolved.and_then(|it| self.budget(it, within).map(|()| it));
        let registered = match within {
            Ok(registered) => registered,
            Err(ended) => {
                self.note(&call.arguments);
                return Err(ended);
            }
        };
        let ToolCall { provider_id, tool, arguments, .. } = call;
        let given = self.decode(registered, arguments)?;
        Ok(Decoded { registered, given, call: AskedFor { tool, provider_id } })
    }

    /// Stations 1 and 3 of a call that waited for an answer.
    async fn set_out_again(
        &mut self,
        approved: Approved,
    ) -> Result<(Decoded<'a>, Box<Yes>), Ended> {
        let Approved { ticket, answer } = approved;
        let ToolCall { provider_id, tool, arguments, .. } = ticket.call.clone();
        let yes = self.answered(ticket, answer).await?;
        let registered = self.resolve(&tool)?;
        // A call that was made again comes as it came at first; what was repaired already stays as it is.
        let given = self.decode(registered, arguments)?;
        Ok((Decoded { registered, given, call: AskedFor { tool, provider_id } }, Box::new(yes)))
    }

    /// Station 1: finds the tool in the snapshot that was advertised.
    pub(super) fn resolve(&mut self, name: &str) -> Result<&'a Registered, Ended> {
        let context: &'a CallContext = self.context;
        let Some(registered) = context.tools.find(name) else {
            self.intent.tool = Err(head(name, 200).to_owned());
            let nearest = self.context.tools.nearest(name);
            let failure = Failure::new(
                ErrorKind::NotFound,
                format!("there is no tool `{}`", head(name, 200).escape_debug()),
            );
            let there: Vec<_> =
                self.context.tools.tools().map(|it| it.wire.as_str()).take(FEW_TOOLS + 1).collect();
            return Err(failed(if !nearest.is_empty() {
                failure.hint(format!("nearest: {}", nearest.join(", ")))
            } else if (1..=FEW_TOOLS).contains(&there.len()) {
                failure.hint(format!("the tools are {}", there.join(", ")))
            } else {
                failure
            }));
        };
        self.intent.tool = Ok(registered.descriptor.name().clone());
        self.intent.fingerprint = Some(registered.descriptor.fingerprint());
        Self::still_itself(registered)?;
        Ok(registered)
    }

    /// Puts arguments on record that were never read.
    fn note(&mut self, arguments: &RawArguments) {
        self.intent.arguments = Arc::new(unread(arguments));
    }

    /// Denies a tool that describes itself in another way than when it was registered.
    fn still_itself(registered: &Registered) -> Result<(), Ended> {
        if registered.tool.descriptor().fingerprint() == registered.descriptor.fingerprint() {
            return Ok(());
        }
        let name = registered.descriptor.name();
        Err(denied(Denial::new(
            Control::Suspended,
            format!(
                "`{name}` changed its description since it was registered and is suspended until approved again"
            ),
        )))
    }

    /// Station 2: budgets, and calls that no argument could make allowed.
    fn budget(&mut self, registered: &Registered, within: Result<(), Denial>) -> Result<(), Ended> {
        within.map_err(denied)?;
        let (tool, alias) = names(registered);
        let ceiling = registered.descriptor.capabilities();
        match self.context.policy.rules_out(tool, alias, ceiling) {
            None => Ok(()),
            Some(because) => {
                self.intent.decision =
                    Some(DecisionRecord { decision: Decision::Deny, because: because.shared() });
                Err(denied(because.denial()))
            }
        }
    }

    /// Station 3: reads the arguments, with bounded repair that is reported.
    pub(super) fn decode<'r>(
        &mut self,
        registered: &'r Registered,
        raw: RawArguments,
    ) -> Result<Unchecked<'r>, Ended> {
        let descriptor = &registered.descriptor;
        let extra =
            if descriptor.capabilities().is_read_only() { Extra::Drop } else { Extra::Reject };
        let reading = Reading { extra, ..Reading::default() };
        // What cannot be read goes on record as it came; an object is refused here only for its size or depth.
        let as_it_came = match &raw {
            RawArguments::Json(Value::Object(_)) => None,
            raw => Some(unread(raw)),
        };
        let (given, repairs) = descriptor.input().read(raw, reading).map_err(|error| {
            let refused = as_it_came.unwrap_or_else(|| Value::from("(too large or too deep)"));
            self.intent.arguments = Arc::new(refused);
            failed(error.into())
        })?;
        for repair in &repairs {
            self.notices.push(Notice::new(NoticeKind::Repaired, repair.to_string()));
        }
        Ok(given)
    }

    /// Stations 4 and 5: validates, applies defaults, digests; then each hook once, in order, and again after a rewrite.
    async fn normalise(
        &mut self,
        registered: &Registered,
        given: Unchecked<'_>,
    ) -> Result<Normal, Ended> {
        let given = given.normalise().map_err(|(given, problems)| {
            self.intent.arguments = Arc::new(Value::Object(given));
            failed(problems.into())
        })?;
        let given = Arguments::accepted(given);
        let mut arguments = given.clone();
        let mut asked = Vec::new();
        for (name, hook) in &self.context.hooks.pre {
            let proposed = Proposed {
                call: self.intent.call,
                caller: self.context.caller.clone(),
                tool: Arc::clone(&registered.descriptor),
                arguments: arguments.clone(),
            };
            let running = AssertUnwindSafe(async move { hook(proposed).await }).catch_unwind();
            let limit = self.dispatch.inner.limits.hook;
            let said =
                self.unless_cancelled(Box::pin(tokio::time::timeout(limit, running))).await?;
            let refuse = |reason: String| denied(Denial::new(Control::Hook(name.clone()), reason));
            match said {
                Ok(Ok(Ok(PreVerdict::Continue))) => {}
                Ok(Ok(Ok(PreVerdict::Rewrite(rewritten)))) => {
                    arguments = Self::check(registered, rewritten)?;
                }
                Ok(Ok(Ok(PreVerdict::Ask(reason)))) => asked.push(format!("hook {name}: {reason}")),
                Ok(Ok(Ok(PreVerdict::Deny(reason)))) => return Err(refuse(reason)),
                Ok(Ok(Err(error))) => {
                    return Err(refuse(format!(
                        "the hook failed, and a hook that fails denies: {error}"
                    )));
                }
                Ok(Err(panic)) => {
                    panicked(&format!("hook {name}"), &*panic);
                    return Err(refuse(
                        "the hook panicked, and a hook that fails denies".to_owned(),
                    ));
                }
                Err(_) => {
                    let ms = millis(limit);
                    return Err(refuse(format!(
                        "the hook said nothing within {ms} ms, and a silent hook denies"
                    )));
                }
            }
        }
        self.intent.arguments_digest = Some(arguments.digest());
        self.intent.arguments = arguments.shared();
        Ok(Normal { given, arguments, asked })
    }

    pub(super) fn check(
        registered: &Registered,
        given: Map<String, Value>,
    ) -> Result<Arguments, Ended> {
        let checked = registered.descriptor.input().normalise(given);
        match checked {
            Ok(normalised) => Ok(Arguments::accepted(normalised.arguments)),
            Err(problems) => Err(failed(problems.into())),
        }
    }

    /// Narrows the declared capabilities to this call's, never beyond the declared ones.
    pub(super) fn effects(
        &mut self,
        registered: &Registered,
        arguments: &Arguments,
    ) -> Result<Capabilities, Ended> {
        let ceiling = registered.descriptor.capabilities();
        let effects = match registered.tool.effects(arguments).map_err(failed)? {
            None => ceiling.clone(),
            Some(narrowed) => {
                narrowed.within(ceiling).map_err(|error| {
                    let name = registered.descriptor.name();
                    failed(Failure::new(
                        ErrorKind::Internal,
                        format!("tool `{name}` claims more than it declared: {error}"),
                    ))
                })?;
                narrowed
            }
        };
        self.intent.effects = Some(effects.clone());
        Ok(effects)
    }

    /// Station 6: turns paths into handles, as far as they lead. What is missing comes out after station 7.
    pub(super) async fn bind(
        &mut self,
        registered: &Registered,
        arguments: &Arguments,
        effects: &Capabilities,
        turn: &mut Option<Turn>,
    ) -> Result<Arc<dyn Bound>, Ended> {
        let descriptor = &registered.descriptor;
        let narrowed = |slot: &Slot| slot.narrowed(effects, descriptor.capabilities(), arguments);
        let fill = |slot: Slot| match &slot.source {
            SlotSource::Argument(pointer) => arguments
                .texts_at(pointer)
                .into_iter()
                .map(|(argument, given)| SlotValue {
                    slot: slot.clone(),
                    argument,
                    given: given.to_owned(),
                })
                .collect(),
            SlotSource::Roots => {
                vec![SlotValue { slot, argument: String::new(), given: String::new() }]
            }
        };
        let values: Vec<SlotValue> =
            descriptor.slots().iter().map(narrowed).flat_map(fill).collect();
        let binder = &self.dispatch.ports().binder;
        let mut bound = self.unless_cancelled(binder.bind(values.clone())).await?;
        if let (Err(BindRefusal::Failed(_)), Some(turn)) = (&bound, turn) {
            // An earlier call of the batch may be about to make the way to it.
            self.unless_cancelled(Box::pin(turn.after_writers())).await?;
            bound = self.unless_cancelled(binder.bind(values)).await?;
        }
        let bound = bound.map_err(refused)?;
        self.intent.bindings = bound.records().to_vec();
        Ok(bound)
    }

    /// Station 8: from here on the call is on record; if it cannot be, it does not happen.
    pub(super) async fn journal_intent(&mut self) -> Result<(), Ended> {
        self.journal(Entry::Intent(&self.intent)).await.map_err(|error| {
            failed(
                Failure::from(error)
                    .hint("nothing was run: a call that cannot be recorded does not start"),
            )
        })?;
        self.journalled = true;
        Ok(())
    }

    /// Station 9: wakes the tool's source, and looks again whether the tool is still itself.
    async fn activate(&self, registered: &Registered) -> Result<(), Ended> {
        if registered.waking.is_awake() {
            return Self::still_itself(registered);
        }
        let limit = self.dispatch.inner.limits.activate;
        let waking = Box::pin(tokio::time::timeout(limit, registered.waking.wake()));
        let woken = self.unless_cancelled(waking).await?;
        match woken {
            Ok(Ok(())) => Self::still_itself(registered),
            Ok(Err(failure)) => Err(failed(failure)),
            Err(_) => Err(failed(Failure::new(
                ErrorKind::Unavailable,
                format!(
                    "source `{}` did not wake up within {} ms",
                    registered.source(),
                    millis(limit)
                ),
            ))),
        }
    }

    /// Runs a future unless the call is cancelled first.
    pub(super) async fn unless_cancelled<T>(
        &self,
        future: impl Future<Output = T>,
    ) -> Result<T, Ended> {
        let cancelled = || Err(Box::new(Outcome::new(Status::Cancelled)));
        let cancellation = &self.context.cancellation;
        if cancellation.is_cancelled() {
            return cancelled();
        }
        let mut future = pin!(future);
        // Most doors answer at once, and then nobody has to be told about the cancellation.
        if let Poll::Ready(value) = futures_util::poll!(future.as_mut()) {
            return Ok(value);
        }
        tokio::select! {
            biased;
            () = cancellation.cancelled() => cancelled(),
            value = future => Ok(value),
        }
    }
}

/// Runs a future under a limit. Most doors answer at once, and then nobody asks the clock.
pub(super) async fn within<T>(
    limit: Duration,
    future: impl Future<Output = T>,
) -> Result<T, tokio::time::error::Elapsed> {
    let mut future = pin!(future);
    if let Poll::Ready(value) = futures_util::poll!(future.as_mut()) {
        return Ok(value);
    }
    tokio::time::timeout(limit, future).await
}

/// Returns the canonical name, and the alias where the call came by one.
pub(super) fn names(
    registered: &Registered,
) -> (&haft_protocol::QualifiedName, Option<&haft_protocol::QualifiedName>) {
    match &registered.alias_of {
        None => (registered.descriptor.name(), None),
        Some(canonical) => (canonical, Some(registered.descriptor.name())),
    }
}

/// Returns arguments that were never read as they go on record.
fn unread(arguments: &RawArguments) -> Value {
    match arguments {
        RawArguments::Json(value) => value.clone(),
        RawArguments::Text(text) => Value::String(head(text, 4096).to_owned()),
    }
}

/// Returns the first bytes of a text, cut where a character ends.
pub(super) fn head(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text)
}

pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
