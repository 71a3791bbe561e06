//! The tool that reads files and lists directories.

mod image;
mod list;
mod text;

use std::io::{self, Read};
use std::num::{NonZeroU32, NonZeroU64};

use haft_protocol::{Capabilities, ErrorKind, Failure, limits};
use haft_text::Kind;
use haft_tool::{Call, DescriptorError, Facts, Shown, Slot, ToolPath, TypedTool, blocking};
use haft_workspace::{FileKind, OpenFile, WorkspaceCall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::speech::{self, READER};
use crate::{EntryKind, words};

pub use image::ImageOutput;
pub use list::DirectoryOutput;
pub use text::{Line, LineEnding, TextOutput};

/// The tool `builtin/reader`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reader;

/// What to read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum ReaderArgs {
    /// Show a text file as numbered lines, or an image.
    Read(ReadArgs),
    /// List what is in a directory.
    ListDir(ListDirArgs),
}

/// Which part of a file to show.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadArgs {
    /// The file or directory.
    pub path: ToolPath,
    /// Number of the first line to show.
    #[serde(default = "first")]
    pub offset: NonZeroU64,
    /// Bytes of that line to pass over, to go on in a long line that was cut.
    #[serde(default)]
    pub column: u64,
    /// Lines to show at most.
    #[serde(default = "lines")]
    #[schemars(range(min = 1, max = limits::READ_LINES))]
    pub limit: NonZeroU32,
}

/// What of a directory to list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListDirArgs {
    /// The file or directory.
    #[serde(default = "ToolPath::root")]
    pub path: ToolPath,
    /// Also list what is in the directories beneath, 3 levels in all where `depth` is not given.
    #[serde(default)]
    pub recursive: bool,
    /// Levels to list; 1 is the directory itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::LIST_DEPTH))]
    pub depth: Option<NonZeroU32>,
    /// Kinds to list; all where none is given.
    #[serde(default)]
    pub kinds: Vec<EntryKind>,
    /// Globs of which one must match: a name (`*.rs`), or with a slash a path from `path` on (`src/**`).
    #[serde(default)]
    #[schemars(length(max = limits::SEARCH_GLOBS), inner(length(min = 1, max = limits::SEARCH_GLOB_CHARS)))]
    pub include: Vec<String>,
    /// Also list what ignore rules such as `.gitignore` leave out.
    #[serde(default)]
    pub include_ignored: bool,
    /// Entries to list at most.
    #[serde(default = "entries")]
    #[schemars(range(min = 1, max = limits::LIST_ENTRIES))]
    pub limit: NonZeroU32,
}

fn first() -> NonZeroU64 {
    NonZeroU64::MIN
}

fn lines() -> NonZeroU32 {
    NonZeroU32::new(limits::READ_LINES).unwrap_or(NonZeroU32::MIN)
}

fn entries() -> NonZeroU32 {
    NonZeroU32::new(limits::LIST_ENTRIES).unwrap_or(NonZeroU32::MIN)
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ReaderOutput {
    /// Lines of a text file.
    Text(TextOutput),
    /// An image; its bytes are in the content.
    Image(ImageOutput),
    /// Entries of a directory.
    Directory(DirectoryOutput),
}

impl TypedTool for Reader {
    type Args = ReaderArgs;
    type Output = Shown<ReaderOutput>;

    fn facts(&self) -> Result<Facts, DescriptorError> {
        Ok(Facts {
            title: Some("Read files and folders".to_owned()),
            capabilities: Capabilities::read_only(),
            slots: vec![Slot::read("path")],
            ..Facts::new("builtin/reader".parse()?, include_str!("reader.md").trim())
        })
    }

    async fn run(&self, call: Call, args: ReaderArgs) -> Result<Self::Output, Failure> {
        blocking(move || match args {
            ReaderArgs::Read(args) => read(&call, &args),
            ReaderArgs::ListDir(args) => list::list(&call, &args),
        })
        .await
    }
}

/// How many bytes say what a file holds; `haft-text` looks at no more.
const HEAD_BYTES: usize = 64 * 1024;

fn read(call: &Call, args: &ReadArgs) -> Result<Shown<ReaderOutput>, Failure> {
    let place = call.resolved("path")?;
    let path = place.logical().as_str();
    if place.kind() == Some(FileKind::Directory) {
        let text = format!("`{path}` is a directory, not a file");
        return Err(Failure::new(ErrorKind::Unsupported, text).hint(
            match speech::action(call, READER, "list_dir") {
                Some(list) => format!("use {list}, or name a file in it"),
                None => "name a file in it".to_owned(),
            },
        ));
    }
    let mut file = call.view()?.open(&place)?;
    let mut head = Vec::new();
    let failed = |error: io::Error| unreadable(path, &error);
    (&mut file).take(HEAD_BYTES as u64).read_to_end(&mut head).map_err(failed)?;
    match Kind::sniff(&head, head.len() < HEAD_BYTES) {
        Kind::Empty | Kind::Text(_) => text::show(call, &place, args, head, file),
        Kind::Image(_) => image::show(path, head, file),
        Kind::Binary(what) => Err(binary(path, what, &file)),
    }
}

fn binary(path: &str, what: &str, file: &OpenFile) -> Failure {
    let bytes = words::counted(file.metadata().len, "byte", "bytes");
    Failure::new(
        ErrorKind::Unsupported,
        format!("`{path}` cannot be shown as text: {what}, {bytes}"),
    )
    .hint("convert it to text with a program made for it")
}

/// A file that opens and does not read. Only the kind of the fault is for the caller.
fn unreadable(path: &str, error: &io::Error) -> Failure {
    Failure::new(ErrorKind::Upstream, format!("`{path}` cannot be read: {}", error.kind()))
}
