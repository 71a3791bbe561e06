//! Words every part of haft shares.
//!
//! This crate holds data and nothing else: names, calls, outcomes, failures, capabilities, bounds, changes, records,
//! messages and the one table of [limits](mod@limits). It reads no clock, no file and no random number; times and ids arrive as
//! arguments. Every type has a serde form, and a form that is stored carries [`RECORD_VERSION`].
//!
//! ```
//! use haft_protocol::{QualifiedName, WireNames};
//!
//! let grep: QualifiedName = "builtin/search".parse()?;
//! let mut wire = WireNames::new();
//! assert_eq!(wire.assign(&grep).as_str(), "search");
//! assert_eq!(wire.resolve("search"), Some(&grep));
//! # Ok::<(), haft_protocol::NameError>(())
//! ```
//!
//! Not here: schemas (`haft-schema`), decisions (`haft-policy`), the path of a call (`haft-tool`).

mod bounds;
mod call;
mod capability;
mod change;
mod content;
mod digest;
mod failure;
mod id;
pub mod limits;
mod message;
mod model;
mod name;
mod notice;
mod outcome;
mod path;
mod record;
mod run;
mod sandbox;
mod time;
mod usage;
mod wire;

pub use bounds::{Bound, Count};
pub use call::{Caller, Decision, Entrance, Progress, RawArguments, ToolCall};
pub use capability::{
    Approval, Capabilities, CapabilitiesBuilder, Capability, CapabilityError, CheckpointScope, Cost,
};
pub use change::{
    Change, ChangeKind, ChangedCall, ChangedCalls, ContentRef, EffectRecord, EffectState, Evidence,
    FileState,
};
pub use content::{ContentPart, ImageType};
pub use digest::{Digest, DigestError, Digester};
pub use failure::{ErrorKind, Failure};
pub use id::{ArtifactId, BranchId, CallId, IdError, MessageId, RunId, TicketId};
pub use message::{Entry, Opaque, Reply, ReplyPart, RequestedCall, Step, Summary, UserMessage};
pub use model::{ModelId, ModelIdError, StopReason, TokenUsage, UsageTotal};
pub use name::{NameError, QualifiedName, WireName};
pub use notice::{Notice, NoticeKind};
pub use outcome::{Control, Denial, Outcome, Status};
pub use path::LogicalPath;
pub use record::{
    Access, AttemptRecord, BindingRecord, DecisionRecord, IntentRecord, OutcomeRecord,
    RECORD_VERSION, TicketRecord,
};
pub use run::{
    LeftOutRecord, RunEntry, RunFacts, RunLimit, SectionRecord, StopCause, StopSignal, Stopped,
};
pub use sandbox::{SandboxLevel, SandboxLevelError};
pub use time::Timestamp;
pub use usage::Usage;
pub use wire::WireNames;
