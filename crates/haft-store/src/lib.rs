//! The door to recorded state: the journal of calls, the runs of models, the artifacts, the changes to files and what they
//! took away, and the locks between processes.
//!
//! [`Store`] is what dispatch writes to and what people look at later: one SQLite database and a folder of contents by
//! digest, in a directory that nobody else can read. Nothing else opens that database. Secrets are taken out before
//! anything is written, long texts are cut, and what is old goes by itself.
//!
//! ```
//! use haft_store::{LogFilter, Redaction, Retention, Store};
//!
//! let store = Store::in_memory(Retention::default(), Redaction::new([])?)?;
//! assert_eq!(store.log(&LogFilter::default())?, []);
//! # Ok::<(), haft_store::StoreError>(())
//! ```
//!
//! What a record survives: the end of the process, however it ends; and a power failure, where dispatch asked for it
//! because the effect cannot be repeated. A call that started and whose process is gone shows as `unknown`.
//!
//! Not here: user files (`haft-workspace`, which hands over what they held), and when anything is recorded
//! (`haft-tool`).
#![expect(clippy::disallowed_methods, reason = "the door to recorded state")]

mod artifacts;
mod database;
mod directory;
mod effects;
mod error;
mod exclusion;
mod fate;
mod journal;
mod keys;
mod lease;
mod lock_file;
mod log;
mod objects;
mod query;
mod record;
mod redaction;
mod retention;
mod row;
mod runs;
mod show;
mod store;
mod usage;
mod writer;

pub use artifacts::{Artifact, ArtifactInfo};
pub use error::StoreError;
pub use fate::{CallFate, EndedCall, StartedCall};
pub use log::{CallStatus, CallStatusError, CallSummary, LogFilter};
pub use query::{IdPart, IdQuery, Query, RunQuery};
pub use redaction::{REDACTED, Redaction, is_secret_name};
pub use retention::GcReport;
pub use runs::{
    OpenedRun, RunFilter, RunRecord, RunState, RunSummary, RunWriter, Runs, UnreadableEntry,
};
pub use show::{CallDetail, TicketDetail};
pub use store::{Retention, Store, StoreConfig};
pub use usage::StateUsage;
