//! A conversation with a model.
//!
//! A [`Transcript`] holds what was said and what came of it, in a form that cannot hold a call's result without its call,
//! and [`mend`] makes one of what was kept of a run. [`compile`](fn@compile) makes a request of it, and a record of what was
//! kept and what was left out. A [`Gauge`] says how full the model's window is, and a [`Compaction`] when a summary has to
//! make room. A [`Branch`] owns one transcript with the tools, the policy and the model that go with it.
//!
//! ```
//! use haft_model::{Sampling, ToolChoice};
//! use haft_protocol::{ContentPart, MessageId, Timestamp, UserMessage};
//! use haft_session::{Ask, System, Transcript, compile};
//!
//! let mut transcript = Transcript::new();
//! transcript.say(UserMessage {
//!     id: MessageId::from_parts(0, 1),
//!     at: Timestamp::from_unix_ms(0),
//!     content: vec![ContentPart::text("Fix the test.")],
//!     notices: Vec::new(),
//! })?;
//! let system = System::standard(&[], Vec::new());
//! let compiled = compile(&Ask {
//!     system: &system,
//!     transcript: &transcript,
//!     tools: Vec::new().into(),
//!     choice: ToolChoice::Auto,
//!     format: None,
//!     sampling: Sampling::default(),
//!     notices: &[],
//! })?;
//! assert_eq!(compiled.request.messages.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Not here: what is done turn by turn (`haft-agent`), how a provider is spoken to (`haft-providers`).

mod branch;
mod compact;
mod compile;
mod envelope;
mod gauge;
mod keeper;
mod repair;
mod system;
mod take;
mod transcript;

pub use branch::{Branch, BranchParts, State, Turn};
pub use compact::{Compaction, Full, Plan, Rejected, Room, accept, plan};
pub use compile::{
    Ask, CompileError, Compiled, Kept, LeftOut, Posture, Section, SectionKind, Weight, compile,
};
pub use gauge::{Gauge, Level, ToolsWeight, WindowUnknown};
pub use keeper::{Keeper, KeeperError, NoKeeper};
pub use repair::{Mended, mend, unknown_end};
pub use system::{Instructions, System};
pub use take::reply_of;
pub use transcript::{Node, Transcript, TranscriptError};
