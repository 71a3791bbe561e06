//! The tool that takes back what a call changed.

mod answer;

use std::num::NonZeroU32;
use std::sync::Arc;

use haft_protocol::{CallId, Capabilities, Capability, ErrorKind, Failure, RunId, limits};
use haft_tool::{Call, DescriptorError, Facts, Output, Shown, Slot, ToolPath, TypedTool, blocking};
use haft_workspace::{Resolved, WorkspaceCall, Writer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The tool `builtin/undo`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Undo;

/// Which changes to take back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UndoArgs {
    /// The id of the call whose changes are taken back; left out, the latest calls that changed files are listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub call: Option<String>,
    /// Every path that may be changed; left out, only what would be done is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::UNDO_PATHS))]
    pub paths: Vec<ToolPath>,
    /// Only say what would be done.
    #[serde(default)]
    pub dry_run: bool,
    /// Calls to list at most.
    #[serde(default = "calls")]
    #[schemars(range(min = 1, max = limits::UNDO_CALLS_MAX))]
    pub limit: NonZeroU32,
}

fn calls() -> NonZeroU32 {
    NonZeroU32::new(limits::UNDO_CALLS).unwrap_or(NonZeroU32::MIN)
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UndoOutput {
    /// The call whose changes were taken back; nothing, where calls are listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// Whether nothing was done, and this says what would be.
    pub dry_run: bool,
    /// The changes, the last one of the call first.
    pub steps: Vec<UndoRow>,
    /// The calls that changed files, where these are listed, the latest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ChangedRow>,
}

/// A call that changed files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedRow {
    /// The id.
    pub call: String,
    /// The tool; nothing where the call is no longer on record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Whether it belongs to the run that asks.
    pub is_own: bool,
    /// Whether a later call took its changes back.
    pub undone: bool,
    /// The call whose changes this one took back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<String>,
    /// The first paths that it changed.
    pub paths: Vec<String>,
    /// How many more paths it changed.
    pub left_out: u64,
}

/// What came of one change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UndoRow {
    /// The path.
    pub path: String,
    /// What the call had done there.
    pub change: UndoneChange,
    /// What came of it.
    pub result: UndoResult,
    /// Where something went back to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Why it stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// What a call had done to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UndoneChange {
    /// Made it.
    Created,
    /// Changed it.
    Modified,
    /// Removed it.
    Deleted,
    /// Moved it there.
    Moved,
}

/// What came of taking one change back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UndoResult {
    /// It is what it was before.
    PutBack,
    /// It is gone again.
    Removed,
    /// It is where it was before.
    MovedBack,
    /// The call's change was taken out, and what was changed since stays.
    TakenOut,
    /// It was as before already.
    AsBefore,
    /// It stays as it is.
    Stays,
}

impl TypedTool for Undo {
    type Args = UndoArgs;
    type Output = Shown<UndoOutput>;

    fn facts(&self) -> Result<Facts, DescriptorError> {
        Ok(Facts {
            title: Some("Take back changes".to_owned()),
            capabilities: Capabilities::builder()
                .effect(Capability::ReadFiles)
                .effect(Capability::WriteFiles)
                .build()?,
            slots: vec![Slot::write("paths").from_argument("/paths/*").keeping_links()],
            ..Facts::new("builtin/undo".parse()?, include_str!("undo.md").trim())
        })
    }

    const NARROWS: bool = true;

    fn effects(&self, args: &UndoArgs) -> Result<Option<Capabilities>, Failure> {
        Ok((!args.acts()).then(Capabilities::read_only))
    }

    async fn run(&self, call: Call, args: UndoArgs) -> Result<Shown<UndoOutput>, Failure> {
        let (writer, places, run) = (call.writer()?, call.places("paths")?, call.caller().run);
        blocking(move || match &args.call {
            None if !args.paths.is_empty() => {
                let text = "which call's changes are to be taken back is not said";
                Err(Failure::new(ErrorKind::InvalidArguments, text).hint(
                    "give its id as \"call\"; without arguments, the latest calls are listed",
                ))
            }
            None => list(&writer, run, args.limit.get()),
            Some(text) => undo(&writer, &places, text, args.acts()),
        })
        .await
    }
}

impl UndoArgs {
    /// Tells whether something is changed.
    fn acts(&self) -> bool {
        self.call.is_some() && !self.paths.is_empty() && !self.dry_run
    }
}

fn list(writer: &Writer, run: RunId, limit: u32) -> Result<Shown<UndoOutput>, Failure> {
    let changed = writer.changed_calls(limit.min(limits::UNDO_CALLS_MAX))?;
    let rows: Result<Vec<_>, _> = changed
        .calls
        .iter()
        .map(|call| answer::changed(writer, call, call.run.is_none_or(|it| it == run)))
        .collect();
    let rows = rows?;
    let more = (rows.len() as u64 + changed.earlier).min(limits::UNDO_CALLS_MAX.into());
    let more = (more > rows.len() as u64).then_some(more);
    Ok(answer::listed(rows, changed.earlier, more))
}

fn undo(
    writer: &Writer,
    places: &[Arc<Resolved>],
    call: &str,
    acts: bool,
) -> Result<Shown<UndoOutput>, Failure> {
    let call: CallId = call.parse().map_err(|error| {
        Failure::new(ErrorKind::InvalidArguments, format!("{error}")).hint(
            "without arguments, the latest calls that changed files are listed with their ids",
        )
    })?;
    let (effects, unseen) = writer.changes_of(call)?;
    let plan = if places.is_empty() {
        writer.plan_undo_of_all(&effects)
    } else {
        writer.plan_undo(&effects, places)
    };
    if plan.steps.is_empty() && unseen == 0 {
        let text = format!("no change of a file is on record for call {call}");
        return Err(Failure::new(ErrorKind::NotFound, text));
    }
    let mut output = Output::default();
    let plan = if acts {
        let (done, written) = writer.undo(&plan, "paths");
        output.changes = written.changes;
        output.notices = written.notices;
        done
    } else {
        plan
    };
    let mut shown = answer::taken_back(call, &plan, unseen, !acts, output);
    if places.is_empty() && plan.changes_something() {
        let paths = writer.paths_of(&effects);
        shown.output.content.extend(Output::text(answer::call_to_send(call, &paths)).content);
    }
    Ok(shown)
}
