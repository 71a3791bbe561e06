//! What calls changed, for who wants to take it back.

use std::path::Path;

use haft_protocol::{CallId, ChangedCalls, EffectRecord, LogicalPath};
use haft_tool::ports::PortError;

use super::{moved_from, path_here, undo_paths};
use crate::writer::Writer;

impl Writer {
    /// Returns the latest calls that changed something in the workspace, whoever made them.
    ///
    /// # Errors
    ///
    /// Fails when the record cannot be read.
    pub fn changed_calls(&self, most: u32) -> Result<ChangedCalls, PortError> {
        self.account.effects.changed_calls(&self.view.workspace().recorded_roots(), most)
    }

    /// Returns what a call changed, as far as it is on record, and how many changes beside are of paths that this call may
    /// not see.
    ///
    /// # Errors
    ///
    /// Fails when the record cannot be read.
    pub fn changes_of(&self, call: CallId) -> Result<(Vec<EffectRecord>, u64), PortError> {
        let mut effects = self.account.effects.of_call(call)?;
        let all = effects.len();
        effects.retain(|effect| self.is_seen(effect));
        let unseen = (all - effects.len()) as u64;
        Ok((effects, unseen))
    }

    /// Returns the paths that taking changes back touches, each as text for a slot, once.
    pub fn paths_of(&self, effects: &[EffectRecord]) -> Vec<String> {
        undo_paths(effects, self.view.workspace())
    }

    fn is_seen(&self, effect: &EffectRecord) -> bool {
        let workspace = self.view.workspace();
        let mut paths = [Some(&effect.change.path), moved_from(effect)].into_iter().flatten();
        paths.all(|path| {
            // What lies in no root is no part of what can be hidden.
            path_here(effect, path, workspace).is_none_or(|path| {
                workspace.protection().of_path(Path::new(&path)).is_none()
                    && self.view.lets_see(&LogicalPath::new(path))
            })
        })
    }
}
