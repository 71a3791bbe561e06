//! What the tool answers, for a model and for programs.

use haft_protocol::{Bound, CallId, ChangeKind, ChangedCall, Count, NoticeKind, limits};
use haft_tool::{Output, Shown};
use haft_workspace::{UndoPlan, UndoStep, Undoing, Writer};
use serde_json::json;

use super::{ChangedRow, UndoOutput, UndoResult, UndoRow, UndoneChange};
use crate::words;

/// Says what came of taking a call's changes back, or would.
pub(super) fn taken_back(
    call: CallId,
    plan: &UndoPlan,
    unseen: u64,
    dry_run: bool,
    mut output: Output,
) -> Shown<UndoOutput> {
    output.content = Output::text(shown(plan, dry_run)).content;
    let stays = plan.staying().count() as u64;
    if stays > 0 {
        let are = if stays == 1 { "stays" } else { "stay" };
        let text = format!(
            "{} {are} as the call or somebody after it left it",
            words::counted(stays, "change", "changes")
        );
        output = output.with_notice(NoticeKind::Skipped, text);
    }
    if unseen > 0 {
        let are = if unseen == 1 { "stays" } else { "stay" };
        let text = format!(
            "{} {are}, of what cannot be seen here",
            words::counted(unseen, "change", "changes")
        );
        output = output.with_notice(NoticeKind::Skipped, text);
    }
    let steps = plan.steps.iter().map(row).collect();
    let value = UndoOutput { call: Some(call.to_string()), dry_run, steps, calls: Vec::new() };
    Shown { value, output }
}

/// Writes the call that takes changes back, where it is short enough to be of use.
pub(super) fn call_to_send(call: CallId, paths: &[String]) -> String {
    if paths.len() > limits::UNDO_SENT_PATHS {
        return "to take them back, name all these paths in \"paths\"".to_owned();
    }
    format!("to take them back, send: {}", json!({ "call": call, "paths": paths }))
}

/// Lists calls that changed files.
pub(super) fn listed(rows: Vec<ChangedRow>, earlier: u64, more: Option<u64>) -> Shown<UndoOutput> {
    let mut lines = vec![if rows.is_empty() {
        "no change of a file in this workspace is on record".to_owned()
    } else {
        "calls that changed files here, the latest first:".to_owned()
    }];
    lines.extend(rows.iter().map(line));
    if !rows.is_empty() {
        lines
            .push("to see what taking one back would do, give its id alone as \"call\"".to_owned());
    }
    let mut output = Output::text(lines.join("\n"));
    if earlier > 0 {
        let way_on = more.map_or_else(
            || "a person can see them with `haft changes`".to_owned(),
            |more| format!("set \"limit\" to {more}"),
        );
        let left_out = Count::Exact(earlier);
        let unit = "calls".to_owned();
        output.bounds.push(Bound { unit, kept: rows.len() as u64, left_out, way_on });
    }
    Shown {
        value: UndoOutput { call: None, dry_run: false, steps: Vec::new(), calls: rows },
        output,
    }
}

/// Describes a call that changed files, by what of it can be seen.
pub(super) fn changed(
    writer: &Writer,
    call: &ChangedCall,
    is_own: bool,
) -> Result<ChangedRow, haft_tool::ports::PortError> {
    let (effects, unseen) = writer.changes_of(call.call)?;
    let paths = writer.paths_of(&effects);
    let tool = call.tool.as_deref();
    Ok(ChangedRow {
        call: call.call.to_string(),
        tool: tool.map(|tool| tool.rsplit('/').next().unwrap_or(tool).to_owned()),
        is_own,
        undone: call.undone,
        undoes: call.undoes.map(|it| it.to_string()),
        left_out: paths.len().saturating_sub(limits::UNDO_SHOWN_PATHS) as u64 + unseen,
        paths: paths.into_iter().take(limits::UNDO_SHOWN_PATHS).collect(),
    })
}

fn line(row: &ChangedRow) -> String {
    let tool = row.tool.as_deref().unwrap_or("a call that is no longer on record");
    let mut line = format!("{}  {tool}  {}", row.call, row.paths.join(", "));
    if row.left_out > 0 {
        let and = if row.paths.is_empty() { "" } else { " and " };
        line.push_str(&format!("{and}{}", words::counted(row.left_out, "more path", "more paths")));
    }
    let mut remarks = Vec::new();
    if !row.is_own {
        remarks.push("made by another run".to_owned());
    }
    remarks.extend(row.undoes.as_ref().map(|call| format!("took back {call}")));
    if row.undone {
        remarks.push("taken back".to_owned());
    }
    if !remarks.is_empty() {
        line.push_str(&format!("  ({})", remarks.join("; ")));
    }
    line
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
