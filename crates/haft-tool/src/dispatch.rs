//! The one path from a call to its outcome.
//!
//! The walk has fifteen stations, in `walk.rs` (1–6, 8, 9), `authorise.rs` (7), `run.rs` (10–14) and `record.rs` (15); the
//! other files hold what the stations use. Whatever happens on the way, a call ends in one outcome and one record of it.

mod authorise;
mod batch;
mod bounding;
mod context;
mod handle;
mod nested;
mod permit;
mod record;
mod rehearse;
mod run;
mod ticket;
mod waits;
mod walk;

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use futures_util::FutureExt as _;
use haft_protocol::{CallId, Outcome, ToolCall, limits};
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

pub use context::{Budget, CallContext, Reporter};
pub use handle::CallHandle;
pub(crate) use nested::NestedDoor;
pub use rehearse::Rehearsal;
pub use ticket::{Dispatched, Ticket};
pub use waits::{Waiting, Waits};

use crate::Answer;
use crate::locks::LockTable;
use crate::ports::Ports;
use crate::tool::BoxFuture;
use batch::BatchOrder;
use permit::Permits;
use ticket::Approved;
use walk::Start;

/// How much one dispatch allows. Every field has its default in [`limits`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DispatchLimits {
    /// Leaf effects at one time.
    pub permits: usize,
    /// How long a call waits for a permit and its locks.
    pub acquire: Duration,
    /// How long a source has to wake up.
    pub activate: Duration,
    /// How long one hook may take.
    pub hook: Duration,
    /// How long a person has to answer.
    pub approval: Duration,
    /// How long a cancelled or timed-out body has to end.
    pub grace: Duration,
    /// Pause before the second attempt of an idempotent call; doubled before each further one.
    pub retry_delay: Duration,
    /// Attempts of one idempotent call.
    pub attempts: u32,
    /// Levels of calls inside calls.
    pub nesting: usize,
    /// Bytes of text one outcome shows.
    pub outcome_text_bytes: usize,
    /// Bytes of structured output one outcome carries.
    pub outcome_structured_bytes: usize,
}

impl Default for DispatchLimits {
    fn default() -> Self {
        Self {
            permits: limits::PERMITS,
            acquire: Duration::from_millis(limits::ACQUIRE_MS),
            activate: Duration::from_millis(limits::ACTIVATE_MS),
            hook: Duration::from_millis(limits::HOOK_MS),
            approval: Duration::from_millis(limits::APPROVAL_MS),
            grace: Duration::from_millis(limits::GRACE_MS),
            retry_delay: Duration::from_millis(limits::RETRY_DELAY_MS),
            attempts: limits::ATTEMPTS,
            nesting: limits::NESTING_DEPTH,
            outcome_text_bytes: limits::OUTCOME_TEXT_BYTES,
            outcome_structured_bytes: limits::OUTCOME_STRUCTURED_BYTES,
        }
    }
}

/// The one path from a call to its outcome.
///
/// A clone is the same dispatch: the same ports, permits and locks. It needs a Tokio runtime with time around it, and
/// keeps nothing global, so that two can live in one process.
#[derive(Debug, Clone)]
pub struct Dispatch {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    ports: Ports,
    limits: DispatchLimits,
    permits: Permits,
    locks: LockTable,
    tasks: TaskTracker,
    detached: AtomicU64,
}

impl Dispatch {
    /// Makes a dispatch over its doors.
    pub fn new(ports: Ports, limits: DispatchLimits) -> Self {
        let permits = Permits::new(limits.permits);
        let (locks, tasks) = (LockTable::new(), TaskTracker::new());
        Self {
            inner: Arc::new(Inner {
                ports,
                limits,
                permits,
                locks,
                tasks,
                detached: AtomicU64::new(0),
            }),
        }
    }

    /// Returns the doors.
    pub fn ports(&self) -> &Ports {
        &self.inner.ports
    }

    /// Runs a call to its end, or to a question that nobody answers now.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future requests cancellation; the call still ends in order and is recorded.
    pub async fn dispatch(&self, context: &CallContext, call: ToolCall) -> Dispatched {
        self.begin(context, Start::fresh(context, call), None).here().await
    }

    /// Starts a call and returns a handle to it.
    pub fn start(&self, context: &CallContext, call: ToolCall) -> CallHandle {
        self.begin(context, Start::fresh(context, call), None).on_a_task()
    }

    /// Runs the calls of one step, side by side as far as they may, and returns their ends in the order of the calls.
    ///
    /// A call that writes is a barrier for later calls that touch what it writes.
    pub async fn batch(&self, context: &CallContext, calls: Vec<ToolCall>) -> Vec<Dispatched> {
        futures_util::future::join_all(self.start_batch(context, calls)).await
    }

    /// Starts the calls of one step as [`batch`](Self::batch) does, and returns a handle to each, in the order of the
    /// calls.
    pub fn start_batch(&self, context: &CallContext, calls: Vec<ToolCall>) -> Vec<CallHandle> {
        let order = BatchOrder::new(calls.len());
        calls
            .into_iter()
            .zip(order.turns())
            .map(|(call, turn)| {
                self.begin(context, Start::fresh(context, call), Some(turn)).on_a_task()
            })
            .collect()
    }

    /// Takes up a call that waited, with the answer it waited for.
    ///
    /// The call walks again from normalising, and must come to the same arguments and bindings that were asked about.
    pub async fn resume(
        &self,
        context: &CallContext,
        ticket: Ticket,
        answer: Answer,
    ) -> Dispatched {
        self.begin(context, Start::Resumed(Box::new(Approved { ticket, answer })), None)
            .here()
            .await
    }

    /// Returns how many bodies go on after their call was reported as ended.
    pub fn detached(&self) -> u64 {
        self.inner.detached.load(Ordering::Relaxed)
    }

    /// Waits until every call and every detached body has ended. Calls started meanwhile are waited for too.
    pub async fn drain(&self) {
        self.inner.tasks.close();
        self.inner.tasks.wait().await;
    }

    fn begin(&self, context: &CallContext, start: Start, turn: Option<batch::Turn>) -> Begun {
        let call = start.call_id();
        let context = Arc::new(context.of_call(context.cancellation.child()));
        let (dispatch, surroundings) = (self.clone(), Arc::clone(&context));
        // A walk is some kilobytes; boxed and pinned where it is, it is not copied from hand to hand. What only few calls
        // come to is boxed within it once more.
        let walk = Box::pin(async move {
            let walk = pin!(dispatch.walk_and_ask(&surroundings, start, turn));
            let end = AssertUnwindSafe(walk).catch_unwind().await;
            end.unwrap_or_else(|panic| {
                Dispatched::from(Outcome::from(walk::panicked("dispatch", &*panic)))
            })
        });
        Begun { call, context, walk, counted: self.inner.tasks.token() }
    }

    /// Walks, asks if need be, and walks again with the answer. While a question is open nothing is held.
    async fn walk_and_ask(
        &self,
        context: &Arc<CallContext>,
        start: Start,
        turn: Option<batch::Turn>,
    ) -> Dispatched {
        let waiting = match walk::walk(self, context, start, turn).await {
            Dispatched::Waiting(ticket) => ticket,
            done @ Dispatched::Done(_) => return done,
        };
        let question = waiting.question();
        let for_a_person = context.waits.begin();
        let answer = tokio::select! {
            biased;
            () = context.cancellation.cancelled() => Answer::Refuse { by: "cancellation".to_owned(), reason: None },
            answer = tokio::time::timeout(self.inner.limits.approval, self.ports().approver.ask(&question)) => {
                answer.unwrap_or_else(|_| Answer::Refuse {
                    by: "the clock".to_owned(),
                    reason: Some("nobody answered in time".to_owned()),
                })
            }
        };
        drop(for_a_person);
        match answer {
            Answer::Later => Dispatched::Waiting(waiting),
            answer => {
                let resumed = Start::Resumed(Box::new(Approved { ticket: *waiting, answer }));
                Box::pin(walk::walk(self, context, resumed, None)).await
            }
        }
    }
}

/// A call that nobody drives yet. The dispatch counts it from here on.
struct Begun {
    call: CallId,
    context: Arc<CallContext>,
    walk: BoxFuture<'static, Dispatched>,
    counted: TaskTrackerToken,
}

impl Begun {
    fn on_a_task(self) -> CallHandle {
        let Self { call, context, walk, counted } = self;
        let (handle, promise) = CallHandle::new(call, context.cancellation.clone());
        tokio::spawn(async move {
            promise.keep(walk.await);
            drop(counted);
        });
        handle
    }

    /// Walks on the caller's task until the call has to wait for anything, and from there on a task of its own.
    ///
    /// A caller can only go away while it waits, and then the call is not in its hands any more. Many calls never wait,
    /// and a task costs as much as their whole walk.
    async fn here(mut self) -> Dispatched {
        match futures_util::poll!(self.walk.as_mut()) {
            Poll::Ready(end) => {
                // Whatever the body left running is asked to stop, as by a handle that is dropped.
                if Arc::strong_count(&self.context) > 1 {
                    self.context.cancellation.cancel();
                } else {
                    self.context.cancellation.cancel_for_others();
                }
                end
            }
            Poll::Pending => self.on_a_task().await,
        }
    }
}
