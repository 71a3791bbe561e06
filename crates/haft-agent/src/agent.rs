//! Letting a model work.

use std::sync::{Arc, OnceLock};

use haft_model::{ResponseFormat, ToolChoice};
use haft_protocol::{Reply, RunEntry, StopCause, StopSignal, UsageTotal, UserMessage};
use haft_session::Branch;
use haft_tool::{Cancellation, Dispatch};

use crate::event::Watcher;
use crate::limits::RunLimits;
use crate::resume::Fates;
use crate::turn::Doing;

/// What a turn is done under.
#[derive(Debug, Clone, Default)]
pub struct TurnOptions {
    /// How much it may take.
    pub limits: RunLimits,
    /// Whether the model has to ask for a tool in its first reply.
    pub choice: ToolChoice,
    /// Whether it has no tools in this turn, whatever the branch shows it.
    pub without_tools: bool,
    /// The form of its replies, where they have to have one.
    pub format: Option<ResponseFormat>,
    /// The request to stop the turn.
    pub cancellation: Cancellation,
    /// By which signal that was made, where somebody says so.
    pub stopped_by: StoppedBy,
    /// Who watches.
    pub watcher: Watcher,
}

/// The signal that asked for the end of a turn. It is said before the turn is cancelled, and goes on record with its end.
///
/// A clone is the same one.
#[derive(Debug, Clone, Default)]
pub struct StoppedBy(Arc<OnceLock<StopSignal>>);

impl StoppedBy {
    /// Says which signal it was; the first one counts.
    pub fn say(&self, signal: StopSignal) {
        let _ = self.0.set(signal);
    }

    /// Returns the signal, where it was one.
    pub fn signal(&self) -> Option<StopSignal> {
        self.0.get().copied()
    }
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnEnd {
    /// Why.
    pub cause: StopCause,
    /// The model's last reply, where there is one.
    pub reply: Option<Arc<Reply>>,
    /// Requests of the turn.
    pub steps: u64,
    /// Calls of the turn.
    pub calls: u64,
    /// What all requests of the branch took so far, those of subagents included.
    pub usage: UsageTotal,
}

/// Refuses a message without anything in it, before it is put on record.
fn nothing_said(said: &UserMessage) -> Option<StopCause> {
    said.is_empty().then(|| StopCause::Model {
        kind: "empty_message".to_owned(),
        text: "nothing was said to it: the message has no word and no image in it".to_owned(),
    })
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
    /// Turns of one branch wait for one another. Calls that an earlier turn left open end first, with a result that says
    /// that nobody knows more of them; to find out, [`go_on`](Self::go_on).
    ///
    /// # Cancel safety
    ///
    /// Use the options' cancellation: dropping the future leaves calls open, which go on to their ends and are in the
    /// journal; the transcript is as it was kept.
    pub async fn turn(&self, branch: &Branch, said: UserMessage, options: &TurnOptions) -> TurnEnd {
        let mut state = branch.turn().await;
        let mut doing = Doing::new(self, &mut state, options);
        if let Some(cause) = doing.refusal().or_else(|| nothing_said(&said)) {
            return doing.stop(cause).await;
        }
        let heard = doing.say(said).await;
        doing.until_stop(heard).await
    }

    /// Takes up a branch where it was left, in the middle of a step if need be, and lets the model go on.
    ///
    /// `fates` says what became of the calls that are [open](crate::open_calls). Ends that are known are taken. Calls
    /// that never started are made. Those that started and whose end nobody knows are made again where that does no
    /// harm; else a person is asked, and where there is nobody, the model is told.
    ///
    /// # Cancel safety
    ///
    /// As of [`turn`](Self::turn).
    pub async fn go_on(&self, branch: &Branch, fates: &Fates, options: &TurnOptions) -> TurnEnd {
        let mut state = branch.turn().await;
        let mut doing = Doing::new(self, &mut state, options);
        if let Some(cause) = doing.refusal() {
            return doing.stop(cause).await;
        }
        let resumed = RunEntry::Resumed { at: self.dispatch.ports().clock.now() };
        let heard = match doing.keep(&resumed).await {
            Ok(()) => doing.take_up(fates).await,
            Err(unrecorded) => unrecorded,
        };
        doing.until_stop(heard).await
    }
}
