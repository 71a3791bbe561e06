//! The walk of one call: stations 10 to 14.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Duration;

use futures_util::FutureExt as _;
use haft_policy::Verdict;
use haft_protocol::{AttemptRecord, Capabilities, ErrorKind, Failure, NoticeKind, Outcome, Status};
use tokio::time::Instant;

use super::batch::Turn;
use super::bounding::bound_output;
use super::nested::{Ancestors, NestedDoor};
use super::permit::PermitSlot;
use super::walk::{Ended, Walk, failed, millis, panicked, within};
use crate::locks::{Claim, LockGuard, Owner};
use crate::ports::{self, Bound, Entry, PortError};
use crate::registry::Registered;
use crate::tool::BoxFuture;
use crate::{Arguments, Call, Output, Seen};

/// A call that every station before the body said yes to.
pub(super) struct Prepared<'a> {
    pub(super) registered: &'a Registered,
    pub(super) arguments: Arguments,
    pub(super) effects: Capabilities,
    pub(super) bound: Arc<dyn Bound>,
    pub(super) verdict: Verdict,
}

/// What a call holds while its body runs.
pub(super) struct Held {
    permit: PermitSlot,
    /// Nothing where the call claims nothing.
    _locked: Option<Locked>,
}

struct Locked {
    // Dropped in this order: whoever gets the lock next must find other processes let in.
    _others_out: ports::Held,
    _locks: LockGuard,
}

/// How the body of a call ended, or was left to go on.
struct Ran {
    outcome: Box<Outcome>,
    seen: Vec<Seen>,
    /// Whether another attempt may end better.
    is_transient: bool,
}

impl Ran {
    /// Takes what a body ended with, by itself or after it was asked to stop.
    fn ended(end: BodyEnd, stopped: Option<Status>) -> Self {
        let returned = end.unwrap_or_else(|panic| Err(panicked("the tool", &*panic)));
        let is_transient = matches!(&returned, Err(failure) if failure.kind.is_transient());
        let is_transient = is_transient && stopped.is_none();
        let (output, failure) = match returned {
            Ok(mut output) => {
                let failure = output.failure.take();
                (output, failure)
            }
            Err(failure) => (Output::default(), Some(failure)),
        };
        let status = stopped.unwrap_or_else(|| failure.map_or(Status::Ok, Status::Failed));
        Self { is_transient, ..Self::of(status, output) }
    }

    fn of(status: Status, output: Output) -> Self {
        let Output { content, structured, bounds, notices, changes, seen, usage, .. } = output;
        let outcome = Outcome {
            content,
            structured,
            changes,
            bounds,
            notices,
            usage,
            ..Outcome::new(status)
        };
        Self { outcome: Box::new(outcome), seen, is_transient: false }
    }
}

/// What the future of a body ends with.
type BodyEnd = std::thread::Result<Result<Output, Failure>>;

impl Walk<'_> {
    /// Station 10: waits for this call's turn, its locks and a permit, and looks again at what was bound.
    ///
    /// Locks come before the permit: a body that holds locks may nest calls, and these must find permits that nobody
    /// keeps while waiting for those locks. Returns `None` when the bindings changed meanwhile.
    pub(super) async fn acquire(
        &mut self,
        registered: &Registered,
        bound: &dyn Bound,
        turn: &mut Option<Turn>,
    ) -> Result<Option<Held>, Ended> {
        let inner = &self.dispatch.inner;
        if let Some(turn) = turn {
            self.unless_cancelled(Box::pin(turn.claim(bound.claims()))).await?;
        }
        // Pinned here, so that it is not copied from one wait into the other.
        let acquiring = pin!(async {
            let locked = match bound.claims() {
                [] => None,
                claims => Some(Box::pin(self.lock(claims)).await?),
            };
            let permit = inner.permits.acquire(registered.descriptor.is_composite()).await;
            Ok::<_, PortError>(Held { permit, _locked: locked })
        });
        let acquired = self.unless_cancelled(within(inner.limits.acquire, acquiring)).await?;
        let held = match acquired {
            Ok(Ok(held)) => held,
            Ok(Err(error)) => return Err(failed(error.into())),
            Err(_) => {
                let ms = millis(inner.limits.acquire);
                return Err(failed(Failure::new(
                    ErrorKind::Unavailable,
                    format!("other calls kept this one waiting for {ms} ms; nothing was run"),
                )));
            }
        };
        let is_current =
            bound.records().is_empty() || self.unless_cancelled(bound.is_current()).await?;
        Ok(is_current.then_some(held))
    }

    /// Waits until what is claimed is this call's alone.
    async fn lock(&self, claims: &[Claim]) -> Result<Locked, PortError> {
        let inner = &self.dispatch.inner;
        let ancestors: Arc<Ancestors> = self.context.extensions.get().unwrap_or_default();
        let owner = Owner { call: self.intent.call, ancestors: Arc::clone(&ancestors.0) };
        let mut claims = claims.to_vec();
        claims.sort_by(|one, two| one.key.cmp(&two.key));
        let locks = inner.locks.acquire(owner, &claims).await;
        let others_out = inner.ports.exclusion.hold(&claims).await?;
        Ok(Locked { _others_out: others_out, _locks: locks })
    }

    /// Stations 11 to 14: saves, runs, captures, checks and bounds.
    pub(super) async fn run(
        &mut self,
        prepared: &Prepared<'_>,
        held: Held,
    ) -> Result<(Box<Outcome>, Option<Held>), Ended> {
        let ports = self.dispatch.ports();
        let call = self.intent.call;
        if !prepared.effects.is_read_only() {
            let saving = ports.checkpoints.save(call, &*prepared.bound);
            self.unless_cancelled(saving).await?.map_err(|error| failed(error.into()))?;
        }
        let (ran, held) = self.attempts(prepared, held).await?;
        let Ran { mut outcome, seen, .. } = ran;
        if !prepared.effects.is_read_only() {
            match ports.capture.changes(call, &*prepared.bound).await {
                Ok(changes) => outcome.changes.extend(changes),
                Err(error) => {
                    outcome.notice(
                        NoticeKind::Degraded,
                        format!("what the call changed is not fully known: {error}"),
                    );
                }
            }
        }
        outcome.notices.extend(prepared.bound.notices());
        Self::check_output(prepared, &mut outcome);
        let kept = bound_output(ports, &self.dispatch.inner.limits, call, &mut outcome).await;
        if let Some(ledger) = &self.context.ledger
            && outcome.is_ok()
        {
            ledger.commit(seen, kept);
        }
        Ok((outcome, held))
    }

    /// Station 12, as often as it may repeat.
    async fn attempts(
        &mut self,
        prepared: &Prepared<'_>,
        held: Held,
    ) -> Result<(Ran, Option<Held>), Ended> {
        let limits = &self.dispatch.inner.limits;
        let most = if prepared.effects.is_idempotent() { limits.attempts.max(1) } else { 1 };
        let (mut held, mut attempt, mut first) = (held, 1, None);
        loop {
            self.journal_started(&prepared.effects, attempt).await?;
            let now = Instant::now();
            let began = *first.get_or_insert(now);
            let (mut ran, still_held) = self.body(prepared, held, now).await;
            match still_held {
                Some(back) if ran.is_transient && attempt < most => held = back,
                still_held => {
                    ran.outcome.usage.run_ms = Some(millis(began.elapsed()));
                    ran.outcome.usage.attempts = Some(attempt);
                    return Ok((ran, still_held));
                }
            }
            let pause: Duration = limits.retry_delay * 2_u32.saturating_pow(attempt - 1);
            self.unless_cancelled(tokio::time::sleep(pause)).await?;
            attempt += 1;
        }
    }

    /// Puts on record that the body starts, where anybody keeps records.
    async fn journal_started(&self, effects: &Capabilities, attempt: u32) -> Result<(), Ended> {
        let ports = self.dispatch.ports();
        if ports.journal.is_none() {
            return Ok(());
        }
        let record = AttemptRecord {
            call: self.intent.call,
            attempt,
            at: ports.clock.now(),
            must_last: !effects.is_idempotent(),
        };
        self.journal(Entry::Started(&record)).await.map_err(|error| {
            failed(
                Failure::from(error)
                    .hint("nothing was run: a call that cannot be recorded does not start"),
            )
        })
    }

    /// Runs the body once, under its deadline and the request to stop.
    async fn body(&self, prepared: &Prepared<'_>, held: Held, now: Instant) -> (Ran, Option<Held>) {
        let run_ms = prepared.registered.descriptor.run_ms();
        // The call's own request to stop: when the body's time is up, so is the call's.
        let cancellation = &self.context.cancellation;
        let deadline = now + Duration::from_millis(run_ms);
        let (tool, call) =
            (Arc::clone(&prepared.registered.tool), self.permitted(prepared, &held, deadline));
        // A body may panic before there is a future of it.
        let made = catch_unwind(AssertUnwindSafe(|| tool.call(call)));
        let made: BoxFuture<'static, _> = made.unwrap_or_else(|panic| {
            Box::pin(std::future::ready(Err(panicked("the tool", &*panic))))
        });
        let mut body = AssertUnwindSafe(made).catch_unwind();
        // A body that saw the request first hands over what it has, just as one that is waited for.
        let ended = |end: BodyEnd| {
            Ran::ended(end, cancellation.is_cancelled().then_some(Status::Cancelled))
        };
        // Many bodies end at once, and then nobody has to be told about the request or the time.
        if let Poll::Ready(end) = futures_util::poll!(&mut body) {
            return (ended(end), Some(held));
        }
        let why = tokio::select! {
            biased;
            end = &mut body => return (ended(end), Some(held)),
            () = cancellation.cancelled() => Status::Cancelled,
            () = tokio::time::sleep_until(deadline) => Status::TimedOut { after_ms: run_ms },
        };
        cancellation.cancel();
        let inner = Arc::clone(&self.dispatch.inner);
        if let Ok(end) = tokio::time::timeout(inner.limits.grace, &mut body).await {
            return (Ran::ended(end, Some(why)), Some(held));
        }
        held.permit.release();
        inner.detached.fetch_add(1, Ordering::Relaxed);
        let tasks = inner.tasks.clone();
        tasks.spawn(async move {
            let _ = body.await;
            drop(held);
            inner.detached.fetch_sub(1, Ordering::Relaxed);
        });
        let goes_on =
            "the body did not stop when asked to; it goes on and keeps its locks until it ends";
        let output = Output::default().with_notice(NoticeKind::Detached, goes_on);
        (Ran::of(why, output), None)
    }

    /// Makes the call that is handed to the body. This is the only place that makes one.
    fn permitted(&self, prepared: &Prepared<'_>, held: &Held, deadline: Instant) -> Call {
        let mut extensions = self.context.extensions.clone();
        let filter = prepared.verdict.filter().clone();
        prepared.bound.install(self.intent.call, filter, &mut extensions);
        Call {
            name: prepared.registered.descriptor.name().clone(),
            id: self.intent.call,
            fingerprint: prepared.registered.descriptor.fingerprint(),
            arguments: prepared.arguments.clone(),
            deadline,
            extensions,
            nested: NestedDoor {
                dispatch: self.dispatch.clone(),
                context: Arc::clone(self.context),
                call: self.intent.call,
                permit: held.permit.clone(),
            },
        }
    }

    /// Station 14, first half: a success has to conform to what the tool promised.
    fn check_output(prepared: &Prepared<'_>, outcome: &mut Outcome) {
        let Some(contract) = prepared.registered.descriptor.output() else { return };
        if !outcome.is_ok() {
            return;
        }
        let fault = match &outcome.structured {
            None => "it has no structured form".to_owned(),
            Some(value) => match contract.check(value) {
                Ok(()) => return,
                Err(problems) => problems.to_string(),
            },
        };
        let name = prepared.registered.descriptor.name();
        outcome.structured = None;
        outcome.status = Status::Failed(Failure::new(
            ErrorKind::OutputInvalid,
            format!("the output of `{name}` is not what it promised: {fault}"),
        ));
    }
}
