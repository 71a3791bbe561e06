//! The door to user files: roots, resolution, protection, walking, writing, undoing.
//!
//! This is the only crate that touches the files of a user. A [`Workspace`] holds its roots open; it follows the path a
//! caller wrote, name by name on held directories, to a [`Resolved`] place within them. A [`View`] is the workspace as
//! the body of one call sees it: it opens, lists and walks, and what the [`Protection`] list or a rule hides is not
//! there, and is counted.
//!
//! ```
//! use std::io::Read;
//! use haft_workspace::{Protection, View, Want, Workspace, WorkspaceConfig};
//!
//! # let folder = tempfile::tempdir()?;
//! # std::fs::write(folder.path().join("notes.txt"), "hello")?;
//! # std::fs::write(folder.path().join(".env"), "TOKEN=1")?;
//! let workspace = Workspace::open(WorkspaceConfig {
//!     roots: vec![folder.path().to_owned()],
//!     protection: Protection::standard(),
//! })?;
//! let view = View::unfiltered(workspace.clone());
//!
//! let mut text = String::new();
//! view.open(&workspace.resolve("notes.txt", Want::Existing)?)?.read_to_string(&mut text)?;
//! assert_eq!(text, "hello");
//!
//! let refused = workspace.resolve(".env", Want::Existing).unwrap_err();
//! assert_eq!(refused.to_string(), "`.env` is protected: environment files hold credentials");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! For calls, a [`WorkspaceBinder`] follows the paths in their slots, and [`WorkspaceCall`] is how a body gets at its view
//! and its places.
//!
//! A [`Writer`] is the workspace as the body of one call may change it, at the places of its writing slots alone. What a
//! change takes away is kept first, so that an [`UndoPlan`] can bring it back; [`TreeScan`] sees what a program changed,
//! and [`repair`] looks after what was cut short.
//!
//! Not here: where records and kept content lie (`haft-store`), what text in a file means (`haft-text`), which rules
//! hold (`haft-policy`), searching in what a walk meets
//! (`haft-coding`).

#![expect(clippy::disallowed_methods, reason = "this crate is the door to user files")]

#[cfg(windows)]
compile_error!(
    "haft does not run on Windows yet: paths are followed on directory handles in the Unix way; the plan is a \
     `sys/windows.rs` over NtCreateFile with OBJ_DONT_REPARSE"
);

mod binder;
mod capture;
mod directory;
mod error;
mod file;
mod globs;
mod list;
mod name;
mod protection;
mod repair;
mod resolve;
mod resolved;
mod rules;
mod skipped;
mod sys;
mod text;
mod trap_names;
mod twins;
mod undo;
mod view;
mod walk;
mod workspace;
mod write_error;
mod writer;

pub use binder::{WorkspaceBinder, WorkspaceCall};
pub use capture::TreeScan;
pub use error::{PathError, WorkspaceError};
pub use file::{FileId, FileKind, Metadata, OpenFile};
pub use globs::{GlobError, Globs};
pub use list::{Entry, LinkTarget, ListOptions, ListOrder, Listing};
pub use protection::{Protected, Protection};
pub use repair::{Repaired, repair};
pub use resolved::{Resolved, Stale};
pub use skipped::{Hidden, Skipped};
pub use trap_names::problem_of_new_name;
pub use undo::{UndoPlan, UndoStep, Undoing, undo_paths};
pub use view::{PathFilter, View};
pub use walk::{Found, WalkEnd, WalkOptions, WalkReport};
pub use workspace::{Want, Workspace, WorkspaceConfig};
pub use write_error::WriteError;
pub use writer::step::Step;
pub use writer::{Expected, Onto, WritePlace, Writer, Written};
