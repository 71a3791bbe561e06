//! Changes on record: announced before they happen, settled after.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use haft_protocol::{
    CallId, Change, ChangeKind, EffectRecord, EffectState, Evidence, FileState, LogicalPath,
    Notice, NoticeKind, Timestamp,
};
use haft_tool::SystemClock;
use haft_tool::ports::{Clock as _, Effects};

use super::Written;
use super::step::{Step, Watch};
use crate::view::View;
use crate::workspace::Workspace;
use crate::write_error::WriteError;

/// Where the changes of one call go on record.
#[derive(Clone)]
pub(crate) struct Account {
    pub(crate) effects: Arc<dyn Effects>,
    pub(crate) call: CallId,
    /// The number of the call's next change, kept over the attempts of its body.
    pub(crate) next: Arc<AtomicU32>,
    pub(crate) watch: Watch,
}

impl Account {
    /// Makes the record of a change that is about to happen.
    pub(crate) fn record(&self, root: &Path, change: Change) -> EffectRecord {
        EffectRecord {
            call: self.call,
            number: self.next.fetch_add(1, Ordering::Relaxed),
            root: root.to_string_lossy().into_owned(),
            change,
            leftovers: Vec::new(),
            born: None,
            stands_for: None,
            at: SystemClock.now(),
            state: EffectState::Announced,
        }
    }
}

/// Makes a change that a tool records itself.
pub(crate) fn recorded(
    path: LogicalPath,
    kind: ChangeKind,
    before: Option<FileState>,
    after: Option<FileState>,
) -> Change {
    Change { path, kind, evidence: Evidence::Recorded, before, after, not_restorable: None }
}

/// A change that is about to happen.
pub(super) struct Planned {
    pub(super) root: usize,
    pub(super) change: Change,
    pub(super) leftover: Option<String>,
    /// When the directory that goes was made.
    pub(super) born: Option<Timestamp>,
    /// When the directory was made that is made again.
    pub(super) stands_for: Option<Timestamp>,
}

impl Planned {
    pub(super) fn new(root: usize, change: Change) -> Self {
        Self { root, change, leftover: None, born: None, stands_for: None }
    }
}

/// Changes that belong together and are on record. Each is settled in its turn.
pub(super) struct Deed<'a> {
    account: &'a Account,
    effects: Vec<EffectRecord>,
    pub(super) notices: Vec<Notice>,
}

impl<'a> Deed<'a> {
    /// Puts changes on record. Only when this returns may they happen.
    pub(super) fn announce(
        account: &'a Account,
        view: &View,
        planned: Vec<Planned>,
    ) -> Result<Self, WriteError> {
        let mut effects = Vec::with_capacity(planned.len());
        let mut notices = Vec::new();
        for Planned { root, change, leftover, born, stands_for } in planned {
            if let Some(why) = &change.not_restorable {
                let text = format!("`{}` cannot be brought back: {why}", change.path);
                notices.push(Notice::new(NoticeKind::Degraded, text));
            }
            let mut record = account.record(root_path(view.workspace(), root), change);
            record.leftovers.extend(leftover);
            (record.born, record.stands_for) = (born, stands_for);
            effects.push(record);
        }
        if let Err(source) = account.effects.announce(&effects) {
            let path = effects.first().map(|it| it.change.path.to_string()).unwrap_or_default();
            return Err(WriteError::Unrecorded { path, source });
        }
        account.watch.tell(Step::Announced);
        Ok(Self { account, effects, notices })
    }

    /// Says that a change happened, and what stands there now where that is known better by now.
    pub(super) fn done(&mut self, number: usize, after: Option<FileState>) {
        let Some(effect) = self.effects.get_mut(number) else { return };
        if after.is_some() {
            effect.change.after = after;
        }
        effect.state = EffectState::Done;
        if let Err(error) = self.account.effects.settle(effect) {
            tracing::error!(%error, source = ?error.source, "a change was not settled");
            let text = format!(
                "`{}` was changed, and the record does not say so: {error}",
                effect.change.path
            );
            self.notices.push(Notice::new(NoticeKind::Unrecorded, text));
        }
        self.account.watch.tell(Step::Settled);
    }

    /// Takes note of when a directory was made, where it is one that is made again.
    pub(super) fn born(&mut self, number: usize, born: impl FnOnce() -> Option<Timestamp>) {
        if let Some(effect) = self.effects.get_mut(number).filter(|it| it.stands_for.is_some()) {
            effect.born = born();
        }
    }

    /// Says that a change did not happen, or was taken back.
    pub(super) fn not_done(&mut self, number: usize) {
        let Some(effect) = self.effects.get_mut(number) else { return };
        effect.state = EffectState::NotDone;
        if let Err(error) = self.account.effects.settle(effect) {
            // The next start looks at the disk and says so.
            tracing::error!(%error, source = ?error.source, "a change was not settled");
        }
    }

    pub(super) fn len(&self) -> usize {
        self.effects.len()
    }

    pub(super) fn tell(&self, step: Step) {
        self.account.watch.tell(step);
    }

    pub(super) fn written(self) -> Written {
        let is_done = |it: &EffectRecord| it.state == EffectState::Done;
        Written {
            changes: self.effects.into_iter().filter(is_done).map(|it| it.change).collect(),
            notices: self.notices,
        }
    }
}

pub(crate) fn root_path(workspace: &Workspace, root: usize) -> &Path {
    workspace.root(root).map_or_else(|| Path::new(""), |root| root.path.as_path())
}
