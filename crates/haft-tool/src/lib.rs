//! What a tool is, where tools come from, and the one path from a call to its outcome.
//!
//! Implement [`TypedTool`] (or put `#[tool]` on a function), register it in a [`Registry`], and make calls through
//! [`Dispatch`]: there is no other way to run a body. Dispatch checks, confines, decides, records and bounds every
//! call; what it needs from the outside it names as [ports](mod@ports).
//!
//! ```
//! use haft_tool::{FunctionTool, OnConflict, Output, Registry};
//! use serde_json::json;
//!
//! let schema = json!({ "type": "object", "properties": { "who": { "type": "string" } }, "required": ["who"] });
//! let greet = FunctionTool::new("local/greet".parse()?, "Greets somebody by name.", schema)?
//!     .body(|_call, args| async move { Ok(Output::text(format!("hello, {}", args["who"]))) })?;
//! let registry = Registry::default();
//! registry.register_tool(greet, OnConflict::Reject)?;
//! assert!(registry.snapshot().find("greet").is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Not here: files (`haft-workspace`), storage (`haft-store`), the built-in tools (`haft-coding`), and any model.

#[doc(hidden)]
pub mod __private;
mod alias;
mod arguments;
mod call;
mod cancel;
mod descriptor;
mod dispatch;
mod extensions;
mod function;
pub mod hooks;
mod ledger;
mod locks;
mod output;
pub mod ports;
mod registry;
mod slot;
mod source;
mod system;
mod tool;
mod typed;
mod waking;
mod wording;

pub use alias::Alias;
pub use arguments::Arguments;
pub use call::{Call, blocking};
pub use cancel::Cancellation;
pub use descriptor::{Descriptor, DescriptorBuilder, DescriptorError};
pub use dispatch::{
    Budget, CallContext, CallHandle, Dispatch, DispatchLimits, Dispatched, Rehearsal, Reporter,
    Ticket, Waiting, Waits,
};
pub use extensions::Extensions;
pub use function::FunctionTool;
pub use haft_macros::tool;
pub use hooks::Hooks;
pub use ledger::{ReadLedger, Seen, SharedLedger};
pub use locks::{Claim, DirectoryId, LockGuard, LockKey, LockTable};
pub use output::{IntoOutput, Json, Output, Shown};
pub use ports::{Answer, Ports};
pub use registry::{
    OnConflict, Recipe, Registered, Registry, RegistryError, Selection, Snapshot, Watching,
};
pub use slot::{CommandForm, CommandSlot, Existence, Links, Slot, SlotSource, ToolPath};
pub use source::{BuildContext, FixedTools, Scope, SourceError, ToolSource};
pub use system::{DrawnIds, SystemClock, SystemIds};
pub use tool::{BoxFuture, Tool};
pub use typed::{Facts, TypedTool};
pub use wording::Wording;
