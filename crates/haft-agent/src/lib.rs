//! A model at work.
//!
//! A [`TurnMachine`] decides what a turn does next, and does nothing itself. An [`Agent`] does it: asks the model, makes
//! the calls through dispatch, keeps each step before the next one follows from it, and tells a [`Watcher`] what happens.
//!
//! ```
#![doc = include_str!("operations/setup.txt")]
//! # use serde_json::json;
//! let (agent, branch) = set_up(vec![
//!     Line::calls(&[("echo", json!({ "text": "hello" }))]),
//!     Line::say("It says hello."),
//! ]);
//! let end = agent.turn(&branch, said(&agent, "What does it say?"), &options).await;
//! assert_eq!(end.cause, haft_protocol::StopCause::Done);
//! assert_eq!((end.steps, end.calls), (2, 1));
//! # });
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Not here: what is said (`haft-session`), what a call may do (`haft-policy`, `haft-tool`), who looks on (a face).

mod agent;
mod calls;
mod event;
mod guard;
mod limits;
mod machine;
pub mod operations;
mod purse;
mod resume;
mod subagent;
mod turn;

pub use agent::{Agent, StoppedBy, TurnEnd, TurnOptions};
pub use event::{RunEvent, Watcher};
pub use guard::{LoopGuard, Seen};
pub use limits::{LimitError, Overrun, Planned, RunLimits, Spent};
pub use machine::{Changed, Heard, Next, TurnMachine};
pub use resume::{Fate, Fates, OpenCall, open_calls};
pub use subagent::{SubagentParams, SubagentPreset, SubagentReport, SubagentStatus, Subagents};
