//! The tool that takes back what a call changed.

use haft_protocol::{
    CallId, Capabilities, Capability, ChangeKind, ErrorKind, Failure, NoticeKind, limits,
};
use haft_tool::{Call, DescriptorError, Facts, Output, Shown, Slot, ToolPath, TypedTool, blocking};
use haft_workspace::{UndoPlan, UndoStep, Undoing, WorkspaceCall, Writer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words;

/// The tool `builtin/undo`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Undo;

/// Which changes to take back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UndoArgs {
    /// The id of the call whose changes are taken back.
    #[schemars(length(min = 1, max = 64))]
    pub call: String,
    /// Every path that may be changed.
    #[schemars(length(min = 1, max = limits::UNDO_PATHS))]
    pub paths: Vec<ToolPath>,
    /// Only say what would be done.
    #[serde(default)]
    pub dry_run: bool,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UndoOutput {
    /// The call whose changes were taken back.
    pub call: String,
    /// Whether nothing was done, and this says what would be.
    pub dry_run: bool,
    /// The changes, the last one of the call first.
    pub steps: Vec<UndoRow>,
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
            capabilities: Capabilities::builder()
                .effect(Capability::ReadFiles)
                .effect(Capability::WriteFiles)
                .build()?,
            slots: vec![Slot::write("paths").from_argument("/paths/*")],
            ..Facts::new("builtin/undo".parse()?, include_str!("undo.md").trim())
        })
    }

    const NARROWS: bool = true;

    fn effects(&self, args: &UndoArgs) -> Option<Capabilities> {
        args.dry_run.then(Capabilities::read_only)
    }

    async fn run(&self, call: Call, args: UndoArgs) -> Result<Shown<UndoOutput>, Failure> {
        let writer = call.writer()?;
        blocking(move || undo(&writer, &args)).await
    }
}

fn undo(writer: &Writer, args: &UndoArgs) -> Result<Shown<UndoOutput>, Failure> {
    let id: CallId = args.call.parse().map_err(|error| {
        Failure::new(ErrorKind::InvalidArguments, format!("{error}"))
            .hint("a person finds whole ids with `haft changes --json`, and takes back the latest change with `haft undo`")
    })?;
    let effects = writer.changes_of(id)?;
    let plan = writer.plan_undo(&effects, "paths");
    if plan.steps.is_empty() {
        let text = format!("no change of a file is on record for call {id}");
        return Err(Failure::new(ErrorKind::NotFound, text));
    }
    let mut output = Output::default();
    let plan = if args.dry_run {
        plan
    } else {
        let (done, written) = writer.undo(&plan, "paths");
        output.changes = written.changes;
        output.notices = written.notices;
        done
    };
    output.content = Output::text(shown(&plan, args.dry_run)).content;
    let stays = plan.staying().count() as u64;
    if stays > 0 {
        let are = if stays == 1 { "stays" } else { "stay" };
        let text = format!(
            "{} {are} as the call or somebody after it left it",
            words::counted(stays, "change", "changes")
        );
        output.notices.push(haft_protocol::Notice::new(NoticeKind::Skipped, text));
    }
    let steps = plan.steps.iter().map(row).collect();
    let value = UndoOutput { call: id.to_string(), dry_run: args.dry_run, steps };
    Ok(Shown { value, output })
}

fn row(step: &UndoStep) -> UndoRow {
    let (result, to, why) = match &step.undoing {
        Undoing::PutBack => (UndoResult::PutBack, None, None),
        Undoing::Removed => (UndoResult::Removed, None, None),
        Undoing::MovedBack { to } => (UndoResult::MovedBack, Some(to.to_string()), None),
        Undoing::TakenOut => (UndoResult::TakenOut, None, None),
        Undoing::AsBefore => (UndoResult::AsBefore, None, None),
        Undoing::Stays { why } => (UndoResult::Stays, None, Some(why.clone())),
        _ => (UndoResult::Stays, None, None),
    };
    let change = match &step.kind {
        ChangeKind::Created => UndoneChange::Created,
        ChangeKind::Modified => UndoneChange::Modified,
        ChangeKind::Deleted => UndoneChange::Deleted,
        ChangeKind::Moved { .. } => UndoneChange::Moved,
    };
    UndoRow { path: step.path.to_string(), change, result, to, why }
}

fn shown(plan: &UndoPlan, dry_run: bool) -> String {
    let deeds = plan.steps.iter().filter(|step| step.is_deed()).count() as u64;
    let changes = words::counted(deeds, "change", "changes");
    let first = match (deeds, dry_run) {
        (0, true) => "nothing would be taken back".to_owned(),
        (0, false) => "nothing was taken back".to_owned(),
        (_, true) => format!("would take back {changes}"),
        (_, false) => format!("took back {changes}"),
    };
    let mut lines = vec![first];
    lines.extend(plan.steps.iter().map(|step| {
        let path = words::row(step.path.as_str());
        match &step.undoing {
            Undoing::PutBack if matches!(step.kind, ChangeKind::Deleted) => {
                format!("{path}  comes back")
            }
            Undoing::PutBack => format!("{path}  as it was before"),
            Undoing::Removed => format!("{path}  removed, for the call had made it"),
            Undoing::MovedBack { to } => format!("{path}  back to {}", words::row(to.as_str())),
            Undoing::TakenOut => format!("{path}  the call's change taken out, later ones stay"),
            Undoing::AsBefore => format!("{path}  already as before"),
            Undoing::Stays { why } => format!("{path}  stays: {why}"),
            _ => path.into_owned(),
        }
    }));
    lines.join("\n")
}
