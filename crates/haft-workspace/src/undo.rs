//! Taking back what a call changed: first a plan, then the deeds.

mod apply;
pub(crate) mod disk;
mod overlay;
mod recent;

use std::sync::Arc;

use haft_protocol::{
    ChangeKind, Digest, EffectRecord, EffectState, FileState, LogicalPath, Timestamp, limits,
};
use haft_text::{Merge, merge};

use crate::workspace::Workspace;
use overlay::Overlay;

/// What taking back one change comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Undoing {
    /// What stood there before is put back, in place of what the call left there.
    PutBack,
    /// What the call made is removed.
    Removed,
    /// What the call moved goes back to where it came from.
    MovedBack {
        /// Where it came from.
        to: LogicalPath,
    },
    /// The file was changed since as well; what the call changed is taken out of it, and the rest stays.
    TakenOut,
    /// It is already as it was before the call.
    AsBefore,
    /// It stays as it is.
    Stays {
        /// Why.
        why: String,
    },
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoStep {
    /// The path, as it reads in the workspace that the plan was made for.
    pub path: LogicalPath,
    /// What the change was.
    pub kind: ChangeKind,
    /// What comes of it.
    pub undoing: Undoing,
    pub(crate) from: Option<FileState>,
    pub(crate) to: Option<FileState>,
    /// The content that is put there, where `to` is a file.
    pub(crate) content: Option<Arc<[u8]>>,
    /// When the directory was made that the change took away.
    pub(crate) born: Option<Timestamp>,
}

/// What taking a call's changes back comes to, in the order in which it is done: the last change first.
///
/// Made by [`Writer::plan_undo`](crate::Writer::plan_undo) and carried out by [`Writer::undo`](crate::Writer::undo).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UndoPlan {
    /// The steps.
    pub steps: Vec<UndoStep>,
}

impl UndoPlan {
    /// Tells whether the plan changes anything.
    pub fn changes_something(&self) -> bool {
        self.steps.iter().any(UndoStep::is_deed)
    }

    /// Returns the steps that leave something as it is although the call changed it.
    pub fn staying(&self) -> impl Iterator<Item = &UndoStep> {
        self.steps.iter().filter(|step| matches!(step.undoing, Undoing::Stays { .. }))
    }
}

impl UndoStep {
    /// Tells whether the step changes anything.
    pub fn is_deed(&self) -> bool {
        !matches!(self.undoing, Undoing::AsBefore | Undoing::Stays { .. })
    }
}

/// What a plan is made from: how things stand, and what was kept.
pub(crate) trait Disk {
    /// Returns what stands at a path; an error in words where that cannot be told.
    fn state(&self, path: &str) -> Result<Option<FileState>, String>;
    /// Returns the content of a file.
    fn content(&self, path: &str) -> Result<Vec<u8>, String>;
    /// Returns the names in a directory.
    fn names(&self, path: &str) -> Result<Vec<String>, String>;
    /// Returns content that was kept.
    fn kept(&self, digest: Digest) -> Option<Arc<[u8]>>;
    /// Tells whether what stands at a path was made after a time, as far as the system remembers.
    fn is_younger(&self, path: &str, than: Timestamp) -> bool;
    /// Says in words why the path may not be changed, where that is so.
    fn may_change(&self, path: &str) -> Result<(), String>;
}

/// Returns the paths that taking changes back touches, as they read in a workspace: each as text for a slot, once.
///
/// A path that lies in no root of the workspace is left out.
pub fn undo_paths(effects: &[EffectRecord], workspace: &Workspace) -> Vec<String> {
    let mut paths = Vec::new();
    for effect in effects.iter().filter(|it| it.state == EffectState::Done) {
        for path in [Some(&effect.change.path), moved_from(effect)].into_iter().flatten() {
            if let Some(path) = path_here(effect, path, workspace)
                && !paths.contains(&path)
            {
                paths.push(path);
            }
        }
    }
    paths
}

fn moved_from(effect: &EffectRecord) -> Option<&LogicalPath> {
    match &effect.change.kind {
        ChangeKind::Moved { from } => Some(from),
        ChangeKind::Created | ChangeKind::Modified | ChangeKind::Deleted => None,
    }
}

/// Puts a recorded path into the words of a workspace that may have other roots than the one it was recorded in.
pub(crate) fn path_here(
    effect: &EffectRecord,
    path: &LogicalPath,
    workspace: &Workspace,
) -> Option<String> {
    let path = path.as_str();
    let absolute = if path.starts_with('/') {
        path.to_owned()
    } else if path == "." {
        effect.root.clone()
    } else {
        format!("{}/{path}", effect.root.trim_end_matches('/'))
    };
    let mut roots = workspace.real_roots().map(|root| root.to_string_lossy());
    let within = |root: &str| {
        let rest = absolute.strip_prefix(root.trim_end_matches('/'))?;
        rest.is_empty().then_some(".").or_else(|| rest.strip_prefix('/')).map(ToOwned::to_owned)
    };
    let first = roots.next()?;
    let is_within_another = roots.any(|root| within(&root).is_some());
    within(&first).or_else(|| is_within_another.then(|| absolute.clone()))
}

/// Plans how to take changes back.
///
/// The changes are gone through from the last to the first. Each is looked at as if those after it were taken back
/// already, and nothing that somebody else did is overwritten.
pub(crate) fn plan(effects: &[EffectRecord], workspace: &Workspace, disk: &dyn Disk) -> UndoPlan {
    let mut overlay = Overlay::new(disk);
    let mut steps = Vec::new();
    for effect in effects.iter().rev().filter(|it| it.state == EffectState::Done) {
        let Some(path) = path_here(effect, &effect.change.path, workspace) else {
            let why = "it lies in no root of this workspace".to_owned();
            steps.push(step(effect, effect.change.path.clone(), Undoing::Stays { why }));
            continue;
        };
        let from = moved_from(effect).and_then(|from| path_here(effect, from, workspace));
        let shown = LogicalPath::new(path.as_str());
        let mut touched = [Some(&path), from.as_ref()].into_iter().flatten();
        if let Err(why) = touched.try_for_each(|path| disk.may_change(path)) {
            steps.push(step(effect, shown, Undoing::Stays { why }));
            continue;
        }
        let planned = match (&effect.change.kind, &from) {
            (ChangeKind::Moved { .. }, Some(from)) => move_back(effect, &path, from, &mut overlay),
            (ChangeKind::Moved { .. }, None) => {
                Err("it came from outside of this workspace".to_owned())
            }
            _ => put_back(effect, &path, &mut overlay),
        };
        let planned = planned.unwrap_or_else(|why| {
            // What was changed before at the same place cannot be told apart from what stays.
            overlay.stays(&path);
            Planned::bare(Undoing::Stays { why })
        });
        steps.push(UndoStep {
            from: planned.from,
            to: planned.to,
            content: planned.content,
            ..step(effect, shown, planned.undoing)
        });
    }
    UndoPlan { steps }
}

fn step(effect: &EffectRecord, path: LogicalPath, undoing: Undoing) -> UndoStep {
    let kind = effect.change.kind.clone();
    UndoStep { path, kind, undoing, from: None, to: None, content: None, born: effect.born }
}

struct Planned {
    undoing: Undoing,
    from: Option<FileState>,
    to: Option<FileState>,
    content: Option<Arc<[u8]>>,
}

impl Planned {
    fn bare(undoing: Undoing) -> Self {
        Self { undoing, from: None, to: None, content: None }
    }
}

fn move_back(
    effect: &EffectRecord,
    path: &str,
    from: &str,
    overlay: &mut Overlay<'_>,
) -> Result<Planned, String> {
    let here = overlay.state(path)?;
    let there = overlay.state(from)?;
    let to = LogicalPath::new(from);
    match (here, there) {
        // A directory is known by nothing that it holds.
        (Some(FileState::Directory { .. }), None) if overlay.is_younger(path, effect.at) => {
            Err("another directory stands there now".to_owned())
        }
        (Some(here), None) if same_kind(Some(&here), effect.change.after.as_ref()) => {
            overlay.moved(path, from);
            Ok(Planned::bare(Undoing::MovedBack { to }))
        }
        (None, Some(there)) if same_kind(Some(&there), effect.change.after.as_ref()) => {
            Ok(Planned::bare(Undoing::AsBefore))
        }
        (Some(_), Some(_)) => {
            Err(format!("something stands at `{from}` again, where it came from"))
        }
        (None, None) => Err("it is gone".to_owned()),
        _ => Err("something else stands there now".to_owned()),
    }
}

fn put_back(
    effect: &EffectRecord,
    path: &str,
    overlay: &mut Overlay<'_>,
) -> Result<Planned, String> {
    let (before, after) = (effect.change.before.as_ref(), effect.change.after.as_ref());
    let now = overlay.state(path)?;
    if is_same(now.as_ref(), before) && !is_same(before, after) {
        return Ok(Planned::bare(Undoing::AsBefore));
    }
    if let Some(why) = &effect.change.not_restorable {
        return Err(format!("it cannot be brought back: {why}"));
    }
    if matches!((&before, &after), (Some(FileState::Other), _) | (_, Some(FileState::Other))) {
        return Err("it cannot be brought back: it is no file, link or directory".to_owned());
    }
    let (target, content, undoing) = if is_same(now.as_ref(), after) {
        match before {
            None => (None, None, Undoing::Removed),
            Some(before) => (Some(before.clone()), kept_of(before, overlay)?, Undoing::PutBack),
        }
    } else {
        let (target, content) = joined(effect, path, now.as_ref(), overlay)?;
        let undoing = if content.is_some() { Undoing::TakenOut } else { Undoing::PutBack };
        (Some(target), content, undoing)
    };
    if matches!(now, Some(FileState::Directory { .. })) && !is_directory(target.as_ref()) {
        let names = overlay.names(path)?;
        if !names.is_empty() {
            let more = if names.len() > 1 { "s" } else { "" };
            return Err(format!(
                "it is not empty: {} thing{more} in it stay{}",
                names.len(),
                if more.is_empty() { "s" } else { "" }
            ));
        }
    }
    overlay.set(path, target.clone(), content.clone());
    Ok(Planned { undoing, from: now, to: target, content })
}

fn is_directory(state: Option<&FileState>) -> bool {
    matches!(state, Some(FileState::Directory { .. }))
}

/// Content that is put somewhere, where a file is.
type Content = Option<Arc<[u8]>>;

/// Takes the call's change out of a file that was changed since.
///
/// What is put there and, where its content is another than now, that content.
fn joined(
    effect: &EffectRecord,
    path: &str,
    now: Option<&FileState>,
    overlay: &Overlay<'_>,
) -> Result<(FileState, Content), String> {
    let (before, after) = (effect.change.before.as_ref(), effect.change.after.as_ref());
    let changed = || "it was changed since in a way that cannot be told apart".to_owned();
    let (
        Some(FileState::File { content: Some(old), mode: old_mode }),
        Some(FileState::File { content: Some(new), mode: new_mode }),
        Some(FileState::File { content: Some(held), mode }),
    ) = (before, after, now)
    else {
        return Err(match (now, after) {
            (None, Some(_)) => "it is gone".to_owned(),
            (Some(_), None) => "something stands there again".to_owned(),
            (Some(now), Some(after)) if !same_kind(Some(now), Some(after)) => {
                "something else stands there now".to_owned()
            }
            _ => "it was changed since".to_owned(),
        });
    };
    // Of content and mode, each side may have changed only one.
    let mode = if mode == new_mode { *old_mode } else { *mode };
    let state = |content| FileState::File { content: Some(content), mode };
    if held.digest == new.digest || held.digest == old.digest || old.digest == new.digest {
        let content = if held.digest == new.digest { old } else { held };
        let bytes = if content.digest == held.digest {
            overlay.content(path)?
        } else {
            overlay.kept(content.digest).ok_or_else(gone)?
        };
        return Ok((state(*content), Some(bytes)));
    }
    if [old, new, held].iter().any(|content| content.bytes > limits::MERGE_BYTES) {
        return Err("it was changed since, and is too large to take the change out".to_owned());
    }
    let (Some(old), Some(new)) = (overlay.kept(old.digest), overlay.kept(new.digest)) else {
        return Err(gone());
    };
    let held = overlay.content(path)?;
    // Lines of what is no text mean nothing.
    if [&old, &new, &held].iter().any(|bytes| bytes.contains(&0)) {
        return Err(changed());
    }
    match merge(&new, &held, &old) {
        Merge::Clean(bytes) => {
            let bytes: Arc<[u8]> = bytes.into();
            let content = haft_protocol::ContentRef {
                digest: Digest::of_bytes(&bytes),
                bytes: bytes.len() as u64,
                stored: false,
            };
            Ok((state(content), Some(bytes)))
        }
        Merge::Conflict(conflicts) => {
            let lines = conflicts.first().map_or(0, |it| it.ours.start + 1);
            Err(format!("it was changed since in the same lines, the first of them line {lines}"))
        }
    }
}

fn gone() -> String {
    "it cannot be brought back: what it held is no longer kept".to_owned()
}

fn kept_of(state: &FileState, overlay: &Overlay<'_>) -> Result<Option<Arc<[u8]>>, String> {
    match state {
        FileState::File { content: Some(content), .. } => {
            overlay.kept(content.digest).map(Some).ok_or_else(gone)
        }
        FileState::File { content: None, .. } => {
            Err("it cannot be brought back: nobody looked at what it held".to_owned())
        }
        FileState::Directory { .. } | FileState::Link { .. } | FileState::Other => Ok(None),
    }
}

/// Tells whether two states are the same, as far as both are known. The mode of a directory does not count.
pub(crate) fn is_same(one: Option<&FileState>, other: Option<&FileState>) -> bool {
    match (one, other) {
        (
            Some(FileState::File { content, mode }),
            Some(FileState::File { content: other, mode: other_mode }),
        ) => {
            mode == other_mode
                && match (content, other) {
                    (Some(one), Some(other)) => one.digest == other.digest,
                    _ => false,
                }
        }
        (Some(FileState::Directory { .. }), Some(FileState::Directory { .. })) | (None, None) => {
            true
        }
        (Some(FileState::Link { target }), Some(FileState::Link { target: other })) => {
            target == other
        }
        _ => false,
    }
}

pub(crate) fn same_kind(one: Option<&FileState>, other: Option<&FileState>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => std::mem::discriminant(one) == std::mem::discriminant(other),
        _ => false,
    }
}
