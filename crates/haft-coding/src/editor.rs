//! The tool that changes files.

mod edit;
mod entry;
mod file;
mod insert;
mod placeholder;
mod refusal;
mod seen;
mod shown;
mod write;

use haft_protocol::{Capabilities, Capability, CheckpointScope, Failure, limits};
use haft_text::MatchGrade;
use haft_tool::{Call, DescriptorError, Facts, Shown, Slot, ToolPath, TypedTool, blocking};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::EntryKind;

/// The tool `builtin/editor`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Editor;

/// What to change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum EditorArgs {
    /// Replace text in a file.
    Edit(EditArgs),
    /// Make a file, or replace all that is in it.
    Write(WriteArgs),
    /// Put whole lines between lines of a file.
    Insert(InsertArgs),
    /// Remove a file, a link or an empty directory.
    Delete(DeleteArgs),
    /// Move or rename a file, a link or a directory.
    Move(MoveArgs),
    /// Make a directory, with those above it.
    Mkdir(MkdirArgs),
}

/// Which text to replace by which.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditArgs {
    /// The file or directory.
    pub path: ToolPath,
    /// The text to replace, as it stands in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    /// The text to put in its place; empty to remove it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<String>,
    /// Replace every place where `old` stands.
    #[serde(default)]
    pub replace_all: bool,
    /// Several edits, in place of `old` and `new`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::EDITS))]
    pub edits: Vec<EditStep>,
}

/// One of several edits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditStep {
    /// The text to replace, as it stands in the file after the edits before.
    pub old: String,
    /// The text to put in its place; empty to remove it.
    pub new: String,
    /// Replace every place where `old` stands.
    #[serde(default)]
    pub replace_all: bool,
}

/// What a file is to hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteArgs {
    /// The file or directory.
    pub path: ToolPath,
    /// The whole text of the file.
    pub content: String,
}

/// Which lines to insert where.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InsertArgs {
    /// The file or directory.
    pub path: ToolPath,
    /// Number of the line to insert after; 0 for before the first.
    pub line: u64,
    /// The lines.
    #[schemars(length(min = 1))]
    pub lines: String,
}

/// What to remove.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteArgs {
    /// The file or directory.
    pub path: ToolPath,
}

/// What to move where.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MoveArgs {
    /// The file or directory.
    pub path: ToolPath,
    /// Its whole new path; nothing may stand there.
    pub to: ToolPath,
}

/// Which directory to make.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MkdirArgs {
    /// The file or directory.
    pub path: ToolPath,
}

/// What was changed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EditorOutput {
    /// Text in a file.
    Edited(EditedOutput),
    /// A whole file.
    Written(WrittenOutput),
    /// Something is gone.
    Deleted(DeletedOutput),
    /// Something moved.
    Moved(MovedOutput),
    /// A directory was made.
    Made(MadeOutput),
}

/// Text in a file that was changed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EditedOutput {
    /// The path.
    pub path: String,
    /// What each edit did, in order.
    pub edits: Vec<EditDone>,
    /// What changed in all.
    #[serde(flatten)]
    pub difference: Difference,
}

/// What one edit did.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EditDone {
    /// How its places were found.
    pub grade: Grade,
    /// How many places it changed.
    pub places: u64,
    /// The first line of each group of lines it changed, by the numbers before it.
    pub lines: Vec<u64>,
}

/// How exactly a place was what was looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// Exactly.
    Exact,
    /// But for line ends.
    LineEnding,
    /// But for spaces and tabs at the ends of lines as well.
    TrailingSpace,
    /// But for how far the lines are indented as well.
    Indentation,
    /// But for characters that look alike as well.
    LookAlike,
}

impl From<MatchGrade> for Grade {
    fn from(grade: MatchGrade) -> Self {
        match grade {
            MatchGrade::Exact => Self::Exact,
            MatchGrade::LineEnding => Self::LineEnding,
            MatchGrade::TrailingSpace => Self::TrailingSpace,
            MatchGrade::Indentation => Self::Indentation,
            MatchGrade::LookAlike => Self::LookAlike,
        }
    }
}

/// A difference between a file before and after.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Difference {
    /// Lines that are new.
    pub added: u64,
    /// Lines that are gone.
    pub removed: u64,
    /// The difference as `diff -u` writes it, with control characters made visible.
    pub diff: String,
    /// Whether lines are missing at the end of `diff`.
    pub is_cut: bool,
}

/// A file that was written.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct WrittenOutput {
    /// The path.
    pub path: String,
    /// Whether the file is new.
    pub is_new: bool,
    /// Lines it has now.
    pub lines: u64,
    /// Bytes it has now.
    pub bytes: u64,
    /// What changed, where there was something.
    #[serde(flatten)]
    pub difference: Option<Difference>,
}

/// Something that was removed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DeletedOutput {
    /// The path.
    pub path: String,
    /// What it was.
    pub was: EntryKind,
}

/// Something that was moved.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MovedOutput {
    /// The path before.
    pub from: String,
    /// The path now.
    pub path: String,
}

/// A directory that was made.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MadeOutput {
    /// The path.
    pub path: String,
    /// Whether it is new; it may have been there already.
    pub is_new: bool,
}

impl TypedTool for Editor {
    type Args = EditorArgs;
    type Output = Shown<EditorOutput>;

    fn facts(&self) -> Result<Facts, DescriptorError> {
        let capabilities = Capabilities::builder()
            .effect(Capability::ReadFiles)
            .effect(Capability::WriteFiles)
            .checkpoint(CheckpointScope::File)
            .build()?;
        Ok(Facts {
            title: Some("Edit files".to_owned()),
            capabilities,
            slots: vec![
                Slot::write("path").keeping_links_where("action", &["delete", "move"]),
                Slot::write("to").keeping_links(),
            ],
            ..Facts::new("builtin/editor".parse()?, include_str!("editor.md").trim())
        })
    }

    async fn run(&self, call: Call, args: EditorArgs) -> Result<Self::Output, Failure> {
        blocking(move || {
            let target = file::Target::new(&call)?;
            match args {
                EditorArgs::Edit(args) => edit::edit(&target, &args),
                EditorArgs::Write(args) => write::write(&target, &args),
                EditorArgs::Insert(args) => insert::insert(&target, &args),
                EditorArgs::Delete(_) => entry::delete(&target),
                EditorArgs::Move(_) => entry::rename(&target),
                EditorArgs::Mkdir(_) => entry::make_dir(&target),
            }
        })
        .await
    }
}
