//! Putting in order what a process left that was ended in the middle of a change.

use std::ffi::OsStr;

use haft_protocol::{
    CallId, ChangeKind, EffectRecord, EffectState, FileState, LogicalPath, Notice, NoticeKind,
};
use haft_tool::ports::{Effects, PortError};

use crate::file::FileKind;
use crate::protection::lines::is_unfinished;
use crate::resolved::Resolved;
use crate::undo::disk::state_of;
use crate::undo::{is_same, path_here, same_kind};
use crate::workspace::{Want, Workspace};

/// A change that was cut short, and what was made of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repaired {
    /// The call that was to make it.
    pub call: CallId,
    /// Where.
    pub path: LogicalPath,
    /// Whether it had happened.
    pub happened: bool,
    /// How many unfinished files were removed beside it.
    pub removed: usize,
}

impl Repaired {
    /// Says so to a reader.
    pub fn notice(&self) -> Notice {
        let happened = if self.happened {
            "it had happened, whole"
        } else {
            "it had not happened, and what stood there before stands there"
        };
        let removed = match self.removed {
            0 => String::new(),
            1 => "; an unfinished file was removed".to_owned(),
            more => format!("; {more} unfinished files were removed"),
        };
        let text = format!(
            "a change of `{}` by call {} was cut short: {happened}{removed}",
            self.path, self.call
        );
        Notice::new(NoticeKind::Remark, text)
    }
}

/// Looks after changes that were announced by a process that is gone and never settled: finds out from the disk whether
/// each happened, puts that on record, and removes unfinished files that were left beside it.
///
/// Changes in other workspaces are left for whoever opens those.
///
/// # Errors
///
/// Fails when the record cannot be read or written.
pub fn repair(workspace: &Workspace, effects: &dyn Effects) -> Result<Vec<Repaired>, PortError> {
    let mut repaired = Vec::new();
    for effect in effects.cut_short()? {
        if let Some(done) = repair_one(workspace, effect, effects)? {
            repaired.push(done);
        }
    }
    Ok(repaired)
}

fn repair_one(
    workspace: &Workspace,
    effect: EffectRecord,
    effects: &dyn Effects,
) -> Result<Option<Repaired>, PortError> {
    let place = |path: &LogicalPath| {
        let here = path_here(&effect, path, workspace)?;
        let place = workspace.resolve(&here, Want::Any).ok()?;
        Some(place.link().cloned().unwrap_or(place))
    };
    let Some(here) = place(&effect.change.path) else { return Ok(None) };
    let Ok(now) = state_of(&here) else { return Ok(None) };
    let (before, after) = (effect.change.before.as_ref(), effect.change.after.as_ref());
    let happened = match &effect.change.kind {
        ChangeKind::Moved { from } => {
            let is_gone = place(from).is_some_and(|from| matches!(state_of(&from), Ok(None)));
            is_gone && same_kind(now.as_ref(), after)
        }
        // What is neither may have been changed since; then whoever takes it back looks closer.
        _ => !is_same(now.as_ref(), before),
    };
    let removed = effect.leftovers.iter().filter(|name| removed(&here, name.as_ref())).count();
    let state = if happened { EffectState::Done } else { EffectState::NotDone };
    let mut settled = EffectRecord { state, ..effect };
    // The mask of the process that is gone decided about the mode; nobody else knows it.
    if let (
        Some(FileState::File { content: Some(content), mode }),
        Some(FileState::File { content: Some(held), mode: is }),
    ) = (&mut settled.change.after, &now)
        && content.digest == held.digest
    {
        *mode = *is;
    }
    effects.settle(&settled)?;
    let EffectRecord { call, change, .. } = settled;
    Ok(Some(Repaired { call, path: change.path, happened, removed }))
}

/// Removes an unfinished file beside a place, if it is one.
fn removed(place: &Resolved, name: &OsStr) -> bool {
    let dir = &place.directory;
    is_unfinished(name.as_encoded_bytes())
        && place.missing().is_empty()
        && dir.look(name).is_ok_and(|it| it.kind == FileKind::File)
        && dir.unlink(name).is_ok()
}
