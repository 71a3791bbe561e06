//! Typed tools over a workspace for language models, behind one call path that checks, confines and records every call.
//!
//! [`Haft`] puts the parts together: a workspace, the built-in tools, a policy, a store of records. Calls go through
//! [`Haft::call`], or through [`Haft::dispatch`] with a [context](Haft::context) of your own.
//!
//! ```
//! use haft::{Haft, State};
//! use serde_json::json;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! # let folder = std::env::temp_dir();
//! let haft = Haft::builder().root(folder).state(State::Memory).open()?;
//! let outcome = haft.call("reader", json!({ "action": "list_dir" })).await;
//! assert!(outcome.is_ok());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! To write a tool, put [`tool`](macro@tool) on a function, or implement [`TypedTool`], and register it:
//! see [`guide`](mod@guide).

mod assembly;
pub mod guide;
#[cfg(feature = "models")]
mod instructions;
#[cfg(feature = "models")]
mod running;
#[cfg(feature = "mcp")]
mod serving;

pub use assembly::{Haft, HaftBuilder, OpenError, OpenWithError, State};
pub use haft_protocol::{
    ArtifactId, BindingRecord, Bound, CallId, Caller, Capabilities, Capability, Change, ChangeKind,
    ChangedCall, ChangedCalls, ContentPart, Control, Count, Decision, Denial, Digest, EffectRecord,
    EffectState, Entrance, ErrorKind, Evidence, Failure, FileState, ImageType, LogicalPath, Notice,
    NoticeKind, Outcome, Progress, QualifiedName, RawArguments, RunId, Status, Timestamp, ToolCall,
    Usage, limits,
};
pub use haft_tool::{
    Alias, Answer, Arguments, BoxFuture, Budget, BuildContext, Call, CallContext, CallHandle,
    Cancellation, Descriptor, Dispatch, DispatchLimits, Dispatched, Facts, FixedTools,
    FunctionTool, Hooks, IntoOutput, Json, Links, OnConflict, Output, Ports, Registered, Registry,
    RegistryError, Reporter, Scope, Selection, Shown, Slot, Snapshot, SourceError, Ticket, Tool,
    ToolPath, ToolSource, TypedTool, blocking, hooks, ports,
};
#[cfg(feature = "models")]
pub use instructions::Found as FoundInstructions;
#[cfg(feature = "models")]
pub use running::{BranchBuilder, RunKeeper, fates};

pub use haft_tool::__private::facade_tool as tool;

/// What the code behind [`tool`](macro@tool) speaks of.
#[doc(hidden)]
pub mod tool_api {
    pub use haft_tool::*;
}

/// The built-in tools.
pub mod coding {
    pub use haft_coding::*;
}

/// Configuration files and their trust.
pub mod config {
    pub use haft_config::*;
}

/// The Model Context Protocol: the tools as a server.
#[cfg(feature = "mcp")]
pub mod mcp {
    pub use haft_mcp::*;
}

/// Models: what they are asked, who serves them, how they work on a branch.
#[cfg(feature = "models")]
pub mod models {
    pub use haft_agent::*;
    pub use haft_model::*;
    pub use haft_protocol::{
        Entry, MessageId, ModelId, ModelIdError, Reply, ReplyPart, RequestedCall, RunEntry,
        RunFacts, RunLimit, SectionRecord, Step, StopCause, StopReason, StopSignal, Stopped,
        Summary, TokenUsage, UsageTotal, UserMessage,
    };
    pub use haft_session::*;

    /// Who serves models.
    pub mod providers {
        pub use haft_providers::*;
    }
}

/// Rules, presets and verdicts.
pub mod policy {
    pub use haft_policy::*;
}

/// Processes, and the helper that runs them.
pub mod process {
    pub use haft_process::*;
}

/// Contracts in JSON Schema.
pub mod schema {
    pub use haft_schema::*;
}

/// Records and artifacts.
pub mod store {
    pub use haft_store::*;
}

/// Text as bytes that survive, and text that is safe to print.
pub mod text {
    pub use haft_text::*;
}

/// The door to user files.
pub mod workspace {
    pub use haft_workspace::*;
}
