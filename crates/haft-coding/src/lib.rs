//! The tools built into haft, one per file.
//!
//! [`CodingTools`] is the source that a registry takes them from:
//!
//! ```
//! use std::sync::Arc;
//! use haft_coding::CodingTools;
//! use haft_tool::{OnConflict, Registry};
//!
//! let registry = Registry::default();
//! registry.register(Arc::new(CodingTools::new()), OnConflict::Reject)?;
//! assert!(registry.snapshot().find("builtin/reader").is_some());
//! # Ok::<(), haft_tool::RegistryError>(())
//! ```
//!
//! * [`Reader`] reads files and lists directories.
//! * [`Search`] searches in files and for files.
//! * [`Editor`] changes files.
//! * [`Bash`] runs commands; it is there where a [`Launcher`](haft_process::Launcher) is given.
//! * [`CodeCheck`] asks ruff, `cargo check` or clippy what is wrong; it is there where [`Bash`] is.
//! * [`CodeNav`] outlines source files and finds where names are defined and used.
//! * [`AstSearch`] searches source files by their structure.
//!
//! Each works on the [`View`](haft_workspace::View) and the places that dispatch put into its call, so a tool sees what
//! the call was allowed to see and nothing else.
//!
//! Not here: opening and walking (`haft-workspace`), what bytes mean as text (`haft-text`), and the path from a call to
//! its outcome (`haft-tool`).

mod ast_search;
mod bash;
mod code_check;
mod code_nav;
mod editor;
mod entry;
mod first;
mod hit;
mod pulse;
mod reader;
mod scope;
mod search;
mod source;
mod sources;
mod speech;
mod toolset;
mod undo;
mod words;

pub use ast_search::{AstMatch, AstSearch, AstSearchArgs, AstSearchOutput};
pub use bash::{Bash, BashArgs, BashOutput, BashSettings, EndKind, LeftProcess, StreamOutput};
pub use code_check::{
    CheckStatus, Checker, CodeCheck, CodeCheckArgs, CodeCheckOutput, Diagnostic, Severity,
    UnreadableOutput,
};
pub use code_nav::{
    CodeNav, CodeNavArgs, CodeNavOutput, DefinitionRow, DefinitionsOutput, NameArgs, OutlineArgs,
    ReferenceRow, ReferencesOutput, Resolution,
};
pub use editor::{
    DeleteArgs, DeletedOutput, Difference, EditArgs, EditDone, EditStep, EditedOutput, Editor,
    EditorArgs, EditorOutput, Grade, InsertArgs, MadeOutput, MkdirArgs, MoveArgs, MovedOutput,
    WriteArgs, WrittenOutput,
};
pub use entry::{Entry, EntryKind, Target};
pub use reader::{
    DirectoryOutput, ImageOutput, Line, LineEnding, ListDirArgs, ReadArgs, Reader, ReaderArgs,
    ReaderOutput, TextOutput,
};
pub use search::{
    Case, CountsOutput, FileCount, FilesOutput, FindArgs, FoundOutput, GrepArgs, GrepMode, Match,
    MatchesOutput, Order, Search, SearchArgs, SearchOutput, SkippedOutput,
};
pub use source::CodingTools;
pub use sources::SkippedSources;
pub use toolset::Toolset;
pub use undo::{ChangedRow, Undo, UndoArgs, UndoOutput, UndoResult, UndoRow, UndoneChange};
