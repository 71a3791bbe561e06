//! A conversation with a model.
//!
//! A [`Transcript`] holds what was said and what came of it, in a form that cannot hold a call's result without its call.
//! [`compile`](fn@compile) makes a request of it, and a record of what was kept and what was left out. A [`Branch`] owns
//! one transcript with the tools, the policy and the model that go with it.
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
pub use gauge::{Gauge, Level, WindowUnknown};
pub use keeper::{Keeper, KeeperError, NoKeeper};
pub use repair::{Mended, mend, unknown_end};
pub use system::{Instructions, System};
pub use take::reply_of;
pub use transcript::{Node, Transcript, TranscriptError};
